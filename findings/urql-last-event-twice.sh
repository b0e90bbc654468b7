#!/usr/bin/env bash
# urql 5.0.4 (@urql/core 6.0.3) gives the last event of a subscription twice: when the stream completes, it passes the last result on once more with
# `hasNext: false`. The handler of `useSubscription`, whose purpose is to join events, gets no such mark and joins it twice, over graphql-sse as well as
# over its own reader: "one two three" becomes "one two threethree". So an answer that streams as text has to end with an event without text, or events
# need numbers, by which a handler leaves out what it has.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund urql@5.0.4 @urql/core@6.0.3 graphql@16.15.0 graphql-sse@2.6.1 react@19.3.1 react-dom@19.3.1 happy-dom@21.0.4 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-sse';
import { Window } from 'happy-dom';

globalThis.window = new Window();
globalThis.document = window.document;
globalThis.navigator ??= window.navigator;
const { createElement } = await import('react');
const { createRoot } = await import('react-dom/client');
const { Client, Provider, fetchExchange, subscriptionExchange, useSubscription } = await import('urql');

let sentEvents = 0;
const server = createServer(async (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const word of ['one ', 'two ', 'three']) {
    sentEvents += 1;
    response.write(`event: next\ndata: ${JSON.stringify({ data: { word } })}\n\n`);
    await sleep(50);
  }
  response.end('event: complete\ndata:\n\n');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const stream = createClient({ url });
const forwardSubscription = (operation) => ({ subscribe: (sink) => ({ unsubscribe: stream.subscribe(operation, sink) }) });
const clients = {
  'its own reader': new Client({ url, preferGetMethod: false, fetchSubscriptions: true, exchanges: [fetchExchange] }),
  'graphql-sse': new Client({ url, preferGetMethod: false, exchanges: [subscriptionExchange({ forwardSubscription })] }),
};
let isAsStated = true;
for (const [name, value] of Object.entries(clients)) {
  let text;
  sentEvents = 0;
  const Answer = () => {
    const [{ data }] = useSubscription({ query: 'subscription { word }' }, (before = '', { word }) => before + word);
    text = data;
    return null;
  };
  createRoot(document.body.appendChild(document.createElement('div'))).render(createElement(Provider, { value }, createElement(Answer)));
  await sleep(1_000);
  console.log(`${name}: ${sentEvents} events sent, joined: ${JSON.stringify(text)}`);
  isAsStated &&= sentEvents === 3 && text === 'one two threethree';
}
if (!isAsStated) console.error('It behaves otherwise now.');
process.exit(isAsStated ? 0 : 1);
JS
for name in urql @urql/core graphql-sse react; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   its own reader: 3 events sent, joined: "one two threethree"
#   graphql-sse: 3 events sent, joined: "one two threethree"
