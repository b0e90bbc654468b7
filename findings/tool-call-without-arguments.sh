#!/usr/bin/env bash
# A call of a tool without parameters: several servers of the chat completions format give its `arguments` as an empty text instead of "{}". The AI SDK
# (ai 7.0.173, @ai-sdk/openai-compatible 3.0.92) takes it for no arguments and runs the tool. `runTools` of openai 7.59.0 and @openai/agents 0.20.0 do
# not run it, and tell the model that its JSON is bad, which has nothing to write better. @langchain/openai 1.6.0 gives a call where the answer was
# streamed, and where it was not, an entry of `invalid_tool_calls` beside an empty `tool_calls`, so the same agent ends without an answer. No one raises
# an error. So a server or gateway of this format should write "{}" whenever the model wrote nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @openai/agents@0.20.0 ai@7.0.173 @ai-sdk/openai-compatible@3.0.92 @langchain/openai@1.6.0 @langchain/core@1.4.0 zod@4.6.7 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIProvider, Runner, tool as agentTool } from '@openai/agents';
import { generateText, isStepCount, tool as aiTool } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';

/** A provider whose model calls the tool `now` once, and says "Done" when it has the result. */
async function serve(emptyArguments) {
  const toolCall = { id: 'call_1', type: 'function', function: { name: 'now', arguments: emptyArguments } };
  const server = createServer(async (request, response) => {
    const { stream, messages } = JSON.parse((await request.toArray()).join(''));
    const isAnswer = messages.some(({ role }) => role === 'tool');
    const said = isAnswer ? { content: 'Done' } : { content: null, tool_calls: [{ index: 0, ...toolCall }] };
    const part = { id: 'c', created: 1, model: 'm' };
    const finish_reason = isAnswer ? 'stop' : 'tool_calls';
    const choice = { index: 0, finish_reason };
    if (stream !== true) {
      response.writeHead(200, { 'content-type': 'application/json' });
      const message = { role: 'assistant', ...said };
      return response.end(JSON.stringify({ ...part, object: 'chat.completion', choices: [{ ...choice, message }] }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = (delta) => `data: ${JSON.stringify({ ...part, object: 'chat.completion.chunk', choices: [{ ...choice, delta }] })}\n\n`;
    response.end(`${chunk({ role: 'assistant', ...said })}data: [DONE]\n\n`);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}

const empty = z.object({});
const about = { name: 'now', description: 'The time' };
/** Each asks, and calls `run` where it runs the tool. */
const clients = {
  'ai generateText': async (baseURL, run) => {
    const model = createOpenAICompatible({ name: 'p', apiKey: 'none', baseURL })('m');
    await generateText({ model, prompt: 'When?', stopWhen: isStepCount(3), tools: { now: aiTool({ inputSchema: empty, execute: run }) } });
  },
  'openai runTools': async (baseURL, run) => {
    const parameters = { type: 'object', properties: {} };
    const tools = [{ type: 'function', function: { ...about, parameters, parse: JSON.parse, function: run } }];
    const messages = [{ role: 'user', content: 'When?' }];
    await new OpenAI({ apiKey: 'none', baseURL }).chat.completions.runTools({ model: 'm', messages, tools }).finalContent();
  },
  '@openai/agents': async (baseURL, run) => {
    const agent = new Agent({ name: 'clock', model: 'm', tools: [agentTool({ ...about, parameters: empty, execute: run })] });
    const modelProvider = new OpenAIProvider({ apiKey: 'none', baseURL, useResponses: false });
    await new Runner({ modelProvider, tracingDisabled: true }).run(agent, 'When?');
  },
  '@langchain/openai, whole': async (baseURL, run) => {
    const { tool_calls: calls } = await langchain(baseURL, run).invoke('When?');
    if (calls.length > 0) run();
  },
  '@langchain/openai, streamed': async (baseURL, run) => {
    let message;
    for await (const chunk of await langchain(baseURL, run).stream('When?')) message = message === undefined ? chunk : message.concat(chunk);
    if (message.tool_calls.length > 0) run();
  },
};
const langchain = (baseURL, run) =>
  new ChatOpenAI({ model: 'm', apiKey: 'none', configuration: { baseURL } }).bindTools([langchainTool(run, { ...about, schema: empty })]);

const runs = async (emptyArguments) => {
  const url = await serve(emptyArguments);
  const names = [];
  for (const [name, ask] of Object.entries(clients)) {
    let count = 0;
    await ask(url, () => ((count += 1), 'noon'));
    if (count > 0) names.push(name);
  }
  return names;
};
const withBraces = await runs('{}');
const withNothing = await runs('');
console.log('"{}" runs the tool:', withBraces.join('; '));
console.log('""   runs the tool:', withNothing.join('; '));
if (withBraces.length !== 5 || withNothing.join('; ') !== 'ai generateText; @langchain/openai, streamed') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in openai @openai/agents ai @ai-sdk/openai-compatible @langchain/openai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   "{}" runs the tool: ai generateText; openai runTools; @openai/agents; @langchain/openai, whole; @langchain/openai, streamed
#   ""   runs the tool: ai generateText; @langchain/openai, streamed
