#!/usr/bin/env bash
# @langchain/anthropic 1.5.11 decides by the request, not by the reply, how it joins the blocks of a streamed answer. Only where the request itself
# holds documents with citations (or tools, or thinking) are blocks kept; else their texts run together, and each citation becomes a block of its own
# without a text. So behind a service that cites what it looked up itself, nothing says which words a citation supports, and the next turn sends the
# answer back without its citations.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @langchain/anthropic@1.5.11 @langchain/core@1.4.0 >/dev/null
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
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage } from '@langchain/core/messages';
import { named, serve } from './serve.mjs';

const block = (index, ...deltas) => [
  { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const text = (words) => ({ type: 'text_delta', text: words });
const place = { document_index: 0, document_title: 'Atlas', start_char_index: 0, end_char_index: 20 };
const citation = { type: 'char_location', cited_text: 'Paris is the capital', ...place };
const usage = { input_tokens: 100, output_tokens: 0 };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null, stop_sequence: null, usage };
const server = await serve(
  named([
    { type: 'message_start', message },
    ...block(0, text('It is ')),
    ...block(1, text('Paris'), { type: 'citations_delta', citation }),
    ...block(2, text(', I think.')),
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 12 } },
    { type: 'message_stop' },
  ]),
);
const model = new ChatAnthropic({ model: 'claude-sonnet-4-5', apiKey: 'none', anthropicApiUrl: server.url });
const cited = async (content) => {
  let answer;
  for await (const chunk of await model.stream([new HumanMessage({ content })])) answer = answer === undefined ? chunk : answer.concat(chunk);
  const blocks = answer.content.map(({ text: words, citations }) => ({ words, cites: citations?.length }));
  console.log(JSON.stringify(blocks));
  return answer.content.find(({ citations }) => citations?.length === 1)?.text;
};
const source = { type: 'text', media_type: 'text/plain', data: 'Paris is the capital' };
const question = { type: 'text', text: 'What is the capital?' };
const withDocument = await cited([{ type: 'document', source, citations: { enabled: true } }, question]);
const without = await cited([question]);
if (withDocument !== 'Paris' || without !== undefined) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in @langchain/anthropic @langchain/core; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen, the same reply to a request with a document and to one without:
#   [{"words":"It is "},{"words":"Paris","cites":1},{"words":", I think."}]
#   [{"words":"It is Paris"},{"cites":1},{"words":", I think."}]
