#!/usr/bin/env bash
# LangChain counts tokens of a stream twice. @langchain/anthropic 1.5.11 adds the output tokens of `message_start` to those of `message_delta`, which
# are cumulative by Anthropic's documentation: 3, then 12, become 15 in `usage_metadata`. @langchain/openai 1.6.0 has the right sum in
# `usage_metadata`, and in `response_metadata.usage` twice the truth where the usage stands on the chunk with the finish reason, as several servers of
# the format send it: 112 becomes 224. Who bills by either bills too much.
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

const whole = async (stream) => {
  let message;
  for await (const chunk of await stream) message = message === undefined ? chunk : message.concat(chunk);
  return message;
};
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null, stop_sequence: null };
const anthropic = await serve(
  named([
    { type: 'message_start', message: { ...message, usage: { input_tokens: 100, output_tokens: 3 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 12 } },
    { type: 'message_stop' },
  ]),
);
const claude = new ChatAnthropic({ model: 'claude-sonnet-4-5', apiKey: 'none', anthropicApiUrl: anthropic.url });
const { usage_metadata: ofClaude } = await whole(claude.stream('Hi'));
console.log('Anthropic: said 12 output tokens, counted', ofClaude.output_tokens);

const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
const usage = { prompt_tokens: 100, completion_tokens: 12, total_tokens: 112 };
const openai = await serve(
  `${unnamed([
    { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
  ])}data: [DONE]\n\n`,
);
const gpt = new ChatOpenAI({ model: 'm', apiKey: 'none', configuration: { baseURL: openai.url } });
const { usage_metadata: right, response_metadata: raw } = await whole(gpt.stream('Hi'));
console.log('OpenAI: said 112 tokens, counted', right.total_tokens, 'and', raw.usage.total_tokens);
if (ofClaude.output_tokens !== 15 || right.total_tokens !== 112 || raw.usage.total_tokens !== 224) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in @langchain/anthropic @langchain/openai @langchain/core; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   Anthropic: said 12 output tokens, counted 15
#   OpenAI: said 112 tokens, counted 112 and 224
