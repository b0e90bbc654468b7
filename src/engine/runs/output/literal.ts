import { storableText } from '../../../lib/text/text.ts';

/** Decodes the inside of a JSON string literal to text that PostgreSQL takes. */
export function decodeLiteral(inside: string): string {
  return storableText(JSON.parse(`"${inside}"`) as string);
}

/** Pieces until they are copied into one. Small: what is not copied yet costs several times its length. */
const piecesMax = 256;

/**
 * A growing text. Its pieces are copied together again and again: added to a string one by one, each piece of a few characters would cost a
 * node of 64 bytes, and each longer one would hold the whole read of the upstream that it is a part of.
 */
export class SaidText {
  #copied: string[] = [];
  #pieces: string[] = [];

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length >= piecesMax) this.#copy();
  }

  toString(): string {
    this.#copy();
    if (this.#copied.length > 1) this.#copied = [this.#copied.join('')];
    return this.#copied[0] ?? '';
  }

  #copy(): void {
    if (this.#pieces.length === 0) return;
    this.#copied.push(this.#pieces.join(''));
    this.#pieces = [];
  }
}
