#!/usr/bin/env bash
# @genkit-ai/compat-oai 1.42.0, the plugin of Genkit for OpenAI and for every server of its format: what a model says beside a tool call is lost. A model
# writes "The order is late, so I look for its parcel." and calls a tool: the messages that `generate()` returns hold the call alone, and so does the
# next request, and each later turn of the chat. A stream gives the words to its reader, where they come in a piece of their own, and the messages at
# its end lack them all the same. So a model that plans aloud does not know its own plan in the next round, its answers differ from those of other
# clients, and the prompt is not the one that the provider has in its cache. Nothing is logged.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund genkit@1.42.0 @genkit-ai/compat-oai@1.42.0 >/dev/null 2>&1
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { openAICompatible } from '@genkit-ai/compat-oai';
import { genkit, z } from 'genkit';

const words = 'The order is late, so I look for its parcel.';
const call = { id: 'call_1', type: 'function', function: { name: 'find_parcel', arguments: '{"order":7}' } };
const asked = [];
const server = createServer(async (request, response) => {
  const body = JSON.parse((await request.toArray()).join(''));
  asked.push(body.messages);
  const isSecond = body.messages.some(({ role }) => role === 'tool');
  const message = isSecond ? { role: 'assistant', content: 'It comes tomorrow.' } : { role: 'assistant', content: words, tool_calls: [call] };
  const choice = { index: 0, finish_reason: isSecond ? 'stop' : 'tool_calls' };
  const reply = { id: 'c', created: 1, model: 'm' };
  if (body.stream !== true) {
    const whole = { ...reply, object: 'chat.completion', choices: [{ ...choice, message }] };
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
  }
  const deltas = [{ role: 'assistant', content: message.content }, ...(isSecond ? [] : [{ tool_calls: [{ index: 0, ...call }] }])];
  const pieces = deltas.map((delta, place) => ({ ...choice, delta, finish_reason: place === deltas.length - 1 ? choice.finish_reason : null }));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const piece of pieces) response.write(`data: ${JSON.stringify({ ...reply, object: 'chat.completion.chunk', choices: [piece] })}\n\n`);
  response.end('data: [DONE]\n\n');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const ai = genkit({ plugins: [openAICompatible({ name: 'probe', apiKey: 'k', baseURL })] });
const parcel = { name: 'find_parcel', description: 'Finds the parcel of an order', inputSchema: z.object({ order: z.number() }), outputSchema: z.string() };
const tools = [ai.defineTool(parcel, async () => 'on its way')];
const options = { model: 'probe/m', prompt: 'Where is order 7?', tools };

const seen = {};
const kindsOf = ({ messages }) => messages.find(({ role }) => role === 'model').content.flatMap(Object.keys).join(' ');
const whole = await ai.generate(options);
seen['whole, returned'] = kindsOf(whole);
seen['whole, sent'] = asked.at(-1).find(({ role }) => role === 'assistant').content ?? null;
const { stream, response } = ai.generateStream(options);
let heard = '';
for await (const { text } of stream) heard += text;
seen['stream, heard'] = heard;
seen['stream, returned'] = kindsOf(await response);
seen['stream, sent'] = asked.at(-1).find(({ role }) => role === 'assistant').content ?? null;
await ai.generate({ model: 'probe/m', messages: whole.messages, prompt: 'And order 8?', tools });
seen['next turn, sent'] = asked.at(-1).find(({ role }) => role === 'assistant').content ?? null;
for (const [what, value] of Object.entries(seen)) console.log(`${what}: ${value}`);
const expected = ['toolRequest', null, `${words}It comes tomorrow.`, 'toolRequest', null, null];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in genkit @genkit-ai/compat-oai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   whole, returned: toolRequest
#   whole, sent: null
#   stream, heard: The order is late, so I look for its parcel.It comes tomorrow.
#   stream, returned: toolRequest
#   stream, sent: null
#   next turn, sent: null
