#!/usr/bin/env bash
# A picture that a tool gives (a screenshot, a diagram of an MCP server) reaches models of the chat completions format as its base64 text. The AI SDK (ai
# 7.0.173) turns what `toModelOutput` gives, or an MCP tool through @ai-sdk/mcp, into JSON within the text of the tool message, with
# @ai-sdk/openai 4.0.118 (`chat`), @ai-sdk/openai-compatible 3.0.92, @ai-sdk/groq 4.0.84 and @ai-sdk/mistral 4.0.87, and warns of nothing. The model
# sees no picture, and each 3 bytes of it are 4 characters to pay: a screenshot of 300 kB is 400,000 characters, again in each step that follows.
# @ai-sdk/openai through the responses API, @ai-sdk/anthropic and @ai-sdk/deepseek 3.0.56 send a picture. The documentation shows pictures in results
# of tools without naming providers. So for the former let the tool say where the picture is, and give it in a user message.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ai@7.0.173 zod@4.6.7 @ai-sdk/openai@4.0.118 @ai-sdk/openai-compatible@3.0.92 @ai-sdk/groq@4.0.84 \
  @ai-sdk/mistral@4.0.87 @ai-sdk/deepseek@3.0.56 @ai-sdk/anthropic@4.0.105 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createDeepSeek } from '@ai-sdk/deepseek';
import { createGroq } from '@ai-sdk/groq';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, tool } from 'ai';
import * as z from 'zod';

globalThis.AI_SDK_LOG_WARNINGS = false;
const picture = Buffer.from('a picture').toString('base64');
let sent;
const usage = { input_tokens: 1, output_tokens: 1, prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
/** Calls the tool in the first reply, and answers in the second. */
const replies = {
  completions(isFirst) {
    const call = { id: 'c1', type: 'function', function: { name: 'shoot', arguments: '{}' } };
    const message = { role: 'assistant', content: isFirst ? null : 'Done', ...(isFirst && { tool_calls: [call] }) };
    const choices = [{ index: 0, message, finish_reason: isFirst ? 'tool_calls' : 'stop' }];
    return { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage };
  },
  responses(isFirst) {
    const call = { type: 'function_call', id: 'f1', call_id: 'c1', name: 'shoot', arguments: '{}', status: 'completed' };
    const content = [{ type: 'output_text', text: 'Done', annotations: [] }];
    const message = { type: 'message', id: 'm1', role: 'assistant', status: 'completed', content };
    return { id: 'r', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [isFirst ? call : message], usage };
  },
  messages(isFirst) {
    const block = isFirst ? { type: 'tool_use', id: 'c1', name: 'shoot', input: {} } : { type: 'text', text: 'Done' };
    const ends = { stop_reason: isFirst ? 'tool_use' : 'end_turn', stop_sequence: null };
    return { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [block], ...ends, usage };
  },
};
const server = createServer(async (request, response) => {
  sent = JSON.parse(Buffer.concat(await request.toArray()));
  const isFirst = (sent.messages ?? sent.input).length === 1;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(replies[request.url.split('/').at(-1)](isFirst)));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const options = { apiKey: 'none', baseURL: `http://127.0.0.1:${server.address().port}/v1` };
const models = {
  '@ai-sdk/openai, chat': createOpenAI(options).chat('m'),
  '@ai-sdk/openai-compatible': createOpenAICompatible({ name: 'own', ...options })('m'),
  '@ai-sdk/groq': createGroq(options)('m'),
  '@ai-sdk/mistral': createMistral(options)('m'),
  '@ai-sdk/deepseek': createDeepSeek(options)('m'),
  '@ai-sdk/openai, responses': createOpenAI(options).responses('m'),
  '@ai-sdk/anthropic': createAnthropic(options)('m'),
};
const value = [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: picture } }];
const shoot = tool({ inputSchema: z.object({}), execute: async () => 'taken', toModelOutput: () => ({ type: 'content', value }) });
const seen = [];
for (const [name, model] of Object.entries(models)) {
  const { steps } = await generateText({ model, tools: { shoot }, prompt: 'Hi', stopWhen: isStepCount(2), maxOutputTokens: 100 });
  const last = (sent.messages ?? sent.input).at(-1);
  const isText = typeof last.content === 'string' && last.content.includes(picture);
  const isPicture = !isText && JSON.stringify(last).includes(picture);
  const warned = steps.flatMap(({ warnings }) => warnings ?? []).filter((warning) => /tool|image|file/i.test(JSON.stringify(warning))).length;
  console.log(`${name}: ${isText ? `text: ${last.content}` : isPicture ? 'a picture' : 'nothing'}; warnings: ${warned}`);
  seen.push(isText ? 'text' : isPicture ? 'picture' : 'nothing', warned);
}
if (seen.join(' ') !== `${'text 0 '.repeat(4)}${'picture 0 '.repeat(3)}`.trim()) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in ai @ai-sdk/openai @ai-sdk/openai-compatible @ai-sdk/groq @ai-sdk/mistral @ai-sdk/deepseek @ai-sdk/anthropic; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   @ai-sdk/openai, chat: text: [{"type":"file","mediaType":"image/png","data":{"type":"data","data":"YSBwaWN0dXJl"}}]; warnings: 0
#   @ai-sdk/openai-compatible, @ai-sdk/groq and @ai-sdk/mistral: the same
#   @ai-sdk/deepseek: a picture; warnings: 0
#   @ai-sdk/openai, responses: a picture; warnings: 0
#   @ai-sdk/anthropic: a picture; warnings: 0
