import type { Scope } from '../entities/caller.ts';

/**
 * Every operation and the scope its key needs: the one table that GraphQL, REST, OpenAPI and the tests read. What is not listed is
 * denied: the schema does not build. `null` needs a key and no scope.
 */
export const operationScopes: Readonly<Record<string, Scope | null>> = {
  'Query.viewer': null,
  'Query.node': null,
  // agents
  // chats
  // data sources
  // keys, groups
};
