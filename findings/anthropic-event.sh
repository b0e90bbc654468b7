#!/usr/bin/env bash
# @ai-sdk/anthropic 4.0.105: Anthropic adds event types to its streams and asks clients to ignore those that they do not know. The adapter makes an
# `error` part of each, beside an answer that is whole; and when such an event is the first, `doStream` itself fails with a plain Error, which is
# neither an APICallError nor anything else that says whose fault it is. So a proxy must leave such events out before the adapter reads them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @ai-sdk/anthropic@4.0.105 >/dev/null
cat >probe.mjs <<'JS'
import { createAnthropic } from '@ai-sdk/anthropic';

const usage = { input_tokens: 1, output_tokens: 1 };
const message = { id: 'm', type: 'message', role: 'assistant', model: 'c', content: [], stop_reason: null, stop_sequence: null, usage };
const news = { type: 'news', what: 1 };
const answer = [
  { type: 'message_start', message },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
];
const run = async (events) => {
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const fetch = async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
  try {
    const { stream } = await createAnthropic({ apiKey: 'none', fetch })('claude-sonnet-4-5').doStream({ prompt });
    const types = [];
    for await (const part of stream) types.push(part.type);
    return types.join(' ');
  } catch (error) {
    return `${error.constructor.name}: ${error.message}`;
  }
};
const inside = await run([...answer.slice(0, 3), news, ...answer.slice(3)]);
const first = await run([news, ...answer]);
console.log('an unknown event inside of a message:', inside);
console.log('an unknown event before it:', first);
if (!/ error .*finish/.test(inside) || first !== 'Error: Expected a normalized Anthropic stream error') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
echo "@ai-sdk/anthropic $(node -p "require('./node_modules/@ai-sdk/anthropic/package.json').version")"
node probe.mjs
# Seen:
#   @ai-sdk/anthropic 4.0.105
#   an unknown event inside of a message: stream-start response-metadata custom text-start text-delta error text-end finish
#   an unknown event before it: Error: Expected a normalized Anthropic stream error
