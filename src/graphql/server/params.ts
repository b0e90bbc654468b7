import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../entities/errors.ts';

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
  const { query, operationName, variables, extensions } = body;
  if (query === undefined || query === null) {
    throw new DomainError('MISSING_REQUIRED_PARAMETER', 'query is missing', { param: 'query' });
  }
  if (typeof query !== 'string') throw wrongType('query', 'a string');
  if (!isAbsent(operationName) && typeof operationName !== 'string') throw wrongType('operationName', 'a string');
  if (!isAbsent(variables) && !isObject(variables)) throw wrongType('variables', 'an object');
  if (!isAbsent(extensions) && !isObject(extensions)) throw wrongType('extensions', 'an object');
  return { query, operationName: operationName ?? undefined, variables: variables ?? {}, extensions: extensions ?? {} };
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

function wrongType(param: string, expected: string): DomainError {
  return new DomainError('INVALID_TYPE', `${param} must be ${expected}`, { param });
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
