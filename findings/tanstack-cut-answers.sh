#!/usr/bin/env bash
# @tanstack/ai 0.58.0 with @tanstack/ai-openai 0.23.1, over the chat completions format. A tool call whose arguments were cut by the token limit
# (`finish_reason: "length"`), or by a stream that ended early, is run with no arguments at all where its schema lets them be left out: of
# `{"status":"draft","olderThanDays":3` the tool gets {}, so a filter that the model wrote becomes no filter; the run then says `tool_calls`. A stream
# that ends without a reason and without [DONE] is a run that finished with `stop`. A refusal, which the format has in a member of its own, is nowhere:
# the answer is empty and finished with `stop`, and with `outputSchema` the error is "missing structured result". So a tool that does something must
# require its arguments, and a server does well to break the connection, not just to end it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @tanstack/ai@0.58.0 @tanstack/ai-openai@0.23.1 zod@4.6.7 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { chat, toolDefinition } from '@tanstack/ai';
import { openaiCompatible } from '@tanstack/ai-openai/compatible';
import { z } from 'zod';

const chunk = (delta, finish_reason = null) => ({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] });
const call = chunk({
  role: 'assistant',
  tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'delete_mails', arguments: '{"status":"draft","olderThanDays":3' } }],
});
const text = chunk({ role: 'assistant', content: 'The answer is' });
const answers = {
  'call, cut by its limit': [call, chunk({}, 'length'), '[DONE]'],
  'call, stream ended': [call],
  'text, stream ended': [text],
  refusal: [chunk({ role: 'assistant', refusal: 'I may not say that.' }), chunk({}, 'stop'), '[DONE]'],
};
let answer = [];
const server = createServer(async (request, response) => {
  const { messages } = JSON.parse((await request.toArray()).join(''));
  const events = messages.some(({ role }) => role === 'tool') ? [chunk({ role: 'assistant', content: 'Done.' }), chunk({}, 'stop'), '[DONE]'] : answer;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`data: ${event === '[DONE]' ? event : JSON.stringify(event)}\n\n`);
  response.end();
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const provider = openaiCompatible({ name: 'probe', baseURL: `http://127.0.0.1:${server.address().port}/v1`, apiKey: 'k', models: ['m'], api: 'chat-completions' });
const adapter = provider('m');
const messages = [{ role: 'user', content: 'Go on' }];

const ran = [];
const inputSchema = z.object({ status: z.string().optional(), olderThanDays: z.number().optional() });
const tool = toolDefinition({ name: 'delete_mails', description: 'Deletes mails, all or some', inputSchema }).server(async (filter) => {
  ran.push(filter);
  return { isDone: true };
});
const seen = {};
for (const [name, events] of Object.entries(answers)) {
  answer = events;
  ran.length = 0;
  let words = '';
  const ends = [];
  for await (const event of chat({ adapter, messages, tools: [tool], debug: false })) {
    if (event.type === 'TEXT_MESSAGE_CONTENT') words += event.delta;
    if (event.type === 'RUN_FINISHED') ends.push(event.metadata?.tanstack?.finishReason);
    if (event.type === 'RUN_ERROR') ends.push(`error ${event.message}`);
  }
  seen[name] = `text "${words}", ran with ${JSON.stringify(ran)}, ended ${ends.join(' ')}`;
}
const form = z.object({ name: z.string() });
seen['refusal, by schema'] = await chat({ adapter, messages, outputSchema: form, debug: false }).catch(({ message }) => `error: ${message}`);
for (const [name, what] of Object.entries(seen)) console.log(`${name}: ${what}`);
const expected = [
  'text "Done.", ran with [{}], ended tool_calls stop',
  'text "Done.", ran with [{}], ended tool_calls stop',
  'text "The answer is", ran with [], ended stop',
  'text "", ran with [], ended stop',
  'error: missing structured result',
];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @tanstack/ai @tanstack/ai-openai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   call, cut by its limit: text "Done.", ran with [{}], ended tool_calls stop
#   call, stream ended: text "Done.", ran with [{}], ended tool_calls stop
#   text, stream ended: text "The answer is", ran with [], ended stop
#   refusal: text "", ran with [], ended stop
#   refusal, by schema: error: missing structured result
