#!/usr/bin/env bash
# Three clients of model vendors take another address, for a gateway or a server of one's own, and read less of the chat completions format than it holds.
# @mistralai/mistralai 2.7.0 checks each event against its own service: of a tool call that comes in pieces, as vLLM, gateways and OpenAI send it, the second
# piece has no name, and the stream ends with a ZodError; so it does at `usage: null`, which every event but the last has by the format where usage is asked
# for. @openrouter/sdk 1.3.19 joins pieces and breaks at `usage: null` too. The words of an error that is sent as an event appear in neither: both throw a
# ZodError about its members. together-ai 0.52.0 leaves out each event that is named `message`, the name that an event without one has by the HTML standard:
# the stream ends with no word and no error, where groq-sdk 1.6.0 and openai 7.59.0, of the same generator, read it. So use the client of the format's maker
# for any address that is not the vendor's own.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @mistralai/mistralai@2.7.0 @openrouter/sdk@1.3.19 together-ai@0.52.0 groq-sdk@1.6.0 openai@7.59.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { Mistral } from '@mistralai/mistralai';
import { OpenRouter } from '@openrouter/sdk';
import Groq from 'groq-sdk';
import OpenAI from 'openai';
import Together from 'together-ai';

let events = [];
const server = createServer((request, reply) => {
  request.resume();
  reply.writeHead(200, { 'content-type': 'text/event-stream' });
  reply.end(`${events.join('\n\n')}\n\ndata: [DONE]\n\n`);
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const url = `http://127.0.0.1:${server.address().port}`;
const event = (choice, more = {}) => `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: choice === undefined ? [] : [{ index: 0, finish_reason: null, ...choice }], ...more })}`;
const words = [event({ delta: { role: 'assistant', content: 'It is ' } }), event({ delta: { content: 'nine.' } }), event({ delta: {}, finish_reason: 'stop' })];
const call = (pieces) => ({ delta: { tool_calls: [{ index: 0, ...pieces }] } });
const cases = {
  'plain words': words,
  'usage: null': words.map((one) => one.replace(/}$/, ',"usage":null}')),
  'a call in pieces': [event(call({ id: 'c', type: 'function', function: { name: 'add', arguments: '' } })), event(call({ function: { arguments: '{"a":1}' } })), event({ delta: {}, finish_reason: 'tool_calls' })],
  'an error event': [words[0], 'data: {"error":{"message":"The model is overloaded","code":503}}'],
  'events named message': words.map((one) => `event: message\n${one}`),
};
const question = { model: 'm', messages: [{ role: 'user', content: 'Ask' }] };
async function* chunksOf(client) {
  if (client === 'mistral') for await (const { data } of await new Mistral({ apiKey: 'k', serverURL: url }).chat.stream(question)) yield data;
  else if (client === 'openrouter') yield* await new OpenRouter({ apiKey: 'k', serverURL: url, retryConfig: { strategy: 'none' } }).chat.send({ chatRequest: { ...question, stream: true } });
  else {
    const Client = { together: Together, groq: Groq, openai: OpenAI }[client];
    yield* await new Client({ apiKey: 'k', baseURL: url, maxRetries: 0 }).chat.completions.create({ ...question, stream: true });
  }
}
async function readBy(client) {
  let text = '';
  try {
    for await (const { choices } of chunksOf(client)) {
      const { delta } = choices[0] ?? {};
      text += delta?.content ?? '';
      for (const piece of delta?.tool_calls ?? delta?.toolCalls ?? []) text += piece.function?.arguments ?? '';
    }
  } catch (error) {
    return error.message.includes('The model is overloaded') ? 'its words' : error.constructor.name;
  }
  return text;
}
const seen = {};
for (const [name, given] of Object.entries(cases)) {
  events = given;
  seen[name] = [];
  for (const client of ['mistral', 'openrouter', 'together', 'groq', 'openai']) seen[name].push(await readBy(client));
  console.log(`${name}: ${JSON.stringify(seen[name])}`);
}
server.close();
server.closeAllConnections();
const all = (text) => [text, text, text, text, text];
const stated = {
  'plain words': all('It is nine.'),
  'usage: null': ['ZodError', 'ZodError', ...all('It is nine.').slice(2)],
  'a call in pieces': ['ZodError', ...all('{"a":1}').slice(1)],
  'an error event': ['ZodError', 'ZodError', 'its words', 'its words', 'its words'],
  'events named message': ['It is nine.', 'It is nine.', '', 'It is nine.', 'It is nine.'],
};
if (JSON.stringify(seen) !== JSON.stringify(stated)) {
  console.error('They behave otherwise now.');
  process.exit(1);
}
JS
for name in @mistralai/mistralai @openrouter/sdk together-ai groq-sdk openai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   @mistralai/mistralai 2.7.0
#   @openrouter/sdk 1.3.19
#   together-ai 0.52.0
#   groq-sdk 1.6.0
#   openai 7.59.0
#   plain words: ["It is nine.","It is nine.","It is nine.","It is nine.","It is nine."]
#   usage: null: ["ZodError","ZodError","It is nine.","It is nine.","It is nine."]
#   a call in pieces: ["ZodError","{\"a\":1}","{\"a\":1}","{\"a\":1}","{\"a\":1}"]
#   an error event: ["ZodError","ZodError","its words","its words","its words"]
#   events named message: ["It is nine.","It is nine.","","It is nine.","It is nine."]
