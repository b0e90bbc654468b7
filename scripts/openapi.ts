import { readFileSync, writeFileSync } from 'node:fs';
import { buildSchema } from '../src/graphql/schema.ts';
import { compileRoutes } from '../src/rest/compile.ts';
import { printOpenApi } from '../src/rest/openapi/document.ts';
import { allRoutes } from '../src/rest/routes/index.ts';

/** Writes openapi.json, which a test compares with what the code prints. */
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const schema = buildSchema();
const description = printOpenApi(schema, compileRoutes(schema, allRoutes), version);
writeFileSync('openapi.json', `${JSON.stringify(description, null, 2)}\n`);
