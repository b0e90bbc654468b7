/** Arguments to begin with: each property of a JSON Schema with an empty value of its type. */
export function buildExample(schema: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(schema) || !isRecord(schema.properties)) return {};
  return Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, valueFor(property)]));
}

function valueFor(schema: unknown): unknown {
  if (!isRecord(schema)) return '';
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (schema.type) {
    case 'number':
    case 'integer':
      return 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return buildExample(schema);
    default:
      return '';
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
