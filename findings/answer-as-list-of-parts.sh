#!/usr/bin/env bash
# Models of Mistral that think answer chat completions with lists of parts in `content`, thoughts and words, streamed or not, where the format that all
# others follow has a text. Clients of the format, given Mistral's address, do different things with a list. The stream helper of openai 7.59.0 adds
# it to a text, so the answer reads "[object Object][object Object]!", and @openai/agents 0.20.0 gives that out as the final output of a run.
# @langchain/openai 1.6.0 drops the parts, words as well as thoughts, and keeps what came as text, "!"; a line in the log says that this is not
# supported. None of them throws. @ai-sdk/openai-compatible 3.0.92 and @ai-sdk/mistral 4.0.87 give words and thoughts. So a gateway that serves such
# models as chat completions has to write texts, and `reasoning_content` for the thoughts, and must not send that member back: Mistral refuses it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @openai/agents@0.20.0 @langchain/openai@1.6.0 @langchain/core@1.4.0 ai@7.0.173 \
  @ai-sdk/openai-compatible@3.0.92 @ai-sdk/mistral@4.0.87 zod@4.6.7 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled } from '@openai/agents';
import { streamText } from 'ai';
import OpenAI from 'openai';

setTracingDisabled(true);
console.warn = () => {};
const lists = [[{ type: 'thinking', thinking: [{ type: 'text', text: 'A greeting.' }] }], [{ type: 'text', text: 'Hello' }]];
const server = createServer(async (request, response) => {
  await request.toArray();
  const toEvent = (delta, finish_reason = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${lists.map((content) => toEvent({ role: 'assistant', content })).join('')}${toEvent({ content: '!' })}${toEvent({ content: '' }, 'stop')}data: [DONE]\n\n`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const openai = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 });
const ofAiSdk = async (model) => {
  let [text, reasoning, errors] = ['', '', 0];
  for await (const part of streamText({ model, prompt: 'Hi', maxRetries: 0, onError() {} }).fullStream) {
    if (part.type === 'text-delta') text += part.text;
    if (part.type === 'reasoning-delta') reasoning += part.text;
    if (part.type === 'error') errors += 1;
  }
  return `"${text}", thoughts "${reasoning}", ${errors} errors`;
};
const clients = {
  openai: async () => JSON.stringify(await openai.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }).finalContent()),
  '@openai/agents': async () => {
    const result = await run(new Agent({ name: 'probe', model: new OpenAIChatCompletionsModel(openai, 'm') }), 'Hi', { stream: true });
    await result.completed;
    return JSON.stringify(result.finalOutput);
  },
  '@langchain/openai': async () => {
    let message;
    for await (const chunk of await new ChatOpenAI({ model: 'm', apiKey: 'none', configuration: { baseURL }, maxRetries: 0 }).stream('Hi'))
      message = message?.concat(chunk) ?? chunk;
    return `${JSON.stringify(message.text)} of ${JSON.stringify(message.content)}`;
  },
  '@ai-sdk/openai-compatible': () => ofAiSdk(createOpenAICompatible({ name: 'probe', baseURL, apiKey: 'none' })('m')),
  '@ai-sdk/mistral': () => ofAiSdk(createMistral({ baseURL, apiKey: 'none' })('magistral-medium-latest')),
};
const seen = {};
for (const [client, ask] of Object.entries(clients)) {
  seen[client] = await ask().catch((error) => `throws ${error.message.slice(0, 100)}`);
  console.log(`${client}: ${seen[client]}`);
}
const [objects, right] = ['"[object Object][object Object]!"', '"Hello!", thoughts "A greeting.", 0 errors'];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify([objects, objects, '"!" of "!"', right, right])) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in openai @openai/agents @langchain/openai @ai-sdk/openai-compatible @ai-sdk/mistral; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   openai: "[object Object][object Object]!"
#   @openai/agents: "[object Object][object Object]!"
#   [WARNING]: Received non-string content from OpenAI. This is currently not supported.
#   [WARNING]: Received non-string content from OpenAI. This is currently not supported.
#   @langchain/openai: "!" of "!"
#   @ai-sdk/openai-compatible: "Hello!", thoughts "A greeting.", 0 errors
#   @ai-sdk/mistral: "Hello!", thoughts "A greeting.", 0 errors
