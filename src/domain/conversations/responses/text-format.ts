import type { ResponseFormat } from '../../../engine/models/port.ts';
import { readSchema, SchemaError } from '../../../engine/tools/json-schema/read-schema.ts';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import type { ReadInput } from '../../../wire/responses/request.ts';
import type { Faults } from '../../ground/faults.ts';

/** The longest schema for answers, in characters of JSON. */
const schemaLengthMax = 500_000;

interface ReadFormat {
  readonly format: ResponseFormat | undefined;
  /** The format as the response repeats it. */
  readonly echo: WireObject;
}

/** Reads `text.format` of a request: the format of the answer. */
export function readFormat(given: NonNullable<ReadInput['text']>['format'], faults: Faults): ReadFormat {
  if (given?.type === 'json_object') return { format: given, echo: given };
  if (given?.type !== 'json_schema') return { format: undefined, echo: { type: 'text' } };
  const { type, name, description = null, schema, strict } = given;
  const problem = schemaProblem(schema);
  if (problem !== undefined) faults.add('text.format.schema', `text.format.schema is no JSON Schema: ${problem}`);
  const format = { type, name, schema, ...(typeof strict === 'boolean' ? { strict } : {}) };
  return { format, echo: { type, name, description, schema, strict: strict ?? false } };
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
