import type { GraphQLSchema } from 'graphql';
import { findScope, rootFields } from '../../src/graphql/ground/builder/scopes.ts';

/** The text of src/domain/ground/access/operation-scopes.ts, from the `authScopes` of the root fields. */
export function printedScopes(schema: GraphQLSchema): string {
  const lines = rootFields(schema)
    .map(([operation, field]) => `  '${operation}': ${scopeText(findScope(field) ?? null)},`)
    .sort();
  return `// Printed from the schema by \`npm run schema\`; a test compares them.
import type { Scope } from '../../../entities/people/caller.ts';

/**
 * Every operation of the schema and the scope that its key needs, for ways in that have no resolvers. \`null\` needs a key and no scope.
 */
export const operationScopes: Readonly<Record<string, Scope | null>> = {
${lines.join('\n')}
};
`;
}

function scopeText(scope: string | null): string {
  return scope === null ? 'null' : `'${scope}'`;
}
