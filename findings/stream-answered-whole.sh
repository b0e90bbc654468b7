#!/usr/bin/env bash
# A server that answers a request with `stream: true` by one JSON object (gateways do for cached answers, guards and errors with status 200), or by the
# page of a proxy's sign-in: clients take it for a stream without events and do not look at its content type. `for await` over openai 7.59.0 and
# @anthropic-ai/sdk 1.14.0, and `stream()` of @langchain/openai 1.6.0, end at once with nothing and no error, though the answer, or the reason why there
# is none, came whole. The stream helpers of both SDKs throw, of chunks that are missing; @ai-sdk/openai 4.0.118 ends with the finish reason
# "interrupted" and no error, @ai-sdk/openai-compatible 3.0.92 with one. So a server must stream also what it has whole, errors included once the
# status is sent, and a reader has to look at the content type.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @anthropic-ai/sdk@1.14.0 @langchain/openai@1.6.0 @langchain/core@1.4.0 ai@7.0.173 @ai-sdk/openai@4.0.118 @ai-sdk/openai-compatible@3.0.92 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { ChatOpenAI } from '@langchain/openai';
import { streamText } from 'ai';
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
const answers = {
  'the whole answer': (url) => ['application/json', JSON.stringify(url.endsWith('/messages') ? message : completion)],
  'an error': () => ['application/json', JSON.stringify({ error: { message: 'No credit left', type: 'insufficient_quota' } })],
  'a page': () => ['text/html', '<!doctype html><title>Sign in</title>'],
};
const count = async (stream) => {
  let parts = 0;
  for await (const _part of await stream) parts += 1;
  return `${parts} parts`;
};
const follow = async (model) => {
  let problem = 'no error';
  const { fullStream, finishReason } = streamText({ model, messages, maxRetries: 0, onError: () => undefined });
  for await (const part of fullStream) if (part.type === 'error') problem = 'an error';
  return `${problem}, ${await finishReason}`;
};
const options = (baseURL) => ({ apiKey: 'none', baseURL, maxRetries: 0 });
const clients = {
  openai: (url) => count(new OpenAI(options(url)).chat.completions.create({ model: 'm', messages, stream: true })),
  'openai, helper': (url) => new OpenAI(options(url)).chat.completions.stream({ model: 'm', messages }).finalContent(),
  anthropic: (url) => count(new Anthropic(options(url)).messages.create({ model: 'm', max_tokens: 9, messages, stream: true })),
  'anthropic, helper': (url) => new Anthropic(options(url)).messages.stream({ model: 'm', max_tokens: 9, messages }).finalText(),
  langchain: (url) => count(new ChatOpenAI({ model: 'm', apiKey: 'none', maxRetries: 0, configuration: { baseURL: url } }).stream('Hi')),
  'ai, openai': (url) => follow(createOpenAI({ apiKey: 'none', baseURL: url }).chat('m')),
  'ai, compatible': (url) => follow(createOpenAICompatible({ name: 'p', apiKey: 'none', baseURL: url })('m')),
};
const expected = {
  openai: '0 parts',
  'openai, helper': 'throws: request ended without sending any chunks',
  anthropic: '0 parts',
  'anthropic, helper': 'throws: request ended without sending any chunks',
  langchain: '0 parts',
  'ai, openai': 'no error, interrupted',
  'ai, compatible': 'an error, error',
};
let isAsStated = true;
for (const [name, ask] of Object.entries(clients)) {
  const seen = [];
  for (const answer of Object.values(answers)) {
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        const [type, body] = answer(request.url);
        response.writeHead(200, { 'content-type': type }).end(body);
      });
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    seen.push(await ask(`http://127.0.0.1:${server.address().port}`).catch((error) => `throws: ${error.message}`));
    server.closeAllConnections();
    server.close();
  }
  console.log(`${name}: ${[...new Set(seen)].join(' | ')}`);
  isAsStated &&= seen.every((outcome) => outcome === expected[name]);
}
if (!isAsStated) console.error('It behaves otherwise now.');
process.exit(isAsStated ? 0 : 1);
JS
for name in openai @anthropic-ai/sdk @langchain/openai @ai-sdk/openai @ai-sdk/openai-compatible; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen, for each of the three:
#   openai: 0 parts
#   openai, helper: throws: request ended without sending any chunks
#   anthropic: 0 parts
#   anthropic, helper: throws: request ended without sending any chunks
#   langchain: 0 parts
#   ai, openai: no error, interrupted
#   ai, compatible: an error, error
