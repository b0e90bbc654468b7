import { writeFileSync } from 'node:fs';
import { printedSchema } from '../src/graphql/printed-schema.ts';
import { buildSchema } from '../src/graphql/schema.ts';
import { printedScopes } from './support/operation-scopes.ts';

/** Writes schema.graphql and the scopes of its operations, which a test compares with the schema in the code. */
const schema = buildSchema();
writeFileSync('schema.graphql', printedSchema(schema));
writeFileSync('src/domain/ground/access/operation-scopes.ts', printedScopes(schema));
