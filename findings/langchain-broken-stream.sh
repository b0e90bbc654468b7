#!/usr/bin/env bash
# LangChain takes a stream that breaks off, and one whose response failed, as a whole answer. @langchain/anthropic 1.5.11 and @langchain/openai 1.6.0
# wait for no end: without `message_stop`, without a finish reason and `[DONE]`, what came is the message, with no error. With `useResponsesApi` even
# the event `response.failed` is skipped: neither its error nor the status is in the message. Only the missing finish reason or usage tells. (The SDKs
# below them do throw for the first two when asked for a final message.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @langchain/anthropic@1.5.11 @langchain/openai@1.6.0 @langchain/core@1.4.0 >/dev/null
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
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { named, serve, unnamed } from './serve.mjs';

const ask = async (name, model) => {
  let message;
  for await (const chunk of await model.stream('Hi')) message = message === undefined ? chunk : message.concat(chunk);
  const { finish_reason: finish, status, error } = message.response_metadata;
  const { stop_reason: stop } = message.additional_kwargs;
  console.log(name, JSON.stringify({ text: message.text, finish, stop, status, error }));
  return message.text === 'Take two' && [finish, stop, status, error].every((value) => value === undefined || value === null);
};
const usage = { input_tokens: 100, output_tokens: 0 };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null, stop_sequence: null, usage };
const anthropic = await serve(
  named([
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Take two' } },
  ]),
);
const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
const chat = await serve(
  unnamed([{ ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Take two' }, finish_reason: null }] }]),
);
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [], tools: [], status: 'in_progress', error: null };
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const item = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] };
const failure = { code: 'server_error', message: 'The model is gone' };
const failed = await serve(
  named([
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.content_part.added', ...place, part: { type: 'output_text', text: '', annotations: [] } },
    { type: 'response.output_text.delta', ...place, delta: 'Take two', logprobs: [] },
    { type: 'response.failed', response: { ...response, status: 'failed', error: failure } },
  ].map((event, index) => ({ ...event, sequence_number: index }))),
);
const openai = (url, more) => new ChatOpenAI({ model: 'gpt-4o', apiKey: 'none', maxRetries: 0, configuration: { baseURL: url }, ...more });
const silent = [
  await ask('Anthropic, cut:', new ChatAnthropic({ model: 'claude-sonnet-4-5', apiKey: 'none', maxRetries: 0, anthropicApiUrl: anthropic.url })),
  await ask('chat completions, cut:', openai(chat.url)),
  await ask('responses, failed:', openai(failed.url, { useResponsesApi: true })),
];
if (silent.includes(false)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in @langchain/anthropic @langchain/openai @langchain/core; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   Anthropic, cut: {"text":"Take two"}
#   chat completions, cut: {"text":"Take two"}
#   responses, failed: {"text":"Take two"}
