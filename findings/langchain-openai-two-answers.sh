#!/usr/bin/env bash
# @langchain/openai 1.6.0: with `n: 2`, an option of its own, `stream()` mixes the two answers into one text, piece by piece as they come: "The A capital
# city is Rome.is Oslo." Only `response_metadata.completion` of a chunk tells to which answer it belongs, and joined chunks add these numbers up.
# `invoke()` gives the first answer and drops the second, which was paid for; `generate()` gives both. The SDK below it keeps them apart by their index.
# So whoever wants several answers of a stream has to sort the chunks himself, or to ask several times.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @langchain/openai@1.6.0 @langchain/core@1.4.0 openai@7.59.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { ChatOpenAI } from '@langchain/openai';
import OpenAI from 'openai';

const answers = [['The ', 'capital ', 'is Rome.'], ['A ', 'city ', 'is Oslo.']];
const part = { id: 'c', created: 1, model: 'm' };
const server = createServer(async (request, response) => {
  const { stream } = JSON.parse((await request.toArray()).join(''));
  response.writeHead(200, { 'content-type': stream === true ? 'text/event-stream' : 'application/json' });
  const choices = answers.map((words, index) => ({ index, message: { role: 'assistant', content: words.join('') }, finish_reason: 'stop' }));
  if (stream !== true) return response.end(JSON.stringify({ ...part, object: 'chat.completion', choices }));
  const send = (index, delta, finish_reason) =>
    response.write(`data: ${JSON.stringify({ ...part, object: 'chat.completion.chunk', choices: [{ index, delta, finish_reason }] })}\n\n`);
  for (const at of [0, 1, 2]) for (const index of [0, 1]) send(index, { role: 'assistant', content: answers[index][at] }, null);
  for (const index of [0, 1]) send(index, {}, 'stop');
  response.end('data: [DONE]\n\n');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseURL = `http://127.0.0.1:${server.address().port}`;

const model = new ChatOpenAI({ model: 'm', n: 2, apiKey: 'none', configuration: { baseURL } });
let joined;
for await (const chunk of await model.stream('A capital?')) joined = joined === undefined ? chunk : joined.concat(chunk);
const stream = new OpenAI({ apiKey: 'none', baseURL }).chat.completions.stream({ model: 'm', n: 2, messages: [{ role: 'user', content: 'A capital?' }] });
const seen = {
  'stream()': joined.content,
  'invoke()': (await model.invoke('A capital?')).content,
  'generate()': (await model.generate([[['user', 'A capital?']]])).generations[0].map(({ text }) => text).join(' | '),
  'openai, stream()': (await stream.finalChatCompletion()).choices.map(({ message }) => message.content).join(' | '),
};
for (const [name, text] of Object.entries(seen)) console.log(`${name}: ${text}`);
const both = 'The capital is Rome. | A city is Oslo.';
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(['The A capital city is Rome.is Oslo.', 'The capital is Rome.', both, both])) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @langchain/openai openai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   stream(): The A capital city is Rome.is Oslo.
#   invoke(): The capital is Rome.
#   generate(): The capital is Rome. | A city is Oslo.
#   openai, stream(): The capital is Rome. | A city is Oslo.
