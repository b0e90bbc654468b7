#!/usr/bin/env bash
# @graphql-tools/executor-http 3.4.1 (the executor of remote schemas and gateways) reads event streams otherwise than the standard. A character of
# several bytes that two packets divide becomes two marks of replacement, in the data, without an error. Lines that end with CR LF, as the standard
# allows and some servers and proxies write, are no events to it: the subscription ends at once, as if it were complete. And a stream that ends
# without `complete` is complete too. graphql-sse 2.6.1 reads all three right. So a subscription of words behind a gateway loses letters now and then;
# a server protects it by escapes (\u00f6) in what it streams, or by bytes that never wait for each other.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @graphql-tools/executor-http@3.4.1 graphql-sse@2.6.1 graphql@16.15.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildHTTPExecutor } from '@graphql-tools/executor-http';
import { parse } from 'graphql';
import { createClient } from 'graphql-sse';

const query = 'subscription { word }';
const next = (word) => `event: next\ndata: ${JSON.stringify({ data: { word } })}\n\n`;
const complete = 'event: complete\ndata:\n\n';
const umlauts = Buffer.from(next('größer') + complete);
/** Answers, as the packets in which they leave. */
const answers = {
  'one packet': [umlauts],
  'a character in two packets': [umlauts.subarray(0, umlauts.indexOf('ö') + 1), umlauts.subarray(umlauts.indexOf('ö') + 1)],
  'CR LF': [(next('größer') + complete).replaceAll('\n', '\r\n')],
  'an end without complete': [next('größer')],
};
const clients = {
  'executor-http': async (endpoint) => {
    const words = [];
    for await (const { data } of await buildHTTPExecutor({ endpoint })({ document: parse(query) })) words.push(data.word);
    return [...words, 'complete'];
  },
  'graphql-sse': (url) =>
    new Promise((resolve) => {
      const words = [];
      const sink = {
        next: ({ data }) => words.push(data.word),
        error: () => resolve([...words, 'error']),
        complete: () => resolve([...words, 'complete']),
      };
      createClient({ url, retryAttempts: 0 }).subscribe({ query }, sink);
    }),
};
const seen = {};
for (const [name, packets] of Object.entries(answers)) {
  const server = createServer(async (_request, response) => {
    response.socket.setNoDelay(true);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const packet of packets) {
      response.write(packet);
      await sleep(200);
    }
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  for (const [client, follow] of Object.entries(clients)) {
    seen[`${name}, ${client}`] = (await follow(`http://127.0.0.1:${server.address().port}`)).join(' ');
    console.log(`${name}, ${client}: ${seen[`${name}, ${client}`]}`);
  }
  server.closeAllConnections();
  server.close();
}
const expected = {
  'one packet, executor-http': 'größer complete',
  'one packet, graphql-sse': 'größer complete',
  'a character in two packets, executor-http': 'gr\uFFFD\uFFFDßer complete',
  'a character in two packets, graphql-sse': 'größer complete',
  'CR LF, executor-http': 'complete',
  'CR LF, graphql-sse': 'größer complete',
  'an end without complete, executor-http': 'größer complete',
  'an end without complete, graphql-sse': 'größer error',
};
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @graphql-tools/executor-http graphql-sse; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   one packet, executor-http: größer complete
#   one packet, graphql-sse: größer complete
#   a character in two packets, executor-http: gr��ßer complete
#   a character in two packets, graphql-sse: größer complete
#   CR LF, executor-http: complete
#   CR LF, graphql-sse: größer complete
#   an end without complete, executor-http: größer complete
#   an end without complete, graphql-sse: größer error
