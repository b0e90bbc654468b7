#!/usr/bin/env bash
# graphql-sse 2.6.1 and graphql-ws 6.4.2 repeat mutations. When the connection breaks before an operation is complete, both connect again and send it once
# more by themselves, whatever kind it is: a mutation that the server has carried out is carried out again, and nothing tells the caller. `retryAttempts`,
# five by default, does not bound it where the server gave an event first, since each event begins the count anew: a subscription that asks a model and
# whose stream is cut after its first words, as by a proxy with a time limit, is asked, and paid for, without end, and the caller's sink gets the words
# of all answers as one. Both call these retries silent, and neither says that mutations are among them. So send mutations by plain HTTP, or with
# `retryAttempts: 0`, and let a subscription that acts return an id with which another one goes on.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund graphql-sse@2.6.1 graphql-ws@6.4.2 graphql@16.15.0 ws@8.23.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient as createWsClient } from 'graphql-ws';
import WebSocket, { WebSocketServer } from 'ws';

const cuts = 8;
let received = 0;
const server = createServer(async (request, response) => {
  const { query } = JSON.parse(Buffer.concat(await request.toArray()));
  received += 1;
  const isCut = received <= cuts;
  // A mutation has done its work and loses its reply; a subscription loses the rest behind its first event.
  if (query.startsWith('mutation') && received <= 3) return response.destroy();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('event: next\ndata: {"data":{"pay":"one"}}\n\n', () => {
    if (query.startsWith('subscription') && isCut) setTimeout(() => response.destroy(), 30);
    else response.end('event: complete\ndata:\n\n');
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'graphql-transport-ws' });
await new Promise((resolve) => sockets.once('listening', resolve));
sockets.on('connection', (socket) => {
  socket.on('message', (text) => {
    const { type, id, payload } = JSON.parse(text);
    if (type === 'connection_init') return socket.send('{"type":"connection_ack"}');
    if (type !== 'subscribe') return;
    received += 1;
    if (payload.query.startsWith('mutation') && received <= 3) return socket.terminate();
    socket.send(JSON.stringify({ id, type: 'next', payload: { data: { pay: 'one' } } }), () => {
      if (payload.query.startsWith('subscription') && received <= cuts) setTimeout(() => socket.terminate(), 30);
      else socket.send(JSON.stringify({ id, type: 'complete' }));
    });
  });
});
const clients = {
  'graphql-sse': (options) => createSseClient({ url: `http://127.0.0.1:${server.address().port}`, retry: async () => {}, ...options }),
  'graphql-ws': (options) => createWsClient({ url: `ws://127.0.0.1:${sockets.address().port}`, webSocketImpl: WebSocket, retryWait: async () => {}, ...options }),
};
const run = async (client, query) => {
  received = 0;
  const events = [];
  const end = await new Promise((resolve) =>
    client.subscribe({ query }, { next: ({ data }) => events.push(data.pay), error: () => resolve('fails'), complete: () => resolve('completes') }));
  return `sent ${received} times, ${events.length} events, ${end}`;
};
const seen = [];
for (const [name, create] of Object.entries(clients)) {
  for (const [query, options] of [['mutation { pay }', {}], ['subscription { pay }', {}], ['mutation { pay }', { retryAttempts: 0 }]]) {
    seen.push(await run(create(options), query));
    console.log(`${name}, ${query}${options.retryAttempts === 0 ? ' with retryAttempts: 0' : ''}: ${seen.at(-1)}`);
  }
}
const expected = ['sent 4 times, 1 events, completes', 'sent 9 times, 9 events, completes', 'sent 1 times, 0 events, fails'];
if (seen.join() !== [...expected, ...expected].join()) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in graphql-sse graphql-ws; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   graphql-sse, mutation { pay }: sent 4 times, 1 events, completes
#   graphql-sse, subscription { pay }: sent 9 times, 9 events, completes
#   graphql-sse, mutation { pay } with retryAttempts: 0: sent 1 times, 0 events, fails
#   graphql-ws, mutation { pay }: sent 4 times, 1 events, completes
#   graphql-ws, subscription { pay }: sent 9 times, 9 events, completes
#   graphql-ws, mutation { pay } with retryAttempts: 0: sent 1 times, 0 events, fails
