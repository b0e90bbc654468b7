import { MaskedDeltas } from '../../../src/engine/runs/output/masked-deltas.ts';
import type { RunMask } from '../../../src/engine/tools/secrets/masking.ts';

/** What becomes of a text that passes through a stream in pieces of these sizes. */
export function passed(stream: { feed(piece: string): string; flush(): string }, text: string, sizes: readonly number[]): string {
  const written = piecesOf(text, sizes).map((piece) => stream.feed(piece));
  return written.join('') + stream.flush();
}

/** The same of what a model says: the pieces are JSON string literals. */
export function passedAsSaid(mask: RunMask, text: string, sizes: readonly number[]): string {
  const deltas = new MaskedDeltas(mask);
  const written = piecesOf(text, sizes).map((piece) => deltas.feed('text', JSON.stringify(piece)));
  return [...written, deltas.end()].map((literal) => JSON.parse(literal) as string).join('');
}

function piecesOf(text: string, sizes: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0, index = 0; at < text.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}
