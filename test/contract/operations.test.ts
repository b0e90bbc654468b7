import { describe, expect, it } from 'vitest';
import { operationLines, operationsPage } from '../../scripts/support/operations-page.ts';
import { buildSchema } from '../../src/graphql/schema.ts';
import { allRoutes } from '../../src/rest/routes/index.ts';
import { contractOperations, missingOperations } from '../support/contract-operations.ts';

const lines = operationLines(buildSchema(), allRoutes, '.');

describe('operations', () => {
  it('docs/operations.md is what the rows and the schema print (rewrite with: npm run operations)', async () => {
    await expect(operationsPage(lines, missingOperations)).toMatchFileSnapshot('../../docs/operations.md');
  });

  it('of the contract all have a row, or a reason', () => {
    const named = new Set(lines.map(({ contract }) => contract));
    expect(contractOperations.filter((name) => !named.has(name))).toEqual(Object.keys(missingOperations));
  });

  it('name only what the contract names', () => {
    const known = new Set(['', ...contractOperations]);
    expect(lines.filter(({ contract }) => !known.has(contract)).map(({ contract }) => contract)).toEqual([]);
  });
});
