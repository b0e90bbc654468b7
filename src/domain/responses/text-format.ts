import type { ModelParameters, ResponseFormat } from '../../engine/models/port.ts';
import { readSchema, SchemaError } from '../../engine/tools/json-schema/read-schema.ts';
import type { WireObject } from '../../entities/runs/response.ts';
import type { Faults } from '../faults.ts';
import { isObject, readOneOf, requireObject } from './values.ts';

const verbosities = ['low', 'medium', 'high'] as const;
/** Of a schema for answers, as JSON. */
const schemaLengthMax = 500_000;

interface ReadText {
  readonly format: ResponseFormat | undefined;
  readonly verbosity: ModelParameters['verbosity'];
  readonly echo: WireObject;
}

/** Reads `text` of a request: the form of its answer, and how much is said. */
export function readText(given: unknown, faults: Faults): ReadText {
  if (!requireObject('text', given, faults)) return { ...plainText, verbosity: undefined, echo: { format: plainText.echo } };
  const { format, echo } = readFormat(given.format, faults);
  const verbosity = readOneOf('text.verbosity', given.verbosity, verbosities, faults);
  return { format, verbosity, echo: { format: echo, ...(verbosity === undefined ? {} : { verbosity }) } };
}

interface ReadFormat {
  readonly format: ResponseFormat | undefined;
  readonly echo: WireObject;
}
const plainText: ReadFormat = { format: undefined, echo: { type: 'text' } };

function readFormat(given: unknown, faults: Faults): ReadFormat {
  if (given === undefined || given === null) return plainText;
  if (!isObject(given) || !['text', 'json_object', 'json_schema'].includes(String(given.type))) {
    faults.add('text.format.type', 'text.format.type must be one of text, json_object, json_schema');
    return plainText;
  }
  if (given.type === 'text') return plainText;
  if (given.type === 'json_object') return { format: { type: 'json_object' }, echo: { type: 'json_object' } };
  const { name, schema, strict, description } = given;
  const isNamed = typeof name === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(name);
  if (!isNamed) faults.add('text.format.name', 'text.format.name must be 1 to 64 letters, digits, _ or -');
  if (!isObject(schema)) faults.add('text.format.schema', 'text.format.schema must be a JSON Schema object', 'INVALID_TYPE');
  if (!isNamed || !isObject(schema)) return plainText;
  const problem = schemaProblem(schema);
  if (problem !== undefined) faults.add('text.format.schema', `text.format.schema is no JSON Schema: ${problem}`);
  const echo = { type: 'json_schema', name, description: description ?? null, schema, strict: strict ?? false };
  return { format: { type: 'json_schema', name, schema, ...(typeof strict === 'boolean' ? { strict } : {}) }, echo };
}

function schemaProblem(schema: WireObject): string | undefined {
  try {
    if (JSON.stringify(schema).length > schemaLengthMax) return `it has more than ${schemaLengthMax} characters as JSON`;
    readSchema(schema, 'answer');
    return undefined;
  } catch (error) {
    return error instanceof SchemaError ? `${error.path} ${error.message}`.trim() : 'it cannot be read';
  }
}
