import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  isRequiredArgument,
  buildSchema as parseSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { fieldComplexity } from '../../../src/graphql/ground/builder/complexity.ts';
import { buildSchema } from '../../../src/graphql/schema.ts';
import { testSettings } from '../../support/settings.ts';

const { GRAPHQL_COST_MAX: costMax, LIST_MAX: listMax } = testSettings({});

const page = '(first: Int, after: String, last: Int, before: String)';
const circle = parseSchema(`
  type Query { agents${page}: AgentConnection! nodes(ids: [ID!]!): [Agent]! }
  type AgentConnection { nodes: [Agent!]! edges: [AgentEdge!]! }
  type AgentEdge { node: Agent! }
  type Agent { id: ID! chats${page}: ChatConnection! groups: [Group!]! }
  type Group { id: ID! agents${page}: AgentConnection! }
  type ChatConnection { nodes: [Chat!]! }
  type Chat { id: ID! agent: Agent messages${page}: MessageConnection! }
  type MessageConnection { nodes: [Message!]! }
  type Message { id: ID! run: Run }
  type Run { id: ID! agent: Agent }
`);
for (const type of Object.values(circle.getTypeMap()).filter(isObjectType)) {
  for (const field of Object.values(type.getFields())) field.extensions = { complexity: fieldComplexity };
}

function costOf(schema: GraphQLSchema, query: string, variables: Readonly<Record<string, unknown>> = {}): number {
  return complexityFromQuery(query, { schema, variables, ctx: { listMax } }).complexity;
}

describe('the cost of an operation', () => {
  it('multiplies pages within pages, asked for from either end', () => {
    const nested = (outer: string, inner: string) =>
      costOf(circle, `{ agents(${outer}) { nodes { chats(${inner}) { nodes { id } } } } }`);
    expect(nested('first: 10', 'first: 50')).toBeCloseTo(nested('last: 10', 'last: 50'));
    expect(nested('first: 10', 'last: 50')).toBeGreaterThan(10 * 50);
    expect(nested('first: 10', 'last: 50')).toBeLessThan(10 * 50 * 3);
    const byVariables = costOf(
      circle,
      'query ($n: Int) { agents(last: $n) { edges { node { chats(last: $n) { nodes { id } } } } } }',
      { n: 100 },
    );
    expect(byVariables).toBeGreaterThan(100 * 100);
  });

  it.each([['last: 0'], ['last: -5'], ['first: 1000000'], ['first: 1, last: 100'], ['last: 1, first: 100']])(
    'is that of the longest page for a size that is refused: %s',
    (size) => {
      const query = (args: string) => `{ agents(${args}) { nodes { id } } }`;
      expect(costOf(circle, query(size))).toBeCloseTo(costOf(circle, query(`first: ${listMax}`)));
    },
  );

  it('counts the things that a request names', () => {
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { chats(first: 100) { nodes { id } } } }';
    expect(costOf(circle, query, { ids: Array(100).fill('ai_1') })).toBeGreaterThan(100 * 100);
    expect(costOf(circle, query, { ids: ['ai_1'] })).toBeLessThan(300);
  });

  it('is too much for edges in a circle', () => {
    const messages = (size: string, inner: string) =>
      `chats(${size}) { nodes { messages(${size}) { nodes { run { agent { ${inner} } } } } } }`;
    for (const size of ['first: 30', 'last: 30']) {
      expect(costOf(circle, `{ agents(${size}) { nodes { ${messages(size, 'id')} } } }`)).toBeGreaterThan(costMax);
      expect(costOf(circle, `{ agents(first: 1) { nodes { ${messages(size, messages(size, 'id'))} } } }`)).toBeGreaterThan(
        costMax,
      );
    }
    // What a front end shows.
    expect(costOf(circle, `{ agents(first: 50) { nodes { id chats(first: 20) { nodes { id agent { id } } } } } }`)).toBeLessThan(
      costMax,
    );
    expect(
      costOf(
        circle,
        `{ agents(first: 1) { nodes { chats(first: 1) { nodes { messages(last: 50) { nodes { run { agent { id } } } } } } } } }`,
      ),
    ).toBeLessThan(costMax);
  });
});

describe('in the schema', () => {
  const schema = buildSchema();

  it('every chain of three full pages costs too much', () => {
    const cheap = chains(schema).filter((query) => costOf(schema, query) <= costMax);
    expect(cheap).toEqual([]);
  });
});

/** Queries with a connection in a connection in a connection, each with a hundred items. */
function chains(schema: GraphQLSchema): readonly string[] {
  const root = schema.getQueryType();
  if (root === undefined || root === null) return [];
  const below = (type: GraphQLObjectType, levels: number): readonly string[] => {
    if (levels === 0) return ['__typename'];
    return Object.values(type.getFields()).flatMap((field) => {
      const connection = getNamedType(field.type);
      const node = isObjectType(connection) ? getNamedType(connection.getFields().nodes?.type ?? connection) : undefined;
      if (!field.args.some(({ name }) => name === 'last') || !isObjectType(node) || node === connection) return [];
      const required = field.args.filter(isRequiredArgument).map(({ name }) => `${name}: "x"`);
      const args = [...required, levels % 2 === 0 ? 'last: 100' : 'first: 100'].join(', ');
      return below(node, levels - 1).map((inner) => `${field.name}(${args}) { nodes { ${inner} } }`);
    });
  };
  return below(root, 3).map((fields) => `{ ${fields} }`);
}
