import { z } from 'zod';
import type { ShownTo } from './encoder.ts';
import { named, type Sent } from './schema.ts';

/** A member of a reply that REST shows in another form than GraphQL. */
export interface MemberShape {
  /** The name of its schema among the wire schemas. */
  readonly schema: string;
  /** Makes the member of what the route's document selects under its name. */
  readonly show: (selected: never, beside: never, context: ShownTo) => unknown;
  /** It makes the member of what the resolver returned, before the document selects of that. */
  readonly isOfResolver?: true;
}

/** Marks the schemas of such members among the wire schemas. */
export const shapePrefix = 'shape:';

/**
 * Declares how REST shows a member.
 *
 * @param place  names the schema: `AuditEntry.changes`.
 * @param show  gets what the document selects under the name of the member, null where it is null, and what it selects beside it.
 */
export function memberShape<Schema extends z.ZodType, Selected, Beside = unknown>(
  place: string,
  schema: Schema,
  show: (selected: Selected, beside: Beside) => Sent<Schema> | null,
): MemberShape {
  named(`${shapePrefix}${place}`, schema);
  return { schema: `${shapePrefix}${place}`, show };
}

/**
 * The same for a member that GraphQL has no selection for that says it all, such as JSON as it is stored. The rules of access are those of the field.
 *
 * @param show  gets what the resolver of the field returned. The route's document names the field: `data: settings { __typename }`.
 */
export function resolvedShape<Schema extends z.ZodType, Resolved>(
  place: string,
  schema: Schema,
  show: (resolved: Resolved, context: ShownTo) => Sent<Schema> | null,
): MemberShape {
  const shape = memberShape(place, schema, () => null);
  return { ...shape, show: (resolved: Resolved, _beside: unknown, context) => show(resolved, context), isOfResolver: true };
}

/** A part of such a member, which OpenAPI shows as it shows the types of GraphQL beside it: without a title. */
export function shapedType<Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) {
  return named(id, z.object(shape).meta({ description, [untitled]: true }));
}

/** Marks a declared schema that has no title. */
export const untitled = 'x-untitled';
