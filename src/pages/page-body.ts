import type { IncomingMessage } from 'node:http';
import { DomainError } from '../entities/ground/errors.ts';
import { readJsonBody } from '../http/body/json.ts';
import { isObject } from '../lib/json/json.ts';

const bodyBytesMax = 4_096;
const bodyIdleMs = 10_000;

/** The JSON object that a page of the console sends. @throws DomainError for the visitor */
export async function readPageBody(req: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  // A form of another site may send a body without a type.
  if (req.headers['content-type'] === undefined) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json');
  }
  const { value } = await readJsonBody(req, bodyBytesMax, bodyIdleMs);
  if (!isObject(value)) throw new DomainError('INVALID_TYPE', 'The body must be a JSON object');
  return value;
}

export function readText(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name];
  if (typeof value === 'string') return value;
  throw new DomainError('MISSING_REQUIRED_PARAMETER', `${name} must be a text`, { param: name });
}
