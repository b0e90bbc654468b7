#!/usr/bin/env bash
# `observeOpenAI` of @langfuse/openai 5.11.1 records a streamed completion otherwise than it was. Two tools that are called at once become one call, with
# the name of the last and the arguments of both behind each other, and the text before them is left out; the same answer, not streamed, is recorded
# right. A stream that its reader leaves early, as when a person presses stop, is recorded nowhere: neither the question nor what came, though it is
# paid for. The documentation says of streams only that usage needs `stream_options`. So traces of agents show calls that never were, and costs lack
# all that was stopped: record tools by spans of your own, and read each stream to its end.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @langfuse/openai@5.11.1 @opentelemetry/api@1.9.0 @opentelemetry/sdk-trace-node@2.12.1 \
  @opentelemetry/sdk-trace-base@2.12.1 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { observeOpenAI } from '@langfuse/openai';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import OpenAI from 'openai';

const exporter = new InMemorySpanExporter();
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
const toolCalls = ['weather', 'time'].map((name, index) => ({ index, id: `c${index}`, type: 'function', function: { name, arguments: JSON.stringify({ from: name }) } }));
const server = createServer(async (request, response) => {
  const { stream } = JSON.parse(Buffer.concat(await request.toArray()));
  const toBody = (choice) =>
    JSON.stringify({ id: 'c', object: stream ? 'chat.completion.chunk' : 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, ...choice }] });
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
  if (!stream) {
    const message = { role: 'assistant', content: 'I look.', tool_calls: toolCalls.map(({ index, ...call }) => call) };
    response.end(toBody({ message, finish_reason: 'tool_calls' }));
    return;
  }
  const deltas = [{ role: 'assistant', content: 'I look.' }, ...toolCalls.map((call) => ({ tool_calls: [call] }))];
  for (const delta of deltas) response.write(`data: ${toBody({ delta, finish_reason: null })}\n\n`);
  response.end(`data: ${toBody({ delta: {}, finish_reason: 'tool_calls' })}\n\ndata: [DONE]\n\n`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const options = { apiKey: 'none', baseURL: `http://127.0.0.1:${server.address().port}/v1`, maxRetries: 0 };
const { completions } = observeOpenAI(new OpenAI(options)).chat;
const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const streamed = () => completions.create({ ...question, stream: true });
const ways = {
  whole: () => completions.create(question),
  async streamed() {
    for await (const chunk of await streamed()) void chunk;
  },
  async 'left early'() {
    for await (const chunk of await streamed()) if (chunk) break;
  },
};
const seen = [];
for (const [name, ask] of Object.entries(ways)) {
  exporter.reset();
  await ask();
  await wait(300);
  const outputs = exporter.getFinishedSpans().map(({ attributes }) => attributes['langfuse.observation.output'] ?? '');
  const [output = ''] = outputs;
  const { content, tool_calls: calls = [] } = output === '' ? {} : JSON.parse(output);
  const called = calls.map(({ function: { name, arguments: given } }) => `${name}(${given})`).join(', ');
  console.log(`${name}: ${outputs.length} recorded${output && `, text ${content}, calls ${called}`}`);
  seen.push([outputs.length, content, called]);
}
const [weather, time] = ['{"from":"weather"}', '{"from":"time"}'];
const expected = [[1, 'I look.', `weather(${weather}), time(${time})`], [1, undefined, `time(${weather}${time})`], [0, undefined, '']];
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in openai @langfuse/openai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   whole: 1 recorded, text I look., calls weather({"from":"weather"}), time({"from":"time"})
#   streamed: 1 recorded, text undefined, calls time({"from":"weather"}{"from":"time"})
#   left early: 0 recorded
