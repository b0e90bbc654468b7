#!/usr/bin/env bash
# A model that fails in the middle of a streamed answer says so by an event with `error`, since the status is sent already. openai 7.59.0, groq-sdk 1.6.0
# and @huggingface/inference 4.13.30 throw with its words, whether it is a plain `data:` event or named `event: error`. Others differ: portkey-ai
# 3.1.0 ends a plain one, and together-ai 0.52.0 a named one, as if the answer were whole, with no error. @mistralai/mistralai 2.7.0 and @openrouter/sdk
# 1.3.19 throw, but of members that the event lacks, so "overloaded, try again" becomes a fault of the caller's program that no one retries. So a
# server or gateway reaches all of them with no form: a reader has to take an answer without a finish reason for broken off.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 groq-sdk@1.6.0 together-ai@0.52.0 portkey-ai@3.1.0 @huggingface/inference@4.13.30 \
  @mistralai/mistralai@2.7.0 @openrouter/sdk@1.3.19 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { InferenceClient } from '@huggingface/inference';
import { Mistral } from '@mistralai/mistralai';
import { OpenRouter } from '@openrouter/sdk';
import Groq from 'groq-sdk';
import OpenAI from 'openai';
import { Portkey } from 'portkey-ai';
import Together from 'together-ai';

const delta = { role: 'assistant', content: 'Half' };
const begin = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] };
const failure = JSON.stringify({ error: { message: 'overloaded', type: 'server_error', code: 'overloaded' } });
let name = '';
const server = createServer(async (request, response) => {
  await request.toArray();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify(begin)}\n\n${name}data: ${failure}\n\n`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true };
const options = { apiKey: 'none', baseURL: url, maxRetries: 0 };
const streams = {
  openai: () => new OpenAI(options).chat.completions.create(question),
  'groq-sdk': () => new Groq(options).chat.completions.create(question),
  '@huggingface/inference': () => new InferenceClient('none', { endpointUrl: url }).chatCompletionStream(question),
  'portkey-ai': () => new Portkey(options).chat.completions.create(question),
  'together-ai': () => new Together(options).chat.completions.create(question),
  '@mistralai/mistralai': () => new Mistral({ apiKey: 'none', serverURL: url }).chat.stream(question),
  '@openrouter/sdk': () => new OpenRouter({ apiKey: 'none', serverURL: url }).chat.send({ chatRequest: question }),
};
console.error = () => {};
const seen = {};
for (const [client, open] of Object.entries(streams)) {
  seen[client] = [];
  for (name of ['', 'event: error\n']) {
    let end = 'ends';
    try {
      for await (const chunk of await open()) void chunk;
    } catch (error) {
      end = /overloaded/.test(error.message) && !/invalid_type/.test(error.message) ? 'throws' : 'throws of members';
    }
    seen[client].push(end);
  }
  console.log(`${client}: ${seen[client][0]}; named: ${seen[client][1]}`);
}
const [right, members] = [['throws', 'throws'], ['throws of members', 'throws of members']];
const expected = [right, right, right, ['ends', 'throws'], ['throws', 'ends'], members, members];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.log('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in openai groq-sdk @huggingface/inference portkey-ai together-ai @mistralai/mistralai @openrouter/sdk; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   openai: throws; named: throws
#   groq-sdk: throws; named: throws
#   @huggingface/inference: throws; named: throws
#   portkey-ai: ends; named: throws
#   together-ai: throws; named: ends
#   @mistralai/mistralai: throws of members; named: throws of members
#   @openrouter/sdk: throws of members; named: throws of members
