import { type DocumentNode, execute, GraphQLObjectType, GraphQLScalarType, GraphQLSchema, GraphQLString, parse } from 'graphql';
import { beforeEach, expect, it } from 'vitest';
import { readEventArgs } from '../../../src/graphql/server/events.ts';

let readCount = 0;
beforeEach(() => {
  readCount = 0;
});
const Long = new GraphQLScalarType({
  name: 'Long',
  parseValue: (value) => {
    readCount += 1;
    return value;
  },
});
const Event = new GraphQLObjectType({
  name: 'Event',
  fields: {
    text: { type: GraphQLString, args: { end: { type: GraphQLString } }, resolve: (text, { end }) => `${text}${end ?? ''}` },
    whole: { type: GraphQLString, resolve: (text) => text },
  },
});
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { none: { type: GraphQLString } } }),
  subscription: new GraphQLObjectType({
    name: 'Subscription',
    fields: {
      told: {
        type: Event,
        args: { prompt: { type: Long }, start: { type: GraphQLString, defaultValue: 'a ' } },
        resolve: (event, { start, prompt }) => `${start}${event} of ${prompt}`,
      },
    },
  }),
});

function run(document: DocumentNode, variableValues: Record<string, unknown>, count = 3) {
  const eventArgs = readEventArgs({ schema, document, variableValues, operationName: 'Told' });
  return Array.from({ length: count }, (_, index) => execute(eventArgs(`event ${index}`)));
}

it('the arguments of a subscription are read once, for all of its events', () => {
  const document = parse(`subscription Told($prompt: Long, $end: String = "!", $off: Boolean!, $unused: Long) {
    told(prompt: $prompt) { ...Text whole @skip(if: $off) } }
    fragment Text on Event { text(end: $end) } subscription Other { told { whole } }`);
  const results = run(document, { prompt: 'a book', off: true, unused: 1 });
  expect(results).toEqual([0, 1, 2].map((index) => ({ data: { told: { text: `a event ${index} of a book!` } } })));
  expect(readCount).toBe(2);
});

it('a root field in a fragment is told as well', () => {
  const document = parse(
    'subscription Told($prompt: Long) { ...Root } fragment Root on Subscription { also: told(prompt: $prompt) { whole } }',
  );
  expect(run(document, { prompt: 'a book' }, 1)).toEqual([{ data: { also: { whole: 'a event 0 of a book' } } }]);
});
