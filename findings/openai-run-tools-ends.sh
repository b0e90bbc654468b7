#!/usr/bin/env bash
# openai 7.59.0: what `runTools` of chat completions does where a run does not go smoothly. A model that still calls tools in the tenth completion ends
# it (the limit of `maxChatCompletions`): `finalContent()` resolves with null and no error, and the results of the last calls go to nobody. A tool that
# throws ends the whole run with its error; one that returns nothing tells the model the word "undefined". @openai/agents 0.20.0, by the same maker,
# throws MaxTurnsExceededError in the first case, and tells the model of the error in the second. So whoever counts on an answer must compare it with
# null, and each tool has to catch its own errors.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @openai/agents@0.20.0 zod@4.6.7 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';

/** A provider whose model calls the tool `step` for as many completions, and then says what the tool said last. */
async function serve(rounds) {
  const server = createServer(async (request, response) => {
    const { messages } = JSON.parse((await request.toArray()).join(''));
    server.requests += 1;
    const call = { id: `call_${server.requests}`, type: 'function', function: { name: 'step', arguments: '{}' } };
    const isAnswer = server.requests > rounds;
    const message = isAnswer ? { content: `It said: ${messages.at(-1).content}` } : { content: null, tool_calls: [call] };
    const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: isAnswer ? 'stop' : 'tool_calls' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] }));
  });
  server.requests = 0;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return { baseURL: `http://127.0.0.1:${server.address().port}`, countRequests: () => server.requests };
}
const about = { name: 'step', description: 'One step' };
const clients = {
  runTools: (baseURL, step) => {
    const parameters = { type: 'object', properties: {} };
    const tools = [{ type: 'function', function: { ...about, parameters, parse: JSON.parse, function: step } }];
    const request = { model: 'm', messages: [{ role: 'user', content: 'Go' }], tools };
    return new OpenAI({ apiKey: 'none', baseURL }).chat.completions.runTools(request).finalContent();
  },
  agents: async (baseURL, step) => {
    const agent = new Agent({ name: 'walker', model: 'm', tools: [tool({ ...about, parameters: z.object({}), execute: step })] });
    const modelProvider = new OpenAIProvider({ apiKey: 'none', baseURL, useResponses: false });
    return (await new Runner({ modelProvider, tracingDisabled: true }).run(agent, 'Go')).finalOutput;
  },
};
const fail = () => {
  throw new Error('The database is away');
};
const cases = { 'twelve rounds': [12, () => 'more'], 'a tool that throws': [1, fail], 'a tool without a result': [1, () => undefined] };
const seen = {};
for (const [name, [rounds, step]] of Object.entries(cases)) {
  for (const [client, ask] of Object.entries(clients)) {
    let calls = 0;
    const { baseURL, countRequests } = await serve(rounds);
    const count = () => ((calls += 1), step());
    const outcome = await ask(baseURL, count).then(String, (error) => `throws ${error.constructor.name}: ${error.message}`);
    seen[`${name}, ${client}`] = `${outcome} (${countRequests()} requests, ${calls} calls)`;
    console.log(`${name}, ${client}: ${seen[`${name}, ${client}`]}`);
  }
}
const isAsStated =
  seen['twelve rounds, runTools'] === 'null (10 requests, 10 calls)' &&
  seen['twelve rounds, agents'].startsWith('throws MaxTurnsExceededError') &&
  seen['a tool that throws, runTools'] === 'throws OpenAIError: The database is away (1 requests, 1 calls)' &&
  seen['a tool that throws, agents'].startsWith('It said: ') &&
  seen['a tool without a result, runTools'] === 'It said: undefined (2 requests, 1 calls)';
if (!isAsStated) console.error('It behaves otherwise now.');
process.exit(isAsStated ? 0 : 1);
JS
for name in openai @openai/agents; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   twelve rounds, runTools: null (10 requests, 10 calls)
#   twelve rounds, agents: throws MaxTurnsExceededError: Max turns (10) exceeded (10 requests, 10 calls)
#   a tool that throws, runTools: throws OpenAIError: The database is away (1 requests, 1 calls)
#   a tool that throws, agents: It said: An error occurred while running the tool. Please try again. (2 requests, 1 calls)
#   a tool without a result, runTools: It said: undefined (2 requests, 1 calls)
#   a tool without a result, agents: It said: undefined (2 requests, 1 calls)
