import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './__generated__/graphql-env.d.ts';

/** gql.tada: the types of a document follow from its text. */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: { DateTime: string; Count: number; JSON: unknown };
  disableMasking: true;
}>();
