import type { Readable } from 'node:stream';
import { DomainError } from '../../entities/ground/errors.ts';

const keyPattern = /^[a-zA-Z0-9_-]+(\/[a-zA-Z0-9_.-]+)*$/;

/** Whether a text is a key: it names the same thing in a folder and in a bucket, and leaves neither. */
export function isKey(text: string): boolean {
  return keyPattern.test(text) && !text.split('/').some((part) => part === '.' || part === '..');
}

/** @throws Error for a text that is no key: keys are made by Parley, so it is a bug. */
export function checkKey(key: string): string {
  if (!isKey(key)) throw new Error(`not a blob key: ${key}`);
  return key;
}

/** @throws DomainError REQUEST_TOO_LARGE */
export function checkSize(sizeBytes: number, sizeBytesMax: number): void {
  if (sizeBytes > sizeBytesMax) {
    throw new DomainError('REQUEST_TOO_LARGE', `The content is larger than the ${sizeBytesMax} bytes allowed`);
  }
}

/** Content as pieces of bytes, whatever it came as. */
export async function* toChunks(content: Readable | Uint8Array): AsyncIterable<Uint8Array> {
  if (content instanceof Uint8Array) {
    yield content;
    return;
  }
  for await (const chunk of content) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}
