#!/usr/bin/env bash
# LangChain runs a tool with half of its arguments. A streamed answer that reaches its token limit inside a tool call is completed as if it were whole:
# `{"to":"Ann","amount":12` of 1250 becomes `amount: 12` among `tool_calls`, with an empty `invalid_tool_calls`, and an agent of langchain 1.5.14 that is
# streamed runs the tool with it, though the finish reason says "length" (@langchain/openai 1.6.0) or "max_tokens" (@langchain/anthropic 1.5.11). Asked
# without a stream, the same call is invalid and nothing runs. streamText of ai 7.0.173 and the tool runner of @anthropic-ai/sdk 1.14.0 do not run it.
# So whoever streams an agent has to look at the finish reason before a tool with effects runs; a number that is cut is still a number to the schema.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund langchain@1.5.14 @langchain/core@1.4.0 @langchain/langgraph@1.7.3 @langchain/openai@1.6.0 @langchain/anthropic@1.5.11 @anthropic-ai/sdk@1.14.0 ai@7.0.173 @ai-sdk/openai-compatible@3.0.92 zod@4.6.7 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { ChatAnthropic } from '@langchain/anthropic';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { isStepCount, streamText, tool as aiTool } from 'ai';
import { createAgent } from 'langchain';
import { z } from 'zod';

const cut = '{"to":"Ann","amount":12';
const sent = (event) => `event: ${event.type ?? 'message'}\ndata: ${JSON.stringify(event)}\n\n`;
const chunk = (delta, finish_reason = null) =>
  sent({ id: 'c', created: 1, model: 'm', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'pay', arguments: cut } };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage: { input_tokens: 1, output_tokens: 1 } };
const blocks = (block, delta, stop_reason) => [
  { type: 'message_start', message },
  { type: 'content_block_start', index: 0, content_block: block },
  { type: 'content_block_delta', index: 0, delta },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];
const ofMessages = (isDone) =>
  isDone
    ? blocks({ type: 'text', text: '' }, { type: 'text_delta', text: 'Done' }, 'end_turn')
    : blocks({ type: 'tool_use', id: 'toolu_1', name: 'pay', input: {} }, { type: 'input_json_delta', partial_json: cut }, 'max_tokens');
const ofCompletions = (isDone) =>
  isDone
    ? [chunk({ role: 'assistant', content: 'Done' }), chunk({}, 'stop'), 'data: [DONE]\n\n']
    : [chunk({ role: 'assistant', content: null, tool_calls: [call] }), chunk({}, 'length'), 'data: [DONE]\n\n'];
const server = createServer(async (request, response) => {
  const { messages, stream } = JSON.parse((await request.toArray()).join(''));
  const isDone = messages.some(({ role, content }) => role === 'tool' || (Array.isArray(content) && content.some(({ type }) => type === 'tool_result')));
  if (stream !== true) {
    const said = isDone ? { content: 'Done' } : { content: null, tool_calls: [call] };
    response.writeHead(200, { 'content-type': 'application/json' });
    const choices = [{ index: 0, message: { role: 'assistant', ...said }, finish_reason: isDone ? 'stop' : 'length' }];
    return response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices }));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end((request.url.includes('messages') ? ofMessages(isDone).map(sent) : ofCompletions(isDone)).join(''));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;

const schema = z.object({ to: z.string(), amount: z.number() });
const about = { name: 'pay', description: 'Pays' };
const question = [{ role: 'user', content: 'Pay Ann 1250' }];
const openai = new ChatOpenAI({ model: 'm', apiKey: 'none', configuration: { baseURL: url } });
const anthropic = new ChatAnthropic({ model: 'claude-sonnet-4-5', apiKey: 'none', anthropicApiUrl: url });
const agentOf = (model, run) => createAgent({ model, tools: [tool(run, { ...about, schema })] });
const streamed = (model) => async (run) => {
  for await (const _ of await agentOf(model, run).stream({ messages: question }, { streamMode: 'messages' }));
};
const clients = {
  'langchain and @langchain/openai, streamed': streamed(openai),
  'langchain and @langchain/anthropic, streamed': streamed(anthropic),
  'langchain and @langchain/openai, without a stream': (run) => agentOf(openai, run).invoke({ messages: question }),
  'ai streamText': async (run) => {
    const model = createOpenAICompatible({ name: 'p', apiKey: 'none', baseURL: url })('m');
    await streamText({ model, messages: question, stopWhen: isStepCount(3), tools: { pay: aiTool({ inputSchema: schema, execute: run }) } }).consumeStream();
  },
  '@anthropic-ai/sdk toolRunner': async (run) => {
    const client = new Anthropic({ apiKey: 'none', baseURL: url });
    const tools = [betaZodTool({ ...about, inputSchema: schema, run })];
    for await (const stream of client.beta.messages.toolRunner({ model: 'm', max_tokens: 10, stream: true, messages: question, tools })) await stream.finalMessage();
  },
};
const seen = {};
for (const [name, ask] of Object.entries(clients)) {
  seen[name] = 'nothing runs';
  await ask((input) => ((seen[name] = `pays ${input.amount}`), 'paid'));
  console.log(`${name}: ${seen[name]}`);
}
if (Object.values(seen).join('; ') !== 'pays 12; pays 12; nothing runs; nothing runs; nothing runs') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in langchain @langchain/openai @langchain/anthropic ai @anthropic-ai/sdk; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   langchain and @langchain/openai, streamed: pays 12
#   langchain and @langchain/anthropic, streamed: pays 12
#   langchain and @langchain/openai, without a stream: nothing runs
#   ai streamText: nothing runs
#   @anthropic-ai/sdk toolRunner: nothing runs
