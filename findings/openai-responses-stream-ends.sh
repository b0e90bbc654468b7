#!/usr/bin/env bash
# openai 7.59.0: `finalResponse()` of the stream helper of responses resolves for a stream that breaks off, with `status: "in_progress"` and the text
# so far; the helper of chat completions throws for the same. And an event that the SDK does not know, which the format lets a server add, makes the
# helper throw in the middle of an answer that is whole, while `for await` over `responses.create({stream: true})` passes it on.
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
import { named, serve } from './serve.mjs';

const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [], tools: [], status: 'in_progress', error: null };
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const item = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] };
const text = { type: 'output_text', text: 'Take two', annotations: [] };
const begin = [
  { type: 'response.created', response },
  { type: 'response.output_item.added', output_index: 0, item },
  { type: 'response.content_part.added', ...place, part: { ...text, text: '' } },
  { type: 'response.output_text.delta', ...place, delta: 'Take two', logprobs: [] },
];
const output = [{ ...item, status: 'completed', content: [text] }];
const end = { type: 'response.completed', response: { ...response, status: 'completed', output } };
const numbered = (events) => named(events.map((event, index) => ({ ...event, sequence_number: index })));
const cut = await serve(numbered(begin));
const extended = await serve(numbered([...begin, { type: 'acme.note', note: 'An event of a later version' }, end]));

const ask = { model: 'm', input: 'Hi' };
const client = ({ url }) => new OpenAI({ apiKey: 'none', baseURL: url, maxRetries: 0 });
const { status, output_text: words } = await client(cut).responses.stream(ask).finalResponse();
console.log('cut:', status, JSON.stringify(words));
const fault = await client(extended).responses.stream(ask).finalResponse().then(() => undefined, ({ message }) => message);
console.log('unknown event, helper:', fault);
const types = [];
for await (const { type } of await client(extended).responses.create({ ...ask, stream: true })) types.push(type);
console.log('unknown event, iterator:', types.slice(-2).join(', '));
if (status !== 'in_progress' || words !== 'Take two' || !fault?.startsWith('Unhandled') || types.at(-1) !== 'response.completed') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in openai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   cut: in_progress "Take two"
#   unknown event, helper: Unhandled response stream event: unknown
#   unknown event, iterator: acme.note, response.completed
