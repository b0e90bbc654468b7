import { DomainError } from '../../../entities/errors.ts';
import { memoryKeyMaxChars } from '../../../entities/memories/memory.ts';
import { isObject } from '../../../lib/json.ts';
import { oneLine, storableText } from '../../../lib/text.ts';

const questionMaxChars = 1_000;

/** @throws DomainError that tells the model what is wrong. */
export function readRemember(args: string, textMaxChars: number): { readonly text: string; readonly key: string | null } {
  const given = parse(args);
  const text = textOf(given.text, 'text', textMaxChars).trim();
  if (text === '') throw wrong('text must be a string that is not blank');
  const key = given.key === undefined || given.key === null ? '' : oneLine(textOf(given.key, 'key', memoryKeyMaxChars));
  return { text, key: key === '' ? null : key };
}

/** @throws DomainError that tells the model what is wrong. */
export function readRecall(args: string): string {
  const { query } = parse(args);
  return query === undefined || query === null ? '' : textOf(query, 'query', questionMaxChars).trim();
}

/** @throws DomainError that tells the model what is wrong. */
export function readForget(args: string): string {
  const id = textOf(parse(args).id, 'id', 100).trim();
  if (id === '') throw wrong('id must be the id of a memory, as recall answers it');
  return id;
}

function parse(args: string): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(args);
  } catch {
    throw new DomainError('INVALID_JSON', 'The arguments are no JSON');
  }
  if (!isObject(parsed)) throw wrong('The arguments must be an object');
  return parsed;
}

function textOf(value: unknown, name: string, lengthMax: number): string {
  if (typeof value !== 'string') throw wrong(`${name} must be a string`);
  if (value.length > lengthMax) throw wrong(`${name} must have at most ${lengthMax} characters`);
  return storableText(value);
}

function wrong(message: string): DomainError {
  return new DomainError('INVALID_VALUE', message);
}
