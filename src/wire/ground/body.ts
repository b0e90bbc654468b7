import { z } from 'zod';
import { type Annotations, described, describeMembers, flag } from './schema.ts';
import type { UnservedMember } from './unserved-members.ts';

/** How a body is read, beyond its members. */
export interface BodyRules {
  /** Members that the body does not have are refused; these, which replies have, are passed over. */
  readonly takenMembers?: readonly string[];
  /** Members are taken in snake_case too where a route writes camelCase. */
  readonly takesEitherSpelling?: true;
  /** Members that the body does not have are ignored, also within one that refuses them. */
  readonly ignoresUnknown?: true;
  /** Of a body that refuses members: whether it takes all of this value. */
  readonly isOpen?: (value: Readonly<Record<string, unknown>>) => boolean;
  /** Schemas of the members that choose the form of the reply, such as `stream`. They become variables of their own: the domain has none of them. */
  readonly replyMembers?: Readonly<Record<string, unknown>>;
  /** Its declaration says everything to OpenAPI. `taken`: a wire schema reads it, and its members reach that schema as they came. */
  readonly asJson?: 'taken' | 'checked';
}

export interface BodyForm extends BodyRules {
  /** `name`, because a registry of zod hands members but `id` on to the copies that `meta` makes. */
  readonly name: string;
  readonly description: string;
}

/** The bodies of requests, with what they are called in OpenAPI. */
export const bodies = z.registry<BodyForm>();
/** Members whose type the schema does not show: the GraphQL type, or the body, by which they are read. */
export const memberTypes = new Map<z.ZodType, string | z.ZodObject>();

/**
 * The body of a request, or a part of one, as the domain takes it: names in camelCase, types, limits and descriptions. A member that may be absent
 * or null is `.nullish()`. Types are checked when the body is read; limits of texts and numbers are the domain's to check, by the same schema
 * (`readWire`). A union, a record or any other schema that is no body, text, number, flag or list of these is JSON to the reader.
 */
export function body<Shape extends z.ZodRawShape>(name: string, description: string, shape: Shape, rules: BodyRules = {}) {
  const schema = z.object(shape);
  bodies.add(schema, { name, description, ...rules });
  const leaves = Object.entries({ ...shape, ...rules.replyMembers }).flatMap(([member, own]) => {
    const inner = unwrapped(own as z.ZodType);
    return isShownByType(inner) ? [] : [[member, inner] as const];
  });
  describeMembers(name, Object.fromEntries(leaves));
  return schema;
}

/** The member of bodies that may be answered by an event stream. */
export function streamFlag(description = 'REST: whether to answer as an event stream.', more: Annotations = {}) {
  return { stream: flag(description, more).nullish() };
}

/** A member in the form of a wire schema, which reads it behind the reader: the reader asks only whether it is an object. */
export function wirePart<Schema extends z.ZodType>(name: string, description: string, schema: Schema): Schema {
  bodies.add(schema, { name, description, asJson: 'taken' });
  return schema;
}

/**
 * A member that is read as this type of the graph: `ID`, `DateTime`, `JSON`, an enum, an input that both APIs have. Or as a body `asJson`, whose
 * types are checked, where OpenAPI shows what the domain takes.
 */
export function readAs<Schema extends z.ZodType>(type: string | z.ZodObject, schema: Schema): Schema {
  memberTypes.set(schema, type);
  return schema;
}

/** A member that may be absent or null, with what OpenAPI says of it here. */
export function maybe<Schema extends z.ZodType>(description: string, schema: Schema) {
  return schema.nullish().meta({ description });
}

/** Members that may be absent or null. */
export function optionalMembers<const Shape extends Readonly<Record<string, z.ZodType>>>(shape: Shape) {
  const members = Object.entries(shape).map(([name, schema]) => [name, schema.nullish()]);
  return Object.fromEntries(members) as { [Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name]>> };
}

/** A member that is read elsewhere, as a value of this type of the graph. */
export function ofType<Value = unknown>(type: string, description: string, more: Annotations = {}) {
  return readAs(type, described<Value>({ description, ...more }));
}

export function idText(description: string) {
  return readAs('ID', z.string().meta({ description }));
}

/** What a body says of a member, for an input of GraphQL that has it too. */
export function describe<Shape extends z.ZodRawShape>({ shape }: z.ZodObject<Shape>, name: keyof Shape & string): string {
  const member = shape[name] as z.ZodType;
  const description = member.description ?? unwrapped(member).description;
  if (description === undefined) throw new Error(`${name} has no description`);
  return description;
}

/** Members of a format that are not served: they have to be read to say so. Their values are not looked into. */
export function unservedMembers(members: readonly UnservedMember[]): Readonly<Record<never, z.ZodType>> {
  return Object.fromEntries(
    members.map(({ name, member, effect, reason }) => {
      const effectText = effect === 'refused' ? 'Refused' : 'Accepted, with a warning';
      const description = `${effectText}: ${name} ${reason}. JSON: as the format has it.`;
      return [member, described({ description }).nullish()];
    }),
  );
}

/** Without `nullish` and the like. */
export function unwrapped(schema: z.ZodType): z.ZodType {
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return isWrapper ? unwrapped(schema.unwrap() as z.ZodType) : schema;
}

/** Whether OpenAPI shows a member by the type that reads it alone. */
function isShownByType(schema: z.ZodType, isItem = false): boolean {
  if (schema instanceof z.ZodArray) return isShownByType(unwrapped(schema.element as z.ZodType), true);
  const form = bodies.get(schema);
  if (form !== undefined) return form.asJson === undefined;
  const type = memberTypes.get(schema);
  if (typeof type !== 'string' || type === 'ID' || type === 'JSON') return false;
  return isItem || !(schema instanceof z.ZodUnknown);
}
