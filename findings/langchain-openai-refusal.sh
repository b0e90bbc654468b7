#!/usr/bin/env bash
# @langchain/openai 1.6.0 loses a refusal of chat completions: the message has no content and no `refusal` anywhere, streamed or not, so a model that
# says why it does not answer looks like one that said nothing. Through the responses API the same refusal is in `additional_kwargs.refusal`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @langchain/openai@1.6.0 @langchain/core@1.4.0 >/dev/null
cat >serve.mjs <<'JS'
import { createServer } from 'node:http';

/** A provider that answers every request with one text. */
export async function serve(text, type = 'text/event-stream') {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      server.lastBody = body;
      response.writeHead(200, { 'content-type': type });
      response.end(text);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  server.url = `http://127.0.0.1:${server.address().port}`;
  return server;
}
export const named = (events) => events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
export const unnamed = (events) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
JS
cat >probe.mjs <<'JS'
import { ChatOpenAI } from '@langchain/openai';
import { serve, unnamed } from './serve.mjs';

const refusal = 'I cannot help with that.';
const holds = (message) => JSON.stringify([message.content, message.additional_kwargs, message.response_metadata]).includes('cannot');
const model = (url, more) => new ChatOpenAI({ model: 'gpt-4o', apiKey: 'none', configuration: { baseURL: url }, ...more });

const completion = { id: 'c', object: 'chat.completion', created: 1, model: 'm' };
const choice = { index: 0, message: { role: 'assistant', content: null, refusal }, finish_reason: 'stop' };
const whole = await serve(JSON.stringify({ ...completion, choices: [choice] }), 'application/json');
const chunk = (delta, finish_reason = null) => ({
  ...{ ...completion, object: 'chat.completion.chunk' },
  choices: [{ index: 0, delta, finish_reason }],
});
const pieces = [chunk({ role: 'assistant', content: null, refusal: 'I cannot ' }), chunk({ refusal: 'help with that.' }), chunk({}, 'stop')];
const streamed = await serve(`${unnamed(pieces)}data: [DONE]\n\n`);
const item = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [{ type: 'refusal', refusal }] };
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', tools: [], status: 'completed', error: null, output: [item] };
const responses = await serve(JSON.stringify(response), 'application/json');

let joined;
for await (const part of await model(streamed.url).stream('Hi')) joined = joined === undefined ? part : joined.concat(part);
const seen = {
  'chat completions': holds(await model(whole.url).invoke('Hi')),
  'chat completions, streamed': holds(joined),
  responses: holds(await model(responses.url, { useResponsesApi: true }).invoke('Hi')),
};
console.log('the message holds the refusal:', JSON.stringify(seen));
if (JSON.stringify(Object.values(seen)) !== '[false,false,true]') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in @langchain/openai @langchain/core; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   the message holds the refusal: {"chat completions":false,"chat completions, streamed":false,"responses":true}
