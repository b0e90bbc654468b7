#!/usr/bin/env bash
# A client that @hey-api/openapi-ts 0.99.0 generates for an operation that answers with `text/event-stream` is no request that ends. A POST whose stream
# breaks off is sent again, without end, and the caller gets the words of all answers one behind the other. A refusal (401, 400, 429) is sent
# again too, without end: `for await` gets neither an error nor a value, and hangs; only `onSseError` is told. `break` does not close the connection, so
# the server makes the rest for nobody. Of data that is text, the space with which most tokens begin is lost (the standard takes one off, it takes
# all), and "1.10" becomes the number 1.1. For questions to a model each of these is money or a wrong answer. Its documentation names the options, not
# what they default to: so give `sseMaxRetryAttempts: 1`, throw in `onSseError`, pass a `signal` and abort it, and let the data be JSON.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=module
npm install --silent --no-audit --no-fund @hey-api/openapi-ts@0.99.0 typescript@5.9.3 esbuild@0.28.1 >/dev/null
cat >api.json <<'JSON'
{"openapi": "3.1.0", "info": {"title": "Words", "version": "1"}, "paths": {"/ask": {"post": {"operationId": "ask",
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "properties": {"question": {"type": "string"}}}}}},
  "responses": {"200": {"description": "Words", "content": {"text/event-stream": {"schema": {"type": "string"}}}}}}}}}
JSON
npx openapi-ts -i api.json -o client >/dev/null
npx esbuild client/index.ts client/client.gen.ts --bundle --splitting --format=esm --platform=node --outdir=built --log-level=error
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { client } from './built/client.gen.js';
import { ask } from './built/index.js';

let requests = 0;
let words = 0;
let answer;
let closed;
const server = createServer(async (request, response) => {
  await request.toArray();
  requests += 1;
  closed = new Promise((resolve) => response.once('close', resolve));
  await answer(response);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
client.setConfig({ baseUrl: `http://127.0.0.1:${server.address().port}` });
const begin = (response) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const seen = {};
const read = async (answerWith, options, countMax = Infinity) => {
  [requests, answer] = [0, answerWith];
  const got = [];
  const { stream } = await ask({ body: { question: 'Hi' }, sseSleepFn: async () => {}, ...options });
  for await (const value of stream) if (got.push(value) === countMax) break;
  return got;
};

const cut = await read(async (response) => {
  begin(response).write('data: {"word":"one"}\n\n');
  await sleep(50);
  if (requests < 10) response.destroy();
  else response.end('data: {"word":"two"}\n\n');
});
seen['cut nine times'] = `${requests} requests, ${cut.map(({ word }) => word).join(' ')}`;

const stop = new AbortController();
const refused = await read((response) => {
  if (requests === 40) stop.abort();
  response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"the key has expired"}');
}, { signal: stop.signal });
seen['refused with 401'] = `${requests >= 40 ? 'asked until it was aborted' : `${requests} requests`}, ${refused.length} values, no error`;

await read(async (response) => {
  begin(response);
  for (words = 0; words < 30 && !response.destroyed; words += 1) {
    response.write('data: {"word":"one"}\n\n');
    await sleep(20);
  }
  response.end();
}, {}, 3);
await closed;
seen['left after three words'] = `${words} words made`;

seen['texts " Hello", " world", "1.10"'] = JSON.stringify(await read((response) => begin(response).end('data:  Hello\n\ndata:  world\n\ndata: 1.10\n\n')));
for (const [name, value] of Object.entries(seen)) console.log(`${name}: ${value}`);
const expected = [
  '10 requests, one one one one one one one one one one two',
  'asked until it was aborted, 0 values, no error',
  '30 words made',
  '["Hello","world",1.1]',
];
if (Object.values(seen).join() !== expected.join()) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @hey-api/openapi-ts; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   cut nine times: 10 requests, one one one one one one one one one one two
#   refused with 401: asked until it was aborted, 0 values, no error
#   left after three words: 30 words made
#   texts " Hello", " world", "1.10": ["Hello","world",1.1]
