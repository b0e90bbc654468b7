import { writeFileSync } from 'node:fs';
import { printedSchema } from '../src/graphql/printed-schema.ts';
import { buildSchema } from '../src/graphql/schema.ts';
import { printedScopes } from './support/operation-scopes.ts';
import { printedSubgraph } from './support/subgraph.ts';

/**
 * Writes schema.graphql and the scopes of its operations, which a test compares with the schema in the code. With --subgraph it prints the schema as a
 * subgraph of Federation 2 instead: `npm run -s schema -- --subgraph > parley.graphql`.
 */
const schema = buildSchema();
if (process.argv.includes('--subgraph')) {
  process.stdout.write(printedSubgraph(schema));
} else {
  writeFileSync('schema.graphql', printedSchema(schema));
  writeFileSync('src/domain/ground/access/operation-scopes.ts', printedScopes(schema));
}
