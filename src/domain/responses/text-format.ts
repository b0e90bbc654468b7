import { createRequire } from 'node:module';
import type { Ajv } from 'ajv';
import type { ResponseFormat } from '../../engine/models/port.ts';
import { findDanglingReference } from '../../engine/tools/json-schema/references.ts';
import type { WireObject } from '../../entities/runs/response.ts';
import type { ReadInput } from '../../wire/responses/request.ts';
import type { Faults } from '../faults.ts';

/** Of a schema for answers, as JSON. */
const schemaLengthMax = 500_000;

/** Checks schemas against the meta-schema; it never makes code of a caller's schema. */
let schemaChecker: Ajv | undefined;
const metaSchemaId = 'schema-of-an-answer';

/** Loaded for the first schema, not for every start. */
function checker(): Ajv {
  if (schemaChecker !== undefined) return schemaChecker;
  const loaded = createRequire(import.meta.url)('ajv') as typeof import('ajv');
  const ajv = new loaded.Ajv({ strict: false, validateFormats: false, validateSchema: false, addUsedSchema: false });
  const metaSchema = ajv.schemas['http://json-schema.org/draft-07/schema']?.schema as { readonly properties: WireObject };
  // That the values of an `enum` differ is not asked: it takes the square of their number to find out. Made into code when it is first used.
  ajv.addSchema({ ...metaSchema, $id: metaSchemaId, properties: { ...metaSchema.properties, enum: { type: 'array' } } });
  schemaChecker = ajv;
  return ajv;
}

interface ReadFormat {
  readonly format: ResponseFormat | undefined;
  /** As the response repeats it. */
  readonly echo: WireObject;
}

/** Reads `text.format` of a request: the form of its answer. */
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
  const { $schema: _dialect, ...plain } = schema;
  try {
    if (JSON.stringify(schema).length > schemaLengthMax) return `it has more than ${schemaLengthMax} characters as JSON`;
    const ajv = checker();
    if (ajv.validate(metaSchemaId, plain)) {
      const place = findDanglingReference(schema);
      return place === undefined ? undefined : `${place} must name a schema within this one, like "#/$defs/name"`;
    }
    const [first] = ajv.errors ?? [];
    return `${first?.instancePath ?? ''} ${first?.message ?? 'is wrong'}`.trim();
  } catch {
    return 'it cannot be read';
  }
}
