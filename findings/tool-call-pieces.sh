#!/usr/bin/env bash
# Tool calls in streams of the chat completions format: servers write the pieces in more ways than one, and clients of one maker join them otherwise than the
# rest. A server that leaves `index` out, or gives each call the index 0, as it can where it sends calls whole: openai 7.59.0 and @openai/agents
# 0.20.0 make one call of two, with the last name or both names together ("weathertime") and with the arguments of both; the stream helper of the
# former throws without an index. One that repeats the name with each piece: the agents call "weatherweather". One that counts from 1: the helper
# throws. @langchain/openai 1.6.0 and @ai-sdk/openai-compatible 3.0.92 give the two calls in each case. The format's documentation asks for an
# index, and says nothing of where it begins nor of names that come again. So a server or gateway has to count from 0 in steps of one, give each call
# its own index, and send id and name once.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @openai/agents@0.20.0 @langchain/openai@1.6.0 @langchain/core@1.4.0 ai@7.0.173 \
  @ai-sdk/openai-compatible@3.0.92 zod@4.6.7 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { OpenAIChatCompletionsModel, setTracingDisabled } from '@openai/agents';
import { jsonSchema, streamText, tool } from 'ai';
import OpenAI from 'openai';

setTracingDisabled(true);
let pieces = [];
const server = createServer(async (request, response) => {
  await request.toArray();
  const toEvent = (delta, finish_reason = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${pieces.map((piece) => toEvent({ role: 'assistant', tool_calls: [piece] })).join('')}${toEvent({}, 'tool_calls')}data: [DONE]\n\n`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const openai = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 });
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = ['weather', 'time'].map((name) => ({ type: 'function', function: { name, parameters } }));
const clients = {
  'openai, stream helper': async () => {
    const { tool_calls } = await openai.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools }).finalMessage();
    return tool_calls.map((call) => call.function.name + call.function.arguments);
  },
  '@openai/agents': async () => {
    const request = { input: 'Hi', modelSettings: {}, tools: [], handoffs: [], outputType: 'text', tracing: false };
    for await (const event of new OpenAIChatCompletionsModel(openai, 'm').getStreamedResponse(request))
      if (event.type === 'response_done') return event.response.output.map((call) => call.name + call.arguments);
  },
  '@langchain/openai': async () => {
    let message;
    const model = new ChatOpenAI({ model: 'm', apiKey: 'none', configuration: { baseURL }, maxRetries: 0 }).bindTools(tools);
    for await (const chunk of await model.stream('Hi')) message = message?.concat(chunk) ?? chunk;
    return message.tool_calls.map((call) => call.name + JSON.stringify(call.args));
  },
  '@ai-sdk/openai-compatible': async () => {
    const model = createOpenAICompatible({ name: 'probe', baseURL, apiKey: 'none' })('m');
    const known = tool({ inputSchema: jsonSchema(parameters) });
    const calls = await streamText({ model, prompt: 'Hi', tools: { weather: known, time: known } }).toolCalls;
    return calls.map((call) => call.toolName + JSON.stringify(call.input));
  },
};
const call = (id, name, text, index) => ({ ...(index !== undefined && { index }), id, type: 'function', function: { name, arguments: text } });
const [rome, oslo] = ['{"city":"Rome"}', '{"city":"Oslo"}'];
const cases = {
  'without an index': [call('a', 'weather', rome), call('b', 'time', oslo)],
  'each with index 0': [call('a', 'weather', rome, 0), call('b', 'time', oslo, 0)],
  'id and name with each piece': [call('a', 'weather', '{"city":', 0), call('a', 'weather', '"Rome"}', 0)],
  'counted from 1': [call('a', 'weather', rome, 1), call('b', 'time', oslo, 2)],
};
const seen = [];
for (const [name, list] of Object.entries(cases)) {
  pieces = list;
  for (const [client, run] of Object.entries(clients)) {
    seen.push(await run().then((calls) => calls.join(' '), (error) => `throws ${error.name}`));
    console.log(`${name}, ${client}: ${seen.at(-1)}`);
  }
}
const both = `weather${rome} time${oslo}`;
const expected = [
  ...['throws Error', `weathertime${rome}${oslo}`, both, both],
  ...[`time${rome}${oslo}`, `weathertime${rome}${oslo}`, both, both],
  ...[`weather${rome}`, `weatherweather${rome}`, `weather${rome}`, `weather${rome}`],
  ...['throws Error', both, both, both],
];
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in openai @openai/agents @langchain/openai @ai-sdk/openai-compatible; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   without an index, openai, stream helper: throws Error
#   without an index, @openai/agents: weathertime{"city":"Rome"}{"city":"Oslo"}
#   without an index, @langchain/openai: weather{"city":"Rome"} time{"city":"Oslo"}
#   without an index, @ai-sdk/openai-compatible: weather{"city":"Rome"} time{"city":"Oslo"}
#   each with index 0, openai, stream helper: time{"city":"Rome"}{"city":"Oslo"}
#   each with index 0, @openai/agents: weathertime{"city":"Rome"}{"city":"Oslo"}
#   each with index 0, @langchain/openai: weather{"city":"Rome"} time{"city":"Oslo"}
#   each with index 0, @ai-sdk/openai-compatible: weather{"city":"Rome"} time{"city":"Oslo"}
#   id and name with each piece, openai, stream helper: weather{"city":"Rome"}
#   id and name with each piece, @openai/agents: weatherweather{"city":"Rome"}
#   id and name with each piece, @langchain/openai: weather{"city":"Rome"}
#   id and name with each piece, @ai-sdk/openai-compatible: weather{"city":"Rome"}
#   counted from 1, openai, stream helper: throws Error
#   counted from 1, @openai/agents: weather{"city":"Rome"} time{"city":"Oslo"}
#   counted from 1, @langchain/openai: weather{"city":"Rome"} time{"city":"Oslo"}
#   counted from 1, @ai-sdk/openai-compatible: weather{"city":"Rome"} time{"city":"Oslo"}
