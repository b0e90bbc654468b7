#!/usr/bin/env bash
# @openai/agents 0.20.0: `setDefaultOpenAIClient` holds until the first run only. The provider that `run()` and each `new Runner()` share keeps the client
# of that run; a later call, with a renewed key or another address, raises no error and changes nothing: every request goes on with the first. So a
# program whose key changes, or that asks a gateway in the name of several people, has to give each `Runner` a `modelProvider` of its own; else the
# gateway bills everything to the first, and refuses everything once that key has expired.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @openai/agents@0.20.0 zod@4.6.7 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { Agent, OpenAIProvider, Runner, run, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled } from '@openai/agents';
import OpenAI from 'openai';

let key;
const server = createServer((request, response) => {
  key = request.headers.authorization.replace('Bearer ', '');
  request.resume().on('end', () => {
    const choice = { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] }));
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseURL = `http://127.0.0.1:${server.address().port}`;
setTracingDisabled(true);
setOpenAIAPI('chat_completions');
const agent = () => new Agent({ name: 'greeter', model: 'm' });
const seen = [];
const show = (what) => {
  seen.push(`${what}: ${key}`);
  console.log(seen.at(-1));
};
setDefaultOpenAIClient(new OpenAI({ apiKey: 'key-1', baseURL }));
await run(agent(), 'Hi');
show('first run with key-1');
setDefaultOpenAIClient(new OpenAI({ apiKey: 'key-2', baseURL }));
await run(agent(), 'Hi');
show('run() with key-2');
await new Runner().run(agent(), 'Hi');
show('new Runner() with key-2');
await new Runner({ modelProvider: new OpenAIProvider({ apiKey: 'key-3', baseURL, useResponses: false }) }).run(agent(), 'Hi');
show('a provider of its own with key-3');
const expected = ['first run with key-1: key-1', 'run() with key-2: key-1', 'new Runner() with key-2: key-1', 'a provider of its own with key-3: key-3'];
if (seen.join() !== expected.join()) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in openai @openai/agents; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   first run with key-1: key-1
#   run() with key-2: key-1
#   new Runner() with key-2: key-1
#   a provider of its own with key-3: key-3
