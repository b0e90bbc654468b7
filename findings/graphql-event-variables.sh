#!/usr/bin/env bash
# graphql 16.15.0: `subscribe` executes the whole operation anew for each event, and so coerces all of its variables and the arguments of its root field
# again, though the source has long had them. A scalar's parseValue is called once more at each event: a subscription that streams an answer word by word
# walks through the request, a long conversation perhaps, at every word.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund graphql@16.15.0 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { GraphQLInputObjectType, GraphQLList, GraphQLObjectType, GraphQLScalarType, GraphQLSchema, GraphQLString, parse, subscribe } from 'graphql';

let parsedCount = 0;
const Text = new GraphQLScalarType({ name: 'Text', parseValue: (value) => ((parsedCount += 1), value) });
const Input = new GraphQLInputObjectType({ name: 'Input', fields: { messages: { type: new GraphQLList(Text) } } });
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { none: { type: GraphQLString } } }),
  subscription: new GraphQLObjectType({
    name: 'Subscription',
    fields: {
      words: {
        type: GraphQLString,
        args: { input: { type: Input } },
        async *subscribe() {
          for (let word = 0; word < 50; word += 1) yield `word ${word}`;
        },
        resolve: (word) => word,
      },
    },
  }),
});
console.log('graphql', JSON.parse(readFileSync('node_modules/graphql/package.json', 'utf8')).version);
const document = parse('subscription ($input: Input) { words(input: $input) }');
const variableValues = { input: { messages: Array.from({ length: 20 }, (_, index) => `message ${index}`) } };
const results = await subscribe({ schema, document, variableValues });
const atStart = parsedCount;
let events = 0;
for await (const _result of results) events += 1;
console.log(`parsed when it begins: ${atStart} values; by the end of ${events} events: ${parsedCount}`);
const isAsStated = atStart === 20 && parsedCount === 20 + 20 * 50;
console.log(isAsStated ? 'as stated: all variables are parsed at each event' : 'otherwise than stated');
process.exit(isAsStated ? 0 : 1);
JS
node run.mjs

# Output seen:
# graphql 16.15.0
# parsed when it begins: 20 values; by the end of 50 events: 1020
# as stated: all variables are parsed at each event
