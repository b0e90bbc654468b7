import { z } from 'zod';
import { named, type Sent } from './schema.ts';

/** A member of a reply that REST shows in another form than GraphQL. */
export interface MemberShape {
  /** The name of its schema among the wire schemas. */
  readonly schema: string;
  /** Makes the member of what the route's document selects under its name. */
  readonly show: (selected: never, beside: never) => unknown;
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

/** A part of such a member, which OpenAPI shows as it shows the types of GraphQL beside it: without a title. */
export function shapedType<Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) {
  return named(id, z.object(shape).meta({ description, [untitled]: true }));
}

/** Marks a declared schema that has no title. */
export const untitled = 'x-untitled';
