#!/usr/bin/env bash
# @google/adk 2.0.0, Google's kit for agents. A model now and then calls a tool that it was not given. The runner then makes an event with an error for
# the program and asks the model again: its call stands in the conversation without an answer, and nothing says that there is no such tool. So a model
# that answers alike is asked until the limit of calls of a run (`maxLlmCalls`, 500 by default; this ends after 50), each paid and each longer than the
# one before, where other kits send the model a failed result once. And a prompt that Gemini refuses (`promptFeedback.blockReason`) is an event with an
# `errorCode` only without streaming: with `StreamingMode.SSE` it is an event without content and without an error, like an empty answer.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @google/adk@2.0.0 zod@4.6.7 >/dev/null 2>&1
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';

const usageMetadata = { promptTokenCount: 5, totalTokenCount: 5 };
const answers = {
  unknown: { candidates: [{ content: { role: 'model', parts: [{ functionCall: { name: 'find_parcels', args: {} } }] }, finishReason: 'STOP', index: 0 }], usageMetadata },
  refused: { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata },
};
let answer;
const asked = [];
const server = createServer(async (request, response) => {
  asked.push(JSON.parse((await request.toArray()).join('')).contents);
  if (!request.url.includes('stream')) return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify(answer)}\r\n\r\n`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
process.env.GOOGLE_GEMINI_BASE_URL = `http://127.0.0.1:${server.address().port}`;
process.env.GEMINI_API_KEY = 'k';
const { FunctionTool, InMemoryRunner, LlmAgent, LogLevel, setLogLevel, StreamingMode } = await import('@google/adk');
const { z } = await import('zod');
setLogLevel?.(LogLevel.ERROR);

async function run(kind, streamingMode) {
  answer = answers[kind];
  asked.length = 0;
  const tool = new FunctionTool({ name: 'find_parcel', description: 'Finds a parcel', parameters: z.object({}), execute: () => 'on its way' });
  const agent = new LlmAgent({ name: 'shop', model: 'gemini-2.5-flash', tools: [tool] });
  const runner = new InMemoryRunner({ agent, appName: 'shop' });
  const session = await runner.sessionService.createSession({ appName: 'shop', userId: 'u' });
  const message = { role: 'user', parts: [{ text: 'Where is my parcel?' }] };
  const errors = [];
  try {
    for await (const event of runner.runAsync({ userId: 'u', sessionId: session.id, newMessage: message, runConfig: { streamingMode } })) {
      // The limit of 500 is not waited for.
      if (asked.length > 50) break;
      if (event.errorCode) errors.push(event.errorCode);
    }
  } catch (error) {
    errors.push(`thrown ${error.constructor.name}`);
  }
  return errors;
}

const seen = {};
const errors = await run('unknown', StreamingMode.NONE);
seen['requests to the model'] = asked.length;
const last = asked.at(-1).flatMap(({ parts }) => parts);
seen['calls in the last of them'] = last.filter(({ functionCall }) => functionCall).length;
seen['answers in it'] = last.filter(({ functionResponse }) => functionResponse).length;
seen['last error'] = errors.at(-1);
seen['refused, whole'] = (await run('refused', StreamingMode.NONE)).join(' ');
seen['refused, streamed'] = (await run('refused', StreamingMode.SSE)).join(' ');
for (const [what, value] of Object.entries(seen)) console.log(`${what}: ${value}`);
const expected = [51, 50, 0, 'UNKNOWN_ERROR', 'SAFETY', ''];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @google/adk; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   requests to the model: 51
#   calls in the last of them: 50
#   answers in it: 0
#   last error: UNKNOWN_ERROR
#   refused, whole: SAFETY
#   refused, streamed:
