#!/usr/bin/env bash
# A chat of @google/genai 3.3.0 (`ai.chats.create()`) forgets a turn, question and answer, where the stream ended with a chunk that has no content: only the
# reason why it ended, or only the usage, as the types allow. The next question is sent as if it were the first, so the model knows neither the
# name nor the facts that it was given, and says so. `getHistory()` shows all turns, since it lists the "comprehensive" history; what is sent is the
# "curated" one, which leaves out the user's turn with a model's turn that holds nothing. A content without a `role` does the same. Each text came whole,
# and nothing is raised. The documentation says that invalid or empty outputs are left out, but not that one closing chunk makes a whole
# answer such a one. So a server or gateway has to write the end into the chunk with the last words, and a program compares `getHistory(true)` with what
# was said.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @google/genai@3.3.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { GoogleGenAI } from '@google/genai';

const answer = (content, finishReason) => ({ candidates: [{ ...content, ...(finishReason && { finishReason }) }] });
const words = { content: { role: 'model', parts: [{ text: 'Noted, Ann.' }] } };
const streams = {
  'the end with the words': [answer(words, 'STOP')],
  'the end in a chunk of its own': [answer(words), answer({}, 'STOP')],
  'the usage in a chunk of its own': [answer(words, 'STOP'), { usageMetadata: { promptTokenCount: 5 } }],
  'an empty text at the end': [answer(words), answer({ content: { role: 'model', parts: [{ text: '' }] } }, 'STOP')],
  'content without a role': [answer({ content: { parts: [{ text: 'Noted, Ann.' }] } }, 'STOP')],
};
let chunks = [];
let sent;
const server = createServer(async (request, response) => {
  sent = JSON.parse(Buffer.concat(await request.toArray())).contents;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const ai = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: `http://127.0.0.1:${server.address().port}` } });
const ask = async (chat, message) => {
  let text = '';
  for await (const chunk of await chat.sendMessageStream({ message })) text += chunk.text ?? '';
  return text;
};
const seen = [];
for (const [name, list] of Object.entries(streams)) {
  chunks = list;
  const chat = ai.chats.create({ model: 'gemini-2.5-flash' });
  const text = await ask(chat, 'My name is Ann.');
  const listed = chat.getHistory().length;
  await ask(chat, 'What is my name?');
  seen.push(`${text} ${sent.some(({ parts }) => parts[0].text === 'My name is Ann.') ? 'knows' : 'forgot'}`);
  console.log(`${name}: "${text}", ${listed} contents in getHistory(), the second request has ${sent.length}`);
}
if (seen.join() !== ['knows', 'forgot', 'forgot', 'knows', 'forgot'].map((end) => `Noted, Ann. ${end}`).join()) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @google/genai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   the end with the words: "Noted, Ann.", 2 contents in getHistory(), the second request has 3
#   the end in a chunk of its own: "Noted, Ann.", 2 contents in getHistory(), the second request has 1
#   the usage in a chunk of its own: "Noted, Ann.", 2 contents in getHistory(), the second request has 1
#   an empty text at the end: "Noted, Ann.", 3 contents in getHistory(), the second request has 4
#   content without a role: "Noted, Ann.", 2 contents in getHistory(), the second request has 1
