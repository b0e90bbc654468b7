#!/usr/bin/env bash
# Moonshot, whose models are called Kimi, tells the usage of a streamed completion within the choice, `choices[0].usage`, where the format of chat
# completions has a member beside the choices. Clients of that format, given Moonshot's address, count nothing and say nothing, also where usage is asked
# for: of 1,000 tokens in and 500 out, the completion of the stream helper of openai 7.59.0, the usage of @openai/agents 0.20.0, `usage_metadata` of
# @langchain/openai 1.6.0 and the usage of @ai-sdk/openai-compatible 3.0.92 have none. @ai-sdk/moonshotai 3.0.60, made for the provider, finds it.
# So budgets and bills of each streamed answer are 0. A gateway has to look into the choice where no usage came beside it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @openai/agents@0.20.0 @langchain/openai@1.6.0 @langchain/core@1.4.0 ai@7.0.173 \
  @ai-sdk/openai-compatible@3.0.92 @ai-sdk/moonshotai@3.0.60 zod@4.6.7 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createMoonshotAI } from '@ai-sdk/moonshotai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled } from '@openai/agents';
import { streamText } from 'ai';
import OpenAI from 'openai';

setTracingDisabled(true);
const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
const server = createServer(async (request, response) => {
  await request.toArray();
  const toEvent = (choice) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(toEvent({ delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }));
  response.end(`${toEvent({ delta: {}, finish_reason: 'stop', usage })}data: [DONE]\n\n`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const openai = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 });
const ofAiSdk = async (model) => (await streamText({ model, prompt: 'Hi', maxRetries: 0 }).usage).totalTokens;
const clients = {
  openai: async () => {
    const stream = openai.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream_options: { include_usage: true } });
    return (await stream.finalChatCompletion()).usage?.total_tokens;
  },
  '@openai/agents': async () => {
    const result = await run(new Agent({ name: 'probe', model: new OpenAIChatCompletionsModel(openai, 'm') }), 'Hi', { stream: true });
    await result.completed;
    return result.rawResponses[0].usage.totalTokens;
  },
  '@langchain/openai': async () => {
    let message;
    for await (const chunk of await new ChatOpenAI({ model: 'm', apiKey: 'none', configuration: { baseURL }, maxRetries: 0 }).stream('Hi'))
      message = message?.concat(chunk) ?? chunk;
    return message.usage_metadata?.total_tokens;
  },
  '@ai-sdk/openai-compatible': () => ofAiSdk(createOpenAICompatible({ name: 'probe', baseURL, apiKey: 'none', includeUsage: true })('m')),
  '@ai-sdk/moonshotai': () => ofAiSdk(createMoonshotAI({ baseURL, apiKey: 'none' })('kimi-k2.5')),
};
const seen = [];
for (const [client, ask] of Object.entries(clients)) {
  seen.push((await ask().catch((error) => error.message)) || 'none');
  console.log(`${client}: ${seen.at(-1)}`);
}
if (JSON.stringify(seen) !== JSON.stringify(['none', 'none', 'none', 'none', 1500])) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in openai @openai/agents @langchain/openai @ai-sdk/openai-compatible @ai-sdk/moonshotai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   openai: none
#   @openai/agents: none
#   @langchain/openai: none
#   @ai-sdk/openai-compatible: none
#   @ai-sdk/moonshotai: 1500
