import { z } from 'zod';
import { agentOptions } from '../../entities/agents/options.ts';

/**
 * The vocabulary of the wire schemas. One schema checks a value, gives it its type, and describes it in OpenAPI. A member that may be absent
 * is `.optional()`, one that may be null too is `.nullish()`.
 */

export type Annotations = Readonly<Record<string, unknown>>;

/** The schemas that OpenAPI shows as components, by their names. */
export const components = z.registry<{ id: string }>();

/** The integers among them that have bounds, by their names. */
export const integerBounds = new Map<string, { readonly min: number; readonly max: number }>();

export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  components.add(schema, { id });
  return schema;
}

/** An object that OpenAPI shows as a component. */
export function component<Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape, more: Annotations = {}) {
  return named(id, z.object(shape).meta({ description, ...more }));
}

/** The same that takes no other members. */
export function closedComponent<Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) {
  return named(id, z.strictObject(shape).meta({ description }));
}

/** The same whose other members are kept. */
export function openComponent<Shape extends z.ZodRawShape>(
  id: string,
  description: string,
  shape: Shape,
  more: Annotations = {},
) {
  return named(id, z.looseObject(shape).meta({ description, ...more }));
}

/**
 * Members of a GraphQL input type, each of which may be absent or null. Names, types and descriptions are GraphQL's; OpenAPI adds what the
 * schemas say beyond.
 */
export function graphqlInput<const Shape extends Readonly<Record<string, z.ZodType>>>(type: string, shape: Shape) {
  describeMembers(type, shape);
  const members = Object.entries(shape).map(([name, schema]) => [name, schema.nullish()]);
  return z.object(Object.fromEntries(members) as { [Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name]>> });
}

/** What `graphqlInput` reads, before: GraphQL knows of a text only that it is a text, and nothing of what is JSON to it. */
export type Unread<Read> = { readonly [Name in keyof Read]?: UnreadValue<Read[Name]> };
type UnreadValue<Value> = Value extends string ? string : Value extends number | boolean | null | undefined ? Value : unknown;

/** What the service sends: the members of a schema, made by an encoder beside it. The compiler holds the two equal. */
export type Sent<Schema extends z.ZodType> = Frozen<z.input<Schema>>;
type Frozen<Value> = Value extends object ? { readonly [Name in keyof Value]: Frozen<Value[Name]> } : Value;

/** A list that is left out of a reply when it is empty: `JSON.stringify` writes no undefined member. */
export function unlessEmpty<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items;
}

/** Members of a GraphQL type: what OpenAPI says of them beyond GraphQL. */
export function describeMembers(type: string, shape: Readonly<Record<string, z.ZodType>>): void {
  for (const [name, schema] of Object.entries(shape)) {
    named(`${type}.${name}`, schema.optional());
    if (!(schema instanceof z.ZodNumber)) continue;
    const { minValue: min, maxValue: max } = schema;
    if (min !== null && max !== null && Number.isSafeInteger(min) && max < Number.MAX_SAFE_INTEGER) {
      integerBounds.set(`${type}.${name}`, { min, max });
    }
  }
}

/** A number in a range. */
export function range(min: number, max: number, more: Annotations = {}) {
  return z.number(`must be from ${min} to ${max}`).min(min).max(max).meta(more);
}

/** Most tokens that a request may ask a model for: as an agent's own `maxTokens`. */
export const tokensMax = agentOptions.maxTokens.max;

/** Highest number of a version of a flow. */
export const flowVersionMax = 1_000_000;

export function integerRange(min: number, max: number, more: Annotations = {}) {
  return z.int(`must be an integer from ${min} to ${max}`).min(min).max(max).meta(more);
}

/** A value that is read elsewhere, item by item, or not at all: only OpenAPI uses this schema. */
export function described<Value = unknown>(annotations: Annotations) {
  return z.unknown().meta(annotations) as z.ZodType<Value, Value>;
}

/** Refers to a component that is not declared here: that of a GraphQL type, for example. */
export function reference(id: string, description?: string) {
  return z.unknown().meta({ $ref: `#/components/schemas/${id}`, ...(description === undefined ? {} : { description }) });
}

export function object<Shape extends z.ZodRawShape>(description: string, shape: Shape) {
  return z.object(shape).meta({ description });
}

/** An object with members of any name. */
export function record(description: string, rule?: string) {
  return z.record(z.string(), z.unknown(), rule).meta({ description });
}

export function text(description: string, rule?: string) {
  return z.string(rule).meta({ description });
}

export function flag(description: string, more: Annotations = {}) {
  return z.boolean().meta({ description, ...more });
}

export function integer(description: string, min = 0) {
  return z.int('must be an integer').min(min, `must be an integer from ${min}`).meta({ description });
}

/** One of GraphQL's whole numbers, as OpenAPI shows it. */
export function int32(description: string) {
  return described<number>({ type: 'integer', format: 'int32', description });
}

export function number(description: string) {
  return z.number().meta({ description });
}

/** What a request may hold must have a `.max()`: longer arrays are refused before their items are read. */
export function list<Item extends z.ZodType>(description: string, items: Item) {
  return z.array(items).meta({ description });
}

export function constant<const Value extends string | boolean>(value: Value) {
  return z.literal(value);
}

/** The same, and its description says so. */
export function always<const Value extends string>(value: Value) {
  return constant(value).meta({ description: `Always \`${value}\`.` });
}

export function oneOfTexts<const Values extends readonly string[]>(description: string, values: Values, more: Annotations = {}) {
  return z.enum(values).meta({ description, ...more });
}

/** A value of one of several kinds. `rule` is what is said of any other. */
export function anyOf<const Options extends readonly z.ZodType[]>(description: string, options: Options, rule?: string) {
  return z.union(options, rule).meta({ description });
}

/** The same, where a value is of one of them only. OpenAPI shows it; values are read by the schema of their kind. */
export function choice<const Options extends readonly z.ZodType[]>(description: string, options: Options) {
  return z.xor(options).meta({ description });
}

/** Objects that each have a `type` of their own. */
export function choiceByType<Options extends readonly z.core.$ZodTypeDiscriminable[]>(description: string, options: Options) {
  return z
    .discriminatedUnion('type', options as unknown as readonly [Options[number], ...Options[number][]])
    .meta({ description });
}

/** Marks what the service adds to the common format: a member, a schema, an event. */
export const isExtension: Annotations = { 'x-parley-extension': true };

/** Marks where the service behaves otherwise than the common format says; the ids stand in docs/responses.md. */
export function behaves(behavior: string): Annotations {
  return { 'x-parley-extension-behavior': behavior };
}
