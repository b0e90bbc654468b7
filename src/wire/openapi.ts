import { z } from 'zod';
import { type JsonSchema, orNull } from './ground/json-schema.ts';
import { components } from './ground/schema.ts';
import { shapePrefix } from './ground/shape.ts';
import './ag-ui/events.ts';
import './ag-ui/request.ts';
import './agents/bundles.ts';
import './audit.ts';
import './connections.ts';
import './data-sources.ts';
import './chats.ts';
import './completions/chunks.ts';
import './completions/request.ts';
import './conversations.ts';
import './embeddings.ts';
import './files.ts';
import './models.ts';
import './messages/body.ts';
import './messages/events.ts';
import './messages/models.ts';
import './people.ts';
import './usage.ts';
import './vector-stores/vector-stores.ts';
import './responses/event-schemas.ts';

/** What the wire schemas say in OpenAPI: component schemas by name, members of GraphQL types by schema coordinate, and members that REST shows in a form of its own. */
export function wireDeclarations() {
  const { schemas: all } = z.toJSONSchema(components, {
    io: 'input',
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema instanceof z.ZodDiscriminatedUnion && jsonSchema.$ref === undefined)
        jsonSchema.discriminator = findDiscriminator(zodSchema);
    },
  });
  const kindOf = (name: string) => (name.startsWith(shapePrefix) ? 'shapes' : name.includes('.') ? 'members' : 'schemas');
  const { schemas = [], members = [], shapes = [] } = Object.groupBy(Object.entries(toMembers(all)), ([name]) => kindOf(name));
  return {
    schemas: Object.fromEntries(schemas),
    members: Object.fromEntries(members),
    shapes: Object.fromEntries(shapes),
  };
}

/** Which component has which `type`. */
function findDiscriminator({ def: { discriminator }, options }: z.ZodDiscriminatedUnion): JsonSchema {
  const mapping = options.flatMap((option) => {
    const kind = option instanceof z.ZodObject ? option.shape[discriminator] : undefined;
    const values = kind instanceof z.ZodLiteral ? [...kind.values] : kind instanceof z.ZodEnum ? kind.options : [];
    const name = option instanceof z.ZodType ? components.get(option)?.id : undefined;
    return values.map((value) => [String(value), `#/components/schemas/${name}`]);
  });
  return { propertyName: discriminator, mapping: Object.fromEntries(mapping) };
}

function toMembers(members: object): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, tidy(schema) as JsonSchema]));
}

/** What a value is stands before what it is for. */
const firstKeys = ['$ref', 'type', 'const', 'minimum', 'enum', 'items', 'description'];

/** A schema as readers of OpenAPI know it best: `null` among the types, and nothing that says nothing. */
function tidy(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(tidy);
  if (typeof node !== 'object' || node === null) return node;
  const own: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    const isNames = key === 'properties' || key === 'mapping';
    const tidyValue = isNames ? toMembers(value) : tidy(value);
    const saysNothing =
      ['$schema', '$id'].includes(key) ||
      (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) ||
      (key === 'propertyNames' && JSON.stringify(value) === '{"type":"string"}');
    if (!saysNothing) own[key] = key === 'additionalProperties' && JSON.stringify(value) === '{}' ? true : tidyValue;
  }
  const rank = (key: string) => (firstKeys.includes(key) ? firstKeys.indexOf(key) : firstKeys.length);
  return Object.fromEntries(Object.entries(withNull(own)).sort(([a], [b]) => rank(a) - rank(b)));
}

function withNull({ anyOf, ...about }: Record<string, unknown>): JsonSchema {
  if (!Array.isArray(anyOf)) return about;
  const [inner, last] = anyOf;
  return anyOf.length === 2 && last.type === 'null' && typeof last.type === 'string'
    ? { ...orNull(inner), ...about }
    : { anyOf, ...about };
}
