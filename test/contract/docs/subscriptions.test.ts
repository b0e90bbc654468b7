import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { operationScopes } from '../../../src/domain/ground/access/operation-scopes.ts';
import { buildSchema } from '../../../src/graphql/schema.ts';

it('docs/subscriptions.md lists all subscriptions, with their scopes and with arguments that they have', () => {
  const page = readFileSync('docs/subscriptions.md', 'utf8');
  const fields = buildSchema().getSubscriptionType()?.getFields() ?? {};
  const rows = [...page.matchAll(/^\| `(\w+)(?:\(([^)]*)\))?` \| ([A-Z_]+:[A-Z]+) \|/gm)].map(
    ([, name = '', given = '', scope]) => {
      const known = fields[name]?.args.map((argument) => argument.name) ?? [];
      const unknown = given.split(', ').filter((argument) => argument !== '' && !known.includes(argument));
      return { name, scope, unknown };
    },
  );
  const expected = Object.keys(fields).map((name) => ({ name, scope: operationScopes[`Subscription.${name}`], unknown: [] }));
  const byName = (a: { readonly name: string }, b: { readonly name: string }) => a.name.localeCompare(b.name);
  expect(rows.toSorted(byName)).toEqual(expected.toSorted(byName));
});
