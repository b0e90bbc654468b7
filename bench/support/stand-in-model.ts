import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { normalised } from '../../src/engine/knowledge/embeddings/embeddings.ts';

/**
 * A stand-in for an embedding model, because none is shipped: words and their beginnings, hashed into a vector with signs, rare ones no heavier than
 * frequent ones. It knows no meaning. Figures with it show what vectors cost, not what a model gains.
 */
export const standIn = { name: 'a hashing stand-in, not a model', dimensions: 256 } as const;

const beginningLength = 5;
const frequent = new Set(
  'a an and are as at be by for from has in is it its of on or that the this to was were what which with'.split(' '),
);

export function standInVector(text: string): readonly number[] {
  const vector = new Float64Array(standIn.dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (frequent.has(word)) continue;
    for (const feature of [word, `${word.slice(0, beginningLength)}*`]) {
      const hash = hashOf(feature);
      vector[hash % standIn.dimensions] = (vector[hash % standIn.dimensions] ?? 0) + (hash & 0x10000 ? 1 : -1);
    }
  }
  return normalised([...vector]) ?? [1, ...Array.from({ length: standIn.dimensions - 1 }, () => 0)];
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash;
}

/** Serves the stand-in as `/embeddings`. @returns the base address of the provider. */
export async function serveStandIn(): Promise<StandInServer> {
  const counts = { requests: 0, texts: 0 };
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const { input = [] } = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as { input?: readonly string[] };
    counts.requests += 1;
    counts.texts += input.length;
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ data: input.map((text, index) => ({ index, embedding: standInVector(text) })) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export interface StandInServer {
  readonly url: string;
  /** What it was asked so far. */
  readonly counts: { readonly requests: number; readonly texts: number };
  close(): void;
}
