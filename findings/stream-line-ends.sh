#!/usr/bin/env bash
# Two clients cut the lines of an event stream where the format does not. By the HTML standard lines end with CR, LF or both; within a text of JSON
# U+2028, U+2029 and U+0085 may stand as they are, and JSON.stringify writes them so. The client of portkey-ai 3.1.0, and `iter_lines()` of httpx
# 0.28.1, with which many Python programs read streams by hand, end a line at each of them. So an answer that quotes such a character, as texts
# copied from web pages and PDFs do, is half an event to both: its JSON fails, and the answer with it. openai 7.59.0, groq-sdk 1.6.0 and httpx-sse
# 0.4.3 read it right. The documentation of httpx is silent about these ends of lines. So a server should write the three as escapes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 groq-sdk@1.6.0 portkey-ai@3.1.0 >/dev/null
python3 -m venv python
./python/bin/pip install --quiet httpx==0.28.1 httpx-sse==0.4.3 2>/dev/null
cat >probe.py <<'PY'
import json, sys, httpx, httpx_sse

url = sys.argv[1]
with httpx.stream("POST", url) as reply:
    print(json.dumps([line for line in reply.iter_lines()][0].endswith("}")))
with httpx.Client() as client, httpx_sse.connect_sse(client, "POST", url) as source:
    print(json.dumps(json.loads(next(source.iter_sse()).data)["choices"][0]["delta"]["content"]))
PY
cat >probe.mjs <<'JS'
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import Groq from 'groq-sdk';
import OpenAI from 'openai';
import { Portkey } from 'portkey-ai';

let text = '';
const server = createServer(async (request, response) => {
  await request.toArray();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\ndata: [DONE]\n\n`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseURL = `http://127.0.0.1:${server.address().port}`;
console.error = () => {};
const read = async (client) => {
  let received = '';
  try {
    const stream = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true });
    for await (const chunk of stream) received += chunk.choices[0].delta.content;
  } catch (error) {
    return error.name;
  }
  return received === text ? 'right' : JSON.stringify(received);
};
const seen = [];
for (const character of ['\u2028', '\u2029', '\u0085', '\u0020']) {
  text = `one${character}two`;
  const { stdout } = await promisify(execFile)('./python/bin/python', ['probe.py', baseURL]);
  const [isWhole, fromSse] = stdout.trim().split('\n').map((line) => JSON.parse(line));
  const found = {
    openai: await read(new OpenAI({ apiKey: 'none', baseURL })),
    'groq-sdk': await read(new Groq({ apiKey: 'none', baseURL })),
    'portkey-ai': await read(new Portkey({ apiKey: 'none', baseURL })),
    'httpx iter_lines': isWhole ? 'right' : 'half a line',
    'httpx-sse': fromSse === text ? 'right' : JSON.stringify(fromSse),
  };
  const code = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  console.log(`${code}: ${Object.entries(found).map(([name, result]) => `${name} ${result}`).join(', ')}`);
  seen.push(Object.values(found).join(' '));
}
const cut = 'right right SyntaxError half a line right';
if (seen.join('\n') !== [cut, cut, cut, 'right right right right right'].join('\n')) {
  console.log('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in openai groq-sdk portkey-ai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
./python/bin/pip list 2>/dev/null | grep '^httpx'
node probe.mjs
# Seen:
#   U+2028: openai right, groq-sdk right, portkey-ai SyntaxError, httpx iter_lines half a line, httpx-sse right
#   U+2029: openai right, groq-sdk right, portkey-ai SyntaxError, httpx iter_lines half a line, httpx-sse right
#   U+0085: openai right, groq-sdk right, portkey-ai SyntaxError, httpx iter_lines half a line, httpx-sse right
#   U+0020: openai right, groq-sdk right, portkey-ai right, httpx iter_lines right, httpx-sse right
