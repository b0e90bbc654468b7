import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../entities/ground/errors.ts';
import { jsonErrorPosition } from '../../lib/json/json-position.ts';
import { watchBody } from './watch.ts';

/**
 * Reads a JSON body.
 *
 * @returns the bytes as text and as a value; an absent or empty body is `{}`.
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE, REQUEST_TOO_LARGE (also when the length was not declared), INVALID_JSON with the position,
 * CLIENT_CLOSED_REQUEST.
 */
export function readJsonBody(req: IncomingMessage, maxBytes: number, idleMs: number): Promise<{ text: string; value: unknown }> {
  requireJsonType(req);
  return readBytes(req, maxBytes, idleMs).then(parseJsonBody);
}

/** @throws DomainError INVALID_JSON; `param` is null, the position stands in the message. */
export function parseJsonBody(bytes: Buffer): { text: string; value: unknown } {
  if (bytes.length === 0) return { text: '', value: {} };
  if (!isUtf8(bytes)) throw new DomainError('INVALID_JSON', 'The body is not valid UTF-8');
  const decodedText = bytes.toString();
  const text = decodedText.charCodeAt(0) === 0xfeff ? decodedText.slice(1) : decodedText;
  try {
    const value: unknown = JSON.parse(text);
    // `__proto__` as a member is legal JSON, but a copy of it would change what the copy inherits. `\u005f` spells the same.
    if (text.includes('__proto__') || text.includes('\\u005')) dropPrototypeMembers(value);
    return { text, value };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new DomainError('INVALID_JSON', invalidJsonMessage(text));
  }
}

/** @throws DomainError UNSUPPORTED_MEDIA_TYPE unless the body is declared as uncompressed JSON in UTF-8, or not declared at all. */
export function requireJsonType(req: IncomingMessage): void {
  const type = req.headers['content-type'];
  requireUncompressed(req);
  if (type === undefined || type === 'application/json') return;
  if (/^application\/(?:json|[\w.-]+\+json)\s*(?:;\s*charset="?utf-8"?\s*)?(?:;(?!\s*charset).*)?$/i.test(type)) return;
  throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `The body must be application/json in UTF-8, not ${type.slice(0, 100)}`);
}

/** @throws DomainError UNSUPPORTED_MEDIA_TYPE for a body that is compressed. */
export function requireUncompressed(req: IncomingMessage): void {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new DomainError(
      'UNSUPPORTED_MEDIA_TYPE',
      `The body must not be compressed, but content-encoding is ${encoding.slice(0, 50)}`,
    );
  }
}

/**
 * The bytes of a body for another reader, within its limits. JSON is text in UTF-8 without members `__proto__` then, as from `parseJsonBody`.
 *
 * @throws DomainError as `readJsonBody`; JSON that is broken otherwise is left to the reader.
 */
export async function readSafeBytes(req: IncomingMessage, maxBytes: number, idleMs: number): Promise<Buffer> {
  const isJson = /json\b/i.test(req.headers['content-type'] ?? '');
  if (isJson) requireJsonType(req);
  const bytes = await readBytes(req, maxBytes, idleMs);
  if (!isJson || (isUtf8(bytes) && !/^\ufeff|__proto__|\\u005/.test(bytes.toString()))) return bytes;
  return Buffer.from(JSON.stringify(parseJsonBody(bytes).value));
}

/** All bytes of a body, at most `maxBytes`. @throws DomainError REQUEST_TOO_LARGE, REQUEST_TIMEOUT, CLIENT_CLOSED_REQUEST. */
export function readBytes(req: IncomingMessage, maxBytes: number, idleMs: number): Promise<Buffer> {
  const declaredLength = Number(req.headers['content-length'] ?? 0);
  if (declaredLength > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let others: Buffer[] | undefined;
    let sizeBytes = 0;
    const stopWatching = watchBody(req, idleMs, reject);
    let isWhole = false;
    const finish = () => {
      if (isWhole) return;
      isWhole = true;
      stopWatching();
      resolve(others === undefined ? (first ?? emptyBytes) : Buffer.concat(others, sizeBytes));
    };
    req.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) {
        req.removeAllListeners('data');
        req.pause();
        stopWatching();
        reject(tooLarge(maxBytes));
        return;
      }
      if (first === undefined) first = chunk;
      else if (others === undefined) others = [first, chunk];
      else others.push(chunk);
      // The body is complete, and 'end' is emitted some turns of the loop later.
      if (sizeBytes === declaredLength) finish();
    });
    req.on('end', finish);
  });
}

const emptyBytes = Buffer.alloc(0);

function tooLarge(maxBytes: number): DomainError {
  return new DomainError('REQUEST_TOO_LARGE', `The body must be at most ${maxBytes} bytes`);
}

function invalidJsonMessage(text: string): string {
  const position = jsonErrorPosition(text);
  if (position === undefined) return 'The body is not valid JSON';
  if (position >= text.length) return `The body is not valid JSON: it ends too early, at position ${text.length}`;
  const line = text.slice(0, position).split('\n');
  return `The body is not valid JSON: unexpected character at position ${position} (line ${line.length}, column ${(line.at(-1) ?? '').length + 1})`;
}

function dropPrototypeMembers(root: unknown): void {
  const rest: unknown[] = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__');
    for (const member of Object.values(value)) rest.push(member);
  }
}
