import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operationLines, operationsPage } from '../../../scripts/support/operations-page.ts';
import { buildSchema } from '../../../src/graphql/schema.ts';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import { contractOperations, missingOperations } from '../../support/apis/contract-operations.ts';

const page = readFileSync('docs/operations.md', 'utf8');
const lines = operationLines(buildSchema(), allRoutes);

describe('operations', () => {
  it('docs/operations.md lists the operations of the routes and the schema (rewrite with: npm run operations)', () => {
    expect(page).toEqual(operationsPage(lines, missingOperations));
  });

  it('of the contract all have a route, or a reason', () => {
    const named = new Set(lines.map(({ contract }) => contract));
    expect(contractOperations.filter((name) => !named.has(name))).toEqual(Object.keys(missingOperations));
  });

  it('name only what the contract names', () => {
    const known = new Set(['', ...contractOperations]);
    expect(lines.filter(({ contract }) => !known.has(contract)).map(({ contract }) => contract)).toEqual([]);
  });
});
