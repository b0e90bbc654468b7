import { type JsonSchema, orNull, reference } from '../declarations.ts';

/** Small words that the declared schemas are written with. */

/** Refers to a declared schema, or to that of a GraphQL type which the rows print. */
export const ref = reference;
export { orNull };

/** Members whose name ends in `?` may be absent. `example`: one where what is required is not all that is needed. */
export function object(description: string, members: Readonly<Record<string, JsonSchema>>, example?: unknown): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, member] of Object.entries(members)) {
    const isOptional = name.endsWith('?');
    properties[isOptional ? name.slice(0, -1) : name] = member;
    if (!isOptional) required.push(name);
  }
  const shape = { type: 'object', description, properties, ...(required.length === 0 ? {} : { required }) };
  return example === undefined ? shape : { ...shape, examples: [example] };
}

/** An object with members of any name. */
export function record(description: string, values: JsonSchema | true = true): JsonSchema {
  return { type: 'object', description, additionalProperties: values };
}

export function text(description: string, more: JsonSchema = {}): JsonSchema {
  return { type: 'string', description, ...more };
}

export function flag(description: string, more: JsonSchema = {}): JsonSchema {
  return { type: 'boolean', description, ...more };
}

export function integer(description: string, more: JsonSchema = {}): JsonSchema {
  return { type: 'integer', minimum: 0, description, ...more };
}

export function number(description: string, more: JsonSchema = {}): JsonSchema {
  return { type: 'number', description, ...more };
}

export function list(description: string, items: JsonSchema, more: JsonSchema = {}): JsonSchema {
  return { type: 'array', items, description, ...more };
}

export function constant(value: string | boolean): JsonSchema {
  return { type: typeof value, const: value };
}

export function oneOfTexts(description: string, values: readonly string[], more: JsonSchema = {}): JsonSchema {
  return { type: 'string', enum: [...values], description, ...more };
}

/** Declared schemas of which a value follows one. */
export function choice(description: string, names: readonly string[]): JsonSchema {
  return { description, oneOf: names.map(reference) };
}

/** The same where each of them has a `type` of its own. */
export function choiceByType(description: string, schemas: Readonly<Record<string, string>>): JsonSchema {
  const mapping = Object.fromEntries(Object.entries(schemas).map(([type, name]) => [type, String(reference(name).$ref)]));
  return { ...choice(description, [...new Set(Object.values(schemas))]), discriminator: { propertyName: 'type', mapping } };
}

/** A reference that says more than what it refers to. */
export function about(name: string, description: string, more: JsonSchema = {}): JsonSchema {
  return { ...reference(name), description, ...more };
}

/** Marks what the service adds to the common format: a member, a schema, an event. */
export function added(schema: JsonSchema, behavior?: string): JsonSchema {
  return { ...schema, 'x-parley-extension': true, ...(behavior === undefined ? {} : behaves(behavior)) };
}

/** Marks further values of a member that the common format has too. */
export function addedValues(schema: JsonSchema, values: readonly string[], behavior?: string): JsonSchema {
  return { ...schema, 'x-parley-extension-values': [...values], ...(behavior === undefined ? {} : behaves(behavior)) };
}

/** Marks where the service behaves otherwise than the common format says; the ids stand in docs/responses.md. */
export function behaves(behavior: string): JsonSchema {
  return { 'x-parley-extension-behavior': behavior };
}
