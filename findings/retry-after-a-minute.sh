#!/usr/bin/env bash
# A `Retry-After` over a minute is read in opposite ways. openai 7.59.0 and the AI SDK (ai 7.0.173) take it for no advice and repeat after half a second
# and two seconds: the longer a server asks them to wait, the sooner they come back. @anthropic-ai/sdk 1.14.0, made by the same generator as the
# former, waits as long as it is told, within the pending call and up to 24 days, though its own limit for a request is ten minutes. With 59 seconds all
# wait. `x-should-retry: false` stops both SDKs at once; the AI SDK does not read it, and repeats. So a service whose quota comes back tomorrow should
# send that header with the refusal, and must bear the repetitions of those who ignore it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @anthropic-ai/sdk@1.14.0 ai@7.0.173 @ai-sdk/openai-compatible@3.0.92 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { generateText } from 'ai';
import OpenAI from 'openai';

const messages = [{ role: 'user', content: 'Hi' }];
const clients = {
  openai: (baseURL, signal) => new OpenAI({ apiKey: 'none', baseURL }).chat.completions.create({ model: 'm', messages }, { signal }),
  anthropic: (baseURL, signal) => new Anthropic({ apiKey: 'none', baseURL }).messages.create({ model: 'm', max_tokens: 9, messages }, { signal }),
  ai: (baseURL, abortSignal) =>
    generateText({ model: createOpenAICompatible({ name: 'p', apiKey: 'none', baseURL })('m'), messages, abortSignal }),
};
const watchedMs = 3_500;
/** What a client does within the time that is watched after a refusal. */
async function act(call, headers) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume().on('end', () => {
      response.writeHead(429, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify({ error: { type: 'rate_limit_error', message: 'The quota is used up', code: 'rate_limit_exceeded' } }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const leave = new AbortController();
  const waiting = new Promise((resolve) => setTimeout(resolve, watchedMs, 'waits'));
  const outcome = await Promise.race([call(`http://127.0.0.1:${server.address().port}`, leave.signal).catch(() => 'gives up'), waiting]);
  leave.abort();
  server.closeAllConnections();
  server.close();
  return requests > 1 ? 'repeats' : outcome;
}
const cases = {
  'after 59 s': { 'retry-after': '59' },
  'after 61 s': { 'retry-after': '61' },
  'after 61 s, x-should-retry: false': { 'retry-after': '61', 'x-should-retry': 'false' },
};
const expected = [
  ['waits', 'waits', 'waits'],
  ['repeats', 'waits', 'repeats'],
  ['gives up', 'gives up', 'repeats'],
];
const seen = await Promise.all(
  Object.values(cases).map((headers) => Promise.all(Object.values(clients).map((call) => act(call, headers)))),
);
for (const [index, name] of Object.keys(cases).entries()) {
  console.log(`${name}: ${Object.keys(clients).map((client, place) => `${client} ${seen[index][place]}`).join(', ')}`);
}
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in openai @anthropic-ai/sdk ai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   after 59 s: openai waits, anthropic waits, ai waits
#   after 61 s: openai repeats, anthropic waits, ai repeats
#   after 61 s, x-should-retry: false: openai gives up, anthropic gives up, ai repeats
