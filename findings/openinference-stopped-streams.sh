#!/usr/bin/env bash
# @arizeai/openinference-instrumentation-openai 4.2.7, which records calls of openai 7.59.0 as traces, keeps a stopped answer running. `break` in a
# `for await` over a stream of the SDK ends the request: the server sees the connection close and stops making words, and so does a reply whose reader
# leaves. With the instrumentation the stream is divided in two, one for the caller and one for the trace, and the trace reads on: the whole answer
# is made, paid for and recorded as if somebody had read it, of chat completions as of responses. Nothing is raised, and its documentation is silent
# about streams that are left. `controller.abort()` of the stream, a `signal` given to the call, and the helper `chat.completions.stream()` still end it.
# So call `stream.controller.abort()` wherever a loop is left, or give each call a signal.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @arizeai/openinference-instrumentation-openai@4.2.7 @opentelemetry/api@1.9.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import OpenAI from 'openai';

let words = 0;
let closed = Promise.resolve();
const server = createServer(async (request, response) => {
  await request.toArray();
  closed = new Promise((resolve) => response.once('close', resolve));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const toEvent = (word) => request.url.endsWith('/responses')
    ? { type: 'response.output_text.delta', sequence_number: words, item_id: 'i', output_index: 0, content_index: 0, delta: word }
    : { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: word }, finish_reason: null }] };
  for (words = 0; words < 30 && !response.destroyed; words += 1) {
    response.write(`data: ${JSON.stringify(toEvent('word '))}\n\n`);
    await sleep(20);
  }
  response.end('data: [DONE]\n\n');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const client = () => new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${server.address().port}/v1`, maxRetries: 0 });
const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true };
const readThree = async (stream, leave = () => {}) => {
  let count = 0;
  try {
    for await (const chunk of stream) if ((count += 1) === 3) break;
  } catch {}
  leave();
  await closed;
  return words < 20 ? 'stopped' : 'made whole';
};
const ways = {
  'chat completions, break': async () => readThree(await client().chat.completions.create(question)),
  'responses, break': async () => readThree(await client().responses.create({ model: 'm', input: 'Hi', stream: true })),
  'chat completions, controller.abort()': async () => {
    const stream = await client().chat.completions.create(question);
    return readThree(stream, () => stream.controller.abort());
  },
  'chat completions, signal': async () => {
    const control = new AbortController();
    return readThree(await client().chat.completions.create(question, { signal: control.signal }), () => control.abort());
  },
  'the helper stream(), break': async () => readThree(client().chat.completions.stream(question)),
};
const seen = [];
for (const name of ['alone', 'instrumented']) {
  if (name === 'instrumented') new OpenAIInstrumentation().manuallyInstrument(OpenAI);
  for (const [way, run] of Object.entries(ways)) {
    seen.push(await run());
    console.log(`${name}, ${way}: ${seen.at(-1)}`);
  }
}
const [stopped, whole] = ['stopped', 'made whole'];
if (seen.join() !== [stopped, stopped, stopped, stopped, stopped, whole, whole, stopped, stopped, stopped].join()) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in openai @arizeai/openinference-instrumentation-openai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   alone, chat completions, break: stopped
#   alone, responses, break: stopped
#   alone, chat completions, controller.abort(): stopped
#   alone, chat completions, signal: stopped
#   alone, the helper stream(), break: stopped
#   instrumented, chat completions, break: made whole
#   instrumented, responses, break: made whole
#   instrumented, chat completions, controller.abort(): stopped
#   instrumented, chat completions, signal: stopped
#   instrumented, the helper stream(), break: stopped
