#!/usr/bin/env bash
# The cache of LangChain (@langchain/core 1.4.0, with @langchain/openai 1.6.0) looks a question up by its text alone, where a message holds text and
# pictures: "What is it?" with a second picture gets the answer to the first, whether the picture is an address, data, or a block of LangChain's own
# form, and the model is never asked. Files are left out in the same way. On such a hit, and on a right one, `usage_metadata` is 0, but
# `response_metadata.tokenUsage` repeats the tokens of the first call, so who bills by it bills twice. And `stream()` never looks into the cache.
# The documentation names none of the three. So give a model that sees pictures or files no cache, or one that hashes the whole messages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @langchain/openai@1.6.0 @langchain/core@1.4.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { InMemoryCache } from '@langchain/core/caches';
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';

let asked = 0;
const usage = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 };
const server = createServer(async (request, response) => {
  const { stream } = JSON.parse(Buffer.concat(await request.toArray()));
  asked += 1;
  const choice = { index: 0, finish_reason: 'stop', [stream ? 'delta' : 'message']: { role: 'assistant', content: `answer ${asked}` } };
  const body = JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice], usage });
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
  response.end(stream ? `data: ${body}\n\ndata: [DONE]\n\n` : body);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const configuration = { baseURL: `http://127.0.0.1:${server.address().port}/v1` };
const newModel = () => new ChatOpenAI({ model: 'm', apiKey: 'none', configuration, cache: new InMemoryCache(new Map()) });
const question = { type: 'text', text: 'What is it?' };
const address = (name) => new HumanMessage({ content: [question, { type: 'image_url', image_url: { url: `https://pictures.example/${name}.png` } }] });
const data = (name) => new HumanMessage({ contentBlocks: [question, { type: 'image', mimeType: 'image/png', data: btoa(name) }] });
const file = (name) => new HumanMessage({ contentBlocks: [question, { type: 'file', mimeType: 'application/pdf', data: btoa(name), metadata: { filename: 'a.pdf' } }] });
const seen = [];
for (const [name, first, second] of [
  ['two texts', new HumanMessage('Who?'), new HumanMessage('Where?')],
  ['two addresses of pictures', address('cat'), address('dog')],
  ['two pictures', data('cat'), data('dog')],
  ['two files', file('bill'), file('letter')],
]) {
  const model = newModel();
  asked = 0;
  const answers = [(await model.invoke([first])).content, (await model.invoke([second])).content];
  console.log(`${name}: ${answers.join(', ')}; the model was asked ${asked} times`);
  seen.push(asked);
}
const model = newModel();
await model.invoke('Hi');
const hit = await model.invoke('Hi');
console.log(`a hit: ${hit.usage_metadata.total_tokens} tokens in usage_metadata, ${hit.response_metadata.tokenUsage.totalTokens} in response_metadata`);
asked = 0;
for await (const chunk of await model.stream('Hi')) void chunk;
console.log(`a stream of what is cached: the model was asked ${asked} times`);
seen.push(hit.usage_metadata.total_tokens, hit.response_metadata.tokenUsage.totalTokens, asked);
if (seen.join() !== '2,1,1,1,0,13,1') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @langchain/openai @langchain/core; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   two texts: answer 1, answer 2; the model was asked 2 times
#   two addresses of pictures: answer 1, answer 1; the model was asked 1 times
#   two pictures: answer 1, answer 1; the model was asked 1 times
#   two files: answer 1, answer 1; the model was asked 1 times
#   a hit: 0 tokens in usage_metadata, 13 in response_metadata
#   a stream of what is cached: the model was asked 1 times
