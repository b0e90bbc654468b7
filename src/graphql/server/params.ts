import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../entities/errors.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';

/** A GraphQL request, however it came. */
export interface Params {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** @throws DomainError INVALID_TYPE or MISSING_REQUIRED_PARAMETER naming the member. */
export function paramsOf(body: unknown): Params {
  if (!isObject(body)) throw new DomainError('INVALID_TYPE', 'The request must be one JSON object; batches are not taken');
  const query = member(body, 'query', 'a string', isString);
  if (query === undefined) throw new DomainError('MISSING_REQUIRED_PARAMETER', 'query is missing', { param: 'query' });
  return {
    query,
    operationName: member(body, 'operationName', 'a string', isString),
    variables: member(body, 'variables', 'an object', isObject) ?? {},
    extensions: member(body, 'extensions', 'an object', isObject) ?? {},
  };
}

/** Reads the parameters of a GET. @throws DomainError as `paramsOf`, and INVALID_JSON. */
export function paramsOfUrl(search: URLSearchParams): Params {
  return paramsOf({
    query: search.get('query'),
    operationName: search.get('operationName'),
    variables: jsonParameter(search, 'variables'),
    extensions: jsonParameter(search, 'extensions'),
  });
}

/** The query of a request's address. */
export function searchOf(req: IncomingMessage): URLSearchParams {
  const target = req.url ?? '';
  const start = target.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : target.slice(start + 1));
}

function jsonParameter(search: URLSearchParams, name: string): unknown {
  const text = search.get(name);
  if (text === null || text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new DomainError('INVALID_JSON', `${name} must be JSON`, { param: name });
  }
}

/** A member of a request; null counts as absent. */
function member<T>(body: JsonObject, param: string, expected: string, is: (value: unknown) => value is T): T | undefined {
  const value = body[param] ?? undefined;
  if (value === undefined || is(value)) return value;
  throw new DomainError('INVALID_TYPE', `${param} must be ${expected}`, { param });
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}
