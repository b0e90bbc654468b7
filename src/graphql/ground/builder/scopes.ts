import type { GraphQLField, GraphQLSchema } from 'graphql';
import type { Scope } from '../../../entities/people/caller.ts';
import { hasMembers } from '../../../lib/json/json.ts';
import type { GraphContext } from './context.ts';

type Field = GraphQLField<unknown, GraphContext>;

/** What `authScopes` of a field says. */
export interface AuthScopes {
  /** The scope that the key of the call needs. */
  key: Scope;
  /** A key of any scope will do, but one of SCIM:WRITE. */
  anyKey: boolean;
}

/** The scope that a root field needs; null for any key, undefined where the field does not say. */
export function findScope({ extensions: { pothosOptions } }: Field): Scope | null | undefined {
  if (!hasMembers(pothosOptions) || !hasMembers(pothosOptions.authScopes)) return undefined;
  const { key, anyKey } = pothosOptions.authScopes as Partial<AuthScopes>;
  return anyKey === true ? null : key;
}

/** Every root field of a schema, with the name of its operation: `Query.agents`. */
export function rootFields(schema: GraphQLSchema): (readonly [operation: string, field: Field])[] {
  return [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((root) =>
    Object.values(root?.getFields() ?? {}).map((field) => [`${root?.name}.${field.name}`, field] as const),
  );
}
