import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { cleanSchema } from './clean-schema.ts';
import { compileLinearPattern } from './linear-pattern.ts';

type Schema = Readonly<Record<string, unknown>>;

/** What a model wrote as arguments: the object, or why it is none that the tool takes, in words for the model. */
export type ReadArguments = { readonly value: Schema } | { readonly fault: string };
export type ArgumentsReader = (json: string) => ReadArguments;

/** Longest arguments of one call, in UTF-16 code units. With the bounds of schemas it bounds the work of a check. */
const argumentsLengthMax = 64_000;
const faultsShown = 5;

/**
 * Compiles the check of a tool's arguments.
 *
 * @throws SchemaError for a schema that is not safe to check with.
 */
export function compileArguments(schema: Schema): ArgumentsReader {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    // A schema is rebuilt from what is known: no annotation of a caller is acted on.
    validateSchema: true,
    addUsedSchema: false,
    logger: false,
    code: { regExp: linearEngine },
  });
  addFormats.default(ajv, {
    mode: 'fast',
    formats: ['date', 'date-time', 'time', 'email', 'uri', 'uuid', 'ipv4', 'ipv6', 'hostname'],
  });
  const isValid = ajv.compile(cleanSchema(schema));
  return (json) => {
    if (json.length > argumentsLengthMax) return { fault: `The arguments have more than ${argumentsLengthMax} characters` };
    const value = parsed(json);
    if (value === undefined) return { fault: 'The arguments are not a JSON object' };
    if (isValid(value)) return { value };
    const faults = (isValid.errors ?? []).slice(0, faultsShown).map(described);
    return { fault: `The arguments do not fit the parameters: ${faults.join('; ')}` };
  };
}

/** Patterns of callers never reach the engine of the language. The library tells patterns apart by their text. */
const linearEngine = Object.assign(
  (source: string) => {
    const { test } = compileLinearPattern(source);
    return { test, toString: () => source } as unknown as RegExp;
  },
  { code: 'linearPattern' },
);

function parsed(json: string): Schema | undefined {
  try {
    const value: unknown = JSON.parse(json.trim() === '' ? '{}' : json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined;
  } catch {
    return undefined;
  }
}

function described({ instancePath, message }: ErrorObject): string {
  const place = instancePath === '' ? 'they' : instancePath.slice(1).replaceAll('/', '.');
  return `${place} ${message ?? 'are wrong'}`;
}
