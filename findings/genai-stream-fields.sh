#!/usr/bin/env bash
# @google/genai 3.1.0 reads a stream only where each event begins with its data. An event with an id, a name or a comment before the data, all of them
# valid by the HTML standard and written by proxies and gateways for keeping a connection open, is left out without an error: the stream ends as if
# the model had said nothing. With the name after the data, or the data on several lines, it throws. The adapter @ai-sdk/google 4.0.121 reads all of
# them. So a gateway in front of Gemini has to send nothing but `data:` lines, and comments as events of their own.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @google/genai@3.1.0 ai@7.0.173 @ai-sdk/google@4.0.121 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { GoogleGenAI } from '@google/genai';
import { streamText } from 'ai';

const forms = {
  'data alone': (text) => `data: ${text}\n\n`,
  'a comment as an event of its own': (text) => `: wait\n\ndata: ${text}\n\n`,
  'a comment before the data': (text) => `: wait\ndata: ${text}\n\n`,
  'an id before the data': (text) => `id: 7\ndata: ${text}\n\n`,
  'a name before the data': (text) => `event: message\ndata: ${text}\n\n`,
  'a name after the data': (text) => `data: ${text}\nevent: message\n\n`,
};
let form;
const server = createServer(async (request, response) => {
  await request.toArray();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [text, finishReason] of [['Hello '], ['world', 'STOP']]) {
    response.write(form(JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, finishReason }] })));
  }
  response.end();
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const clients = {
  '@google/genai': async () => {
    const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } });
    let text = '';
    for await (const chunk of await client.models.generateContentStream({ model: 'gemini-2.5-flash', contents: 'Hi' })) text += chunk.text ?? '';
    return text;
  },
  '@ai-sdk/google': async () => {
    const model = createGoogleGenerativeAI({ apiKey: 'none', baseURL: url })('gemini-2.5-flash');
    return streamText({ model, prompt: 'Hi', maxRetries: 0 }).text;
  },
};
const seen = [];
for (const [name, write] of Object.entries(forms)) {
  form = write;
  const texts = [];
  for (const ask of Object.values(clients)) texts.push(await ask().then(JSON.stringify, () => 'an error'));
  seen.push(texts.join(' | '));
  console.log(`${name}: ${seen.at(-1)}`);
}
const whole = '"Hello world"';
const lost = `"" | ${whole}`;
const expected = [`${whole} | ${whole}`, `${whole} | ${whole}`, lost, lost, lost, `an error | ${whole}`];
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @google/genai @ai-sdk/google; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen, @google/genai | @ai-sdk/google:
#   data alone: "Hello world" | "Hello world"
#   a comment as an event of its own: "Hello world" | "Hello world"
#   a comment before the data: "" | "Hello world"
#   an id before the data: "" | "Hello world"
#   a name before the data: "" | "Hello world"
#   a name after the data: an error | "Hello world"
