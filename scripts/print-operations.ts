import { writeFileSync } from 'node:fs';
import { buildSchema } from '../src/graphql/schema.ts';
import { allRoutes } from '../src/rest/routes/index.ts';
import { missingOperations } from '../test/support/apis/contract-operations.ts';
import { operationLines, operationsPage } from './support/operations-page.ts';

/** Writes docs/operations.md: `npm run operations`. A test fails when the page is outdated. */
writeFileSync('docs/operations.md', operationsPage(operationLines(buildSchema(), allRoutes), missingOperations));
