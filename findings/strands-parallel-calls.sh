#!/usr/bin/env bash
# @strands-agents/sdk 1.19.0 with its model of OpenAI over chat completions (`api: 'chat'`, which servers of the format are reached by): of several tools
# that a model calls at once, only the last is called, and what the model says before a call is lost. A model that asks to pay Ann and Bob, in two calls
# that arrive one after the other as OpenAI streams them, has paid Bob; the message that the agent keeps and sends back holds the second call alone, so
# the model believes that it never asked for the first. No error, no warning. Its `parallel_tool_calls: false` (in `params`) avoids the first of it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --legacy-peer-deps @strands-agents/sdk@1.19.0 openai@6.46.0 zod@4.6.7 @modelcontextprotocol/sdk@1.32.2 @opentelemetry/api@1.10.0 >/dev/null 2>&1
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { Agent, tool } from '@strands-agents/sdk';
import { OpenAIModel } from '@strands-agents/sdk/models/openai';
import { z } from 'zod';

const piece = (delta, finish_reason = null) => ({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] });
const begun = (index, id) => piece({ tool_calls: [{ index, id, type: 'function', function: { name: 'pay', arguments: '' } }] });
const args = (index, text) => piece({ tool_calls: [{ index, function: { arguments: text } }] });
const calls = [
  piece({ role: 'assistant', content: 'I pay both.' }),
  ...[begun(0, 'call_1'), args(0, '{"to":"Ann"}'), begun(1, 'call_2'), args(1, '{"to":"Bob"}')],
  piece({}, 'tool_calls'),
];
const asked = [];
const server = createServer(async (request, response) => {
  const { messages } = JSON.parse((await request.toArray()).join(''));
  asked.push(messages);
  const events = messages.at(-1).role === 'tool' ? [piece({ role: 'assistant', content: 'Done.' }), piece({}, 'stop')] : calls;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end('data: [DONE]\n\n');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const clientConfig = { baseURL: `http://127.0.0.1:${server.address().port}/v1` };
const paid = [];
const pay = tool({ name: 'pay', description: 'Pays', inputSchema: z.object({ to: z.string() }), callback: ({ to }) => `paid ${paid.push(to)}` });
const agent = new Agent({ model: new OpenAIModel({ api: 'chat', modelId: 'm', apiKey: 'k', clientConfig }), tools: [pay], printer: false });
const { stopReason } = await agent.invoke('Pay Ann and Bob');
const sentBack = asked.at(-1).find(({ role }) => role === 'assistant');
const seen = { paid: paid.join(' '), 'sent back': `"${sentBack.content}", ${sentBack.tool_calls.map(({ id }) => id).join(' ')}`, stopReason };
for (const [what, value] of Object.entries(seen)) console.log(`${what}: ${value}`);
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(['Bob', '"", call_2', 'endTurn'])) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @strands-agents/sdk openai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   paid: Bob
#   sent back: "", call_2
#   stopReason: endTurn
