#!/usr/bin/env bash
# The option `idempotencyKey` of openai 7.59.0 and @anthropic-ai/sdk 1.14.0 ("A unique key for this request to enable idempotency", in the types of both)
# sends nothing: the clients have no header for it, and only a subclass can name one (`idempotencyHeader`, a protected member). Both repeat a POST by
# themselves after a broken connection, a timeout, 408, 409, 429 and 5xx, and neither makes a key for that, so the server cannot tell a repetition from
# a second request: an answer that was lost on its way is made, and paid for, twice. Whoever serves `Idempotency-Key` has to tell users of these
# clients to give it among `headers`, which the repetition keeps.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @anthropic-ai/sdk@1.14.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const messages = [{ role: 'user', content: 'Hi' }];
const completion = {
  id: 'c', object: 'chat.completion', created: 1, model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
};
const message = {
  id: 'm', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn', stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};
const clients = {
  openai: (baseURL, options) => new OpenAI({ apiKey: 'none', baseURL }).chat.completions.create({ model: 'm', messages }, options),
  '@anthropic-ai/sdk': (baseURL, options) =>
    new Anthropic({ apiKey: 'none', baseURL }).messages.create({ model: 'm', max_tokens: 9, messages }, options),
};
/** The key of each request of a call whose first answer is lost: the connection breaks before it. */
async function keysOf(call, options) {
  const keys = [];
  const server = createServer((request, response) => {
    keys.push(request.headers['idempotency-key'] ?? 'none');
    request.resume().on('end', () => {
      if (keys.length === 1) return request.socket.destroy();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(request.url.endsWith('/messages') ? message : completion));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  await call(`http://127.0.0.1:${server.address().port}`, options);
  server.closeAllConnections();
  server.close();
  return keys.join(', ');
}
let isAsStated = true;
for (const [name, call] of Object.entries(clients)) {
  const byOption = await keysOf(call, { idempotencyKey: 'order-1' });
  const byHeader = await keysOf(call, { headers: { 'Idempotency-Key': 'order-1' } });
  console.log(`${name}: keys with the option: ${byOption}; with the header: ${byHeader}`);
  isAsStated &&= byOption === 'none, none' && byHeader === 'order-1, order-1';
}
if (!isAsStated) console.error('It behaves otherwise now.');
process.exit(isAsStated ? 0 : 1);
JS
for name in openai @anthropic-ai/sdk; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   openai: keys with the option: none, none; with the header: order-1, order-1
#   @anthropic-ai/sdk: keys with the option: none, none; with the header: order-1, order-1
