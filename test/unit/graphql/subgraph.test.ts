import { composeServices, compositionHasErrors } from '@theguild/federation-composition';
import { buildSchema as buildSdl, isObjectType, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { printedSubgraph } from '../../../scripts/support/subgraph.ts';
import { operationScopes } from '../../../src/domain/ground/access/operation-scopes.ts';
import { buildSchema } from '../../../src/graphql/schema.ts';

const text = printedSubgraph(buildSchema());
const parley = { name: 'parley', typeDefs: parse(text), url: 'http://127.0.0.1:4000/graphql' };

/** Another team's: tickets, and how many each agent has. */
const tickets = {
  name: 'tickets',
  url: 'http://127.0.0.1:4001/graphql',
  typeDefs: parse(`
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
    type Query { tickets: TicketConnection! }
    type TicketConnection { nodes: [Ticket!]! pageInfo: PageInfo! }
    type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
    type Ticket @key(fields: "id") { id: ID! title: String! }
    type Agent @key(fields: "id") { id: ID! openTickets: Int! }
  `),
};

describe('npm run schema -- --subgraph', () => {
  it('composes, alone and with a subgraph that adds fields to agents', () => {
    for (const services of [[parley], [parley, tickets]]) {
      const composed = composeServices(services);
      expect(compositionHasErrors(composed) ? composed.errors.map(({ message }) => message) : []).toEqual([]);
    }
    const composed = composeServices([parley, tickets]);
    if (compositionHasErrors(composed)) throw new Error('it does not compose');
    const agent = buildSdl(composed.publicSdl ?? '', { assumeValid: true }).getType('Agent');
    expect(isObjectType(agent) && Object.keys(agent.getFields())).toEqual(
      expect.arrayContaining(['instructions', 'openTickets']),
    );
  });

  it('says of every root field which scope it asks for', () => {
    const rules: Record<string, string | null> = {};
    for (const definition of parley.typeDefs.definitions) {
      if (definition.kind !== 'ObjectTypeDefinition' || !['Query', 'Mutation', 'Subscription'].includes(definition.name.value))
        continue;
      for (const { name, directives = [] } of definition.fields ?? []) {
        const [scope] = directives.find((directive) => directive.name.value === 'access')?.arguments ?? [];
        rules[`${definition.name.value}.${name.value}`] = scope?.value.kind === 'StringValue' ? scope.value.value : null;
      }
    }
    expect(rules).toEqual(operationScopes);
  });
});
