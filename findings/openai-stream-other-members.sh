#!/usr/bin/env bash
# openai 7.59.0: the message that the stream helper of chat completions puts together keeps only the last piece of each text that the format itself
# has not, such as `reasoning_content` of DeepSeek, vLLM and others: content, refusal and arguments of tools are joined, any other member of a delta
# replaces what came before. The thoughts of an answer end as their last token; `final…` of the helper gives that, while the chunks hold all.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 >/dev/null
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
import OpenAI from 'openai';
import { serve, unnamed } from './serve.mjs';

const chunk = (delta, finish_reason = null) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
});
const server = await serve(
  `${unnamed([
    chunk({ role: 'assistant', reasoning_content: 'First the sum, ' }),
    chunk({ reasoning_content: 'then the ' }),
    chunk({ reasoning_content: 'rest.' }),
    chunk({ content: 'It is ' }),
    chunk({ content: '42.' }),
    chunk({}, 'stop'),
  ])}data: [DONE]\n\n`,
);
const client = new OpenAI({ apiKey: 'none', baseURL: server.url });
const stream = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
const { content, reasoning_content: thoughts } = await stream.finalMessage();
console.log(JSON.stringify({ content, thoughts }));
if (content !== 'It is 42.' || thoughts !== 'rest.') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in openai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   {"content":"It is 42.","thoughts":"rest."}
