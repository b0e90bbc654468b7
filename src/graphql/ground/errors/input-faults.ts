import {
  type GraphQLError,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isSpecifiedScalarType,
} from 'graphql';
import { type Allowed, DomainError } from '../../../entities/ground/errors.ts';
import { nounOfInput, nounOfValue } from '../../../lib/input-values.ts';
import type { GraphErrorCode } from './codes.ts';

/** What is wrong with one value of a request, as `extensions.faults` shows it. */
export interface GraphFault {
  /** Where the value stands: an argument's name, then members and list places: `input.tools.0.url`. Null when no argument holds it. */
  readonly path: string | null;
  readonly code: GraphErrorCode;
  readonly message: string;
  readonly allowed: Allowed | null;
}

/** A value that graphql-js refuses for its type: of a variable, or written in the document. */
export interface RefusedValue {
  readonly path: string;
  /** The type at the path; undefined where the schema has no such member. */
  readonly type: GraphQLInputType | undefined;
  readonly value: unknown;
  readonly error: GraphQLError;
}

/** Says in the words of the service's own checks what graphql-js found. The message shows no value of the caller. */
export function inputFault({ path, type, value, error }: RefusedValue): GraphFault {
  const missing = /^Field "(?:\w+\.)?(\w+)" of required type/.exec(error.message)?.[1];
  if (missing !== undefined) return missingFault(joined(path, missing));
  const unknown = /^Field "(\w{1,100})\w*" is not defined by type "(\w+)"\.(.*)$/s.exec(error.message);
  if (unknown !== null) {
    const [, name = '', owner = '', hint = ''] = unknown;
    return makeFault(joined(path, name), 'UNSUPPORTED_VALUE', `is no member of ${owner}.${hint}`);
  }
  if (type === undefined) return { path, code: 'INVALID_VALUE', message: error.message, allowed: null };
  const nullable = getNullableType(type);
  if (isInputObjectType(nullable)) {
    if (!nullable.isOneOf || !isRecord(value))
      return makeFault(path, 'INVALID_TYPE', `must be an object, not ${nounOfValue(value)}`);
    const names = Object.keys(nullable.getFields());
    return oneOfFault(
      path,
      names,
      names.filter((name) => Object.hasOwn(value, name)),
    );
  }
  if (value === null) return makeFault(path, 'INVALID_TYPE', `must be ${nounOfInput(type)}, not null`, allowedBy(nullable));
  if (!isLeafType(nullable)) return makeFault(path, 'INVALID_TYPE', `must be ${nounOfInput(type)}, not ${nounOfValue(value)}`);
  if (isEnumType(nullable)) {
    const code = typeof value === 'string' ? 'INVALID_VALUE' : 'INVALID_TYPE';
    return makeFault(path, code, `must be ${nounOfInput(type)}`, allowedBy(nullable));
  }
  if (isSpecifiedScalarType(nullable)) {
    return makeFault(path, 'INVALID_TYPE', `must be ${nounOfInput(type)}, not ${nounOfValue(value)}`);
  }
  return scalarFault(path, value, error);
}

export function missingFault(path: string): GraphFault {
  return makeFault(path, 'MISSING_REQUIRED_PARAMETER', 'is required');
}

export function makeFault(path: string, code: GraphErrorCode, rule: string, allowedValues: Allowed | null = null): GraphFault {
  return { path, code, message: `${path} ${rule}`, allowed: allowedValues };
}

/** The type at a path of a value, which a list may leave out: graphql-js takes one item for a list of one. */
export function typeAt(type: GraphQLInputType, path: readonly (string | number)[]): GraphQLInputType | undefined {
  let at: GraphQLInputType | undefined = type;
  for (const key of path) {
    at = itemless(at, typeof key === 'number');
    if (typeof key === 'number') continue;
    at = isInputObjectType(at) ? at.getFields()[key]?.type : undefined;
    if (at === undefined) return undefined;
  }
  return at;
}

/** The item of one list for a place in it; the item of all lists for a member. */
function itemless(type: GraphQLInputType, isOnce: boolean): GraphQLInputType {
  let at: GraphQLInputType = getNullableType(type) as GraphQLInputType;
  while (isListType(at)) {
    at = getNullableType(at.ofType) as GraphQLInputType;
    if (isOnce) break;
  }
  return at;
}

function oneOfFault(path: string, names: readonly string[], givenNames: readonly string[]): GraphFault {
  const code = givenNames.length === 0 ? 'MISSING_REQUIRED_PARAMETER' : 'MUTUALLY_EXCLUSIVE_PARAMETERS';
  return makeFault(path, givenNames.length === 1 ? 'INVALID_TYPE' : code, `must hold exactly one of ${names.join(', ')}`);
}

/** A scalar of the service says itself what is wrong; a DomainError among them names a member below. */
function scalarFault(path: string, value: unknown, { message, originalError }: GraphQLError): GraphFault {
  if (originalError instanceof DomainError) {
    const { code, detail } = originalError;
    const at = detail.param === undefined ? path : joined(path, dotted(detail.param));
    return { path: at, code, message: originalError.message, allowed: detail.allowed ?? null };
  }
  return makeFault(path, typeof value === 'string' ? 'INVALID_VALUE' : 'INVALID_TYPE', `is not allowed: ${message}`);
}

function allowedBy(type: GraphQLInputType): Allowed | null {
  return isEnumType(type) ? { enum: type.getValues().map(({ name }) => name) } : null;
}

/** `messages[2].content` as GraphQL writes it: `messages.2.content`. */
export function dotted(param: string): string {
  return param.replaceAll(/\[(\d+)\]/g, '.$1').replace(/^\./, '');
}

export function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
