import { writeFileSync } from 'node:fs';
import { printedSchema } from '../src/graphql/printed-schema.ts';
import { buildSchema } from '../src/graphql/schema.ts';

/** Writes schema.graphql, which a test compares with the schema in the code. */
writeFileSync('schema.graphql', printedSchema(buildSchema()));
