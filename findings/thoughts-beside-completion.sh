#!/usr/bin/env bash
# Thoughts of a model that are paid for and counted by nobody. In the chat completions format `completion_tokens` holds the tokens of thoughts, and
# `completion_tokens_details.reasoning_tokens` says how many of it they are. xAI counts them beside it (its documentation says so), and gateways that
# translate Gemini do: only `total_tokens` is the sum of three. Of 10 tokens in, 5 out and 400 thought, which cost as 405 out, @langchain/openai 1.6.0,
# @ai-sdk/openai-compatible 3.0.92 and @openai/agents 0.20.0 say 5 out; the second says 15 altogether and no text, the other two 415, which their
# own two figures do not make. @ai-sdk/xai 4.0.9, made for the provider, says 405. No one warns. So a budget that counts output lets thoughts through
# for nothing, most of the price with such models: where the total is the sum of all three, or more was thought than completed, add them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @openai/agents@0.20.0 @langchain/openai@1.6.0 @langchain/core@1.4.0 ai@7.0.173 \
  @ai-sdk/openai-compatible@3.0.92 @ai-sdk/xai@4.0.9 zod@4.6.7 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createXai } from '@ai-sdk/xai';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled } from '@openai/agents';
import { generateText } from 'ai';
import OpenAI from 'openai';

setTracingDisabled(true);
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 415, completion_tokens_details: { reasoning_tokens: 400 } };
const server = createServer(async (request, response) => {
  await request.toArray();
  response.writeHead(200, { 'content-type': 'application/json' });
  const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
  response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice], usage }));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const ofAiSdk = async (model) => {
  const { usage: counted } = await generateText({ model, prompt: 'Hi' });
  return [counted.outputTokens, counted.totalTokens, counted.outputTokenDetails.textTokens];
};
const clients = {
  '@langchain/openai': async () => {
    const { usage_metadata: counted } = await new ChatOpenAI({ model: 'm', apiKey: 'none', configuration: { baseURL }, maxRetries: 0 }).invoke('Hi');
    return [counted.output_tokens, counted.total_tokens];
  },
  '@openai/agents': async () => {
    const model = new OpenAIChatCompletionsModel(new OpenAI({ apiKey: 'none', baseURL }), 'm');
    const { rawResponses } = await run(new Agent({ name: 'probe', model }), 'Hi');
    const { usage: counted } = rawResponses[0];
    return [counted.outputTokens, counted.totalTokens];
  },
  '@ai-sdk/openai-compatible': () => ofAiSdk(createOpenAICompatible({ name: 'probe', baseURL, apiKey: 'none' })('m')),
  '@ai-sdk/xai': () => ofAiSdk(createXai({ baseURL, apiKey: 'none' }).chat('m')),
};
const seen = [];
for (const [client, count] of Object.entries(clients)) {
  const [output, total, text] = await count();
  seen.push([output, total, ...(text === undefined ? [] : [text])]);
  console.log(`${client}: ${output} out, ${total} altogether${text === undefined ? '' : `, ${text} of text`}`);
}
if (JSON.stringify(seen) !== JSON.stringify([[5, 415], [5, 415], [5, 15, 0], [405, 415, 5]])) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @langchain/openai @openai/agents @ai-sdk/openai-compatible @ai-sdk/xai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   @langchain/openai: 5 out, 415 altogether
#   @openai/agents: 5 out, 415 altogether
#   @ai-sdk/openai-compatible: 5 out, 15 altogether, 0 of text
#   @ai-sdk/xai: 405 out, 415 altogether, 5 of text
