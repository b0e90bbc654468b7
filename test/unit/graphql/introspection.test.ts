import { getIntrospectionQuery, getOperationAST, parse } from 'graphql';
import { expect, it } from 'vitest';
import { buildSchema } from '../../../src/graphql/schema.ts';
import { MergedDocument } from '../../../src/graphql/server/documents/merged-fields.ts';
import { weigh } from '../../../src/graphql/server/documents/weight.ts';
import { loadSettings } from '../../../src/settings.ts';

it('tools may read the whole schema, with all that they ask for, and a quarter of the limit is left', () => {
  const { GRAPHQL_COST_MAX, LIST_MAX } = loadSettings({});
  const everything = {
    ...{ descriptions: true, specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true },
    ...{ inputValueDeprecation: true, experimentalDirectiveDeprecation: true, oneOf: true },
  };
  const document = parse(getIntrospectionQuery(everything));
  const operation = getOperationAST(document);
  if (operation === null || operation === undefined) throw new Error('no operation');
  const { cost } = weigh(new MergedDocument(buildSchema(), document, 100_000), operation, {}, LIST_MAX);
  expect(cost).toBeLessThan(0.75 * GRAPHQL_COST_MAX);
  expect(cost).toBeGreaterThan(1_000);
});
