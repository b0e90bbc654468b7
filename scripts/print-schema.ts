import { writeFileSync } from 'node:fs';
import { printedSchema } from '../src/graphql/printed-schema.ts';
import { buildSchema } from '../src/graphql/schema.ts';

/** Writes schema.graphql, which a test compares with what the code says. */
writeFileSync('schema.graphql', printedSchema(buildSchema()));
