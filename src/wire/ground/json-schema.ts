export type JsonSchema = Readonly<Record<string, unknown>>;

/** Keywords that say something about a value instead of what it may be. */
export const annotationPattern = /^(?:description|default|deprecated|examples|x-.+)$/;

/** The same or null; what is said about it stays outside. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema;
  if (type === 'null') return schema;
  if (typeof type === 'string' && schema.const === undefined) {
    return { ...schema, type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) };
  }
  const shape = Object.entries(schema).filter(([key]) => !annotationPattern.test(key));
  // Nothing said about a value: it may be null already.
  if (shape.length === 0) return schema;
  const about = Object.entries(schema).filter(([key]) => annotationPattern.test(key));
  const own = Object.fromEntries(shape);
  const choices = Array.isArray(own.anyOf) && shape.length === 1 ? own.anyOf : [own];
  return { anyOf: [...choices, { type: 'null' }], ...Object.fromEntries(about) };
}
