import { isObject } from '../../../lib/json/json.ts';
import { createSchemaCheck } from './check.ts';
import type { SchemaFault } from './check-scalars.ts';
import { readSchema } from './read-schema.ts';

type Schema = Readonly<Record<string, unknown>>;

/** What a model wrote as arguments: the object, or why it is none that the tool takes, in words for the model. */
export type ReadArguments = { readonly value: Schema } | { readonly fault: string };
export type ArgumentsReader = (json: string) => ReadArguments;

/** Longest arguments of one call, in UTF-16 code units. With the bounds of schemas it bounds the work of a check. */
const argumentsLengthMax = 64_000;

/**
 * Makes the check of a tool's arguments.
 *
 * @throws SchemaError for a schema that is not safe to check with.
 */
export function compileArguments(schema: Schema): ArgumentsReader {
  readSchema(schema, 'tool');
  const check = createSchemaCheck(schema);
  return (json) => {
    if (json.length > argumentsLengthMax) return { fault: `The arguments have more than ${argumentsLengthMax} characters` };
    const value = parsed(json);
    if (value === undefined) return { fault: 'The arguments are not a JSON object' };
    if (hasPrototypeName(value)) return { fault: 'The arguments must not have a member __proto__' };
    const fault = check(value);
    return fault === undefined ? { value } : { fault: `The arguments do not fit the parameters: ${described(fault)}` };
  };
}

function parsed(json: string): Schema | undefined {
  try {
    const value: unknown = JSON.parse(json.trim() === '' ? '{}' : json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Servers that merge objects take such a member for the prototype of all objects. Walks without recursion: a model nests as deep as it likes. */
function hasPrototypeName(value: object): boolean {
  let level: object[] = [value];
  while (level.length > 0) {
    if (level.some((one) => Object.hasOwn(one, '__proto__'))) return true;
    level = level.flatMap((one) => Object.values(one).filter((child) => typeof child === 'object' && child !== null));
  }
  return false;
}

function described({ value, message }: SchemaFault): string {
  return `${value === '' ? 'they' : value.replace(/^\./, '')} ${message}`;
}
