#!/usr/bin/env bash
# What an MCP tool marks as failed (`isError: true`) is a success to two clients. @ai-sdk/mcp 2.0.99 gives the model the text without the mark, and to the
# program a part `tool-result` like any other, where a tool of its own that throws makes a `tool-error`; `callTool` of @openai/agents 0.20.0 gives the
# content alone, so nothing can tell. @langchain/mcp-adapters 1.1.4 throws. "0 rows changed: the account is closed" so counts as done in traces and
# retries, and a model sees an error only if its text says so. So a server should begin such a text with the word, and a program should ask the client
# below.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ai@7.0.173 @ai-sdk/mcp@2.0.99 @ai-sdk/openai-compatible@3.0.92 @openai/agents@0.20.0 @langchain/mcp-adapters@1.1.4 @langchain/core@1.4.0 @langchain/langgraph@1.7.3 zod@4.6.7 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createMCPClient } from '@ai-sdk/mcp';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { MCPServerStreamableHttp } from '@openai/agents';
import { generateText, isStepCount, tool } from 'ai';
import { z } from 'zod';

const text = 'Nothing was paid: the account is closed.';
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'bank', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'pay', description: 'Pays', inputSchema: { type: 'object', properties: {} } }] }),
  'tools/call': () => ({ isError: true, content: [{ type: 'text', text }] }),
};
/** Answers MCP, and as a model that calls the tool once. */
const server = createServer(async (request, response) => {
  if (request.method !== 'POST') return response.writeHead(405).end();
  const body = JSON.parse((await request.toArray()).join(''));
  const reply = (value) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (body.messages !== undefined) {
    const isDone = body.messages.some(({ role }) => role === 'tool');
    const calls = [{ id: 'call_1', type: 'function', function: { name: 'pay', arguments: '{}' } }];
    const message = { role: 'assistant', ...(isDone ? { content: 'Paid' } : { content: null, tool_calls: calls }) };
    const choices = [{ index: 0, message, finish_reason: isDone ? 'stop' : 'tool_calls' }];
    return reply({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices });
  }
  if (body.id === undefined) return response.writeHead(202).end();
  const result = answers[body.method]?.(body.params);
  reply({ jsonrpc: '2.0', id: body.id, ...(result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result }) });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${server.address().port}`;
const url = `${address}/mcp`;

const model = createOpenAICompatible({ name: 'p', apiKey: 'none', baseURL: address })('m');
const partOf = async (tools) => {
  const { steps } = await generateText({ model, prompt: 'Pay', tools, stopWhen: isStepCount(3) });
  return steps[0].content.at(-1).type;
};
const throwing = tool({ inputSchema: z.object({}), execute: () => Promise.reject(new Error(text)) });
const client = await createMCPClient({ transport: { type: 'http', url } });
const agents = new MCPServerStreamableHttp({ url, name: 'bank' });
await agents.connect();
const [langchainTool] = await new MultiServerMCPClient({ mcpServers: { bank: { transport: 'http', url } } }).getTools();
const seen = {
  'ai, a tool of its own that throws': await partOf({ pay: throwing }),
  'ai with @ai-sdk/mcp': await partOf(await client.tools()),
  '@openai/agents': JSON.stringify(await agents.callTool('pay', {})),
  '@langchain/mcp-adapters': await langchainTool.invoke({}).then(() => 'a result', () => 'an error'),
};
for (const [name, outcome] of Object.entries(seen)) console.log(`${name}: ${outcome}`);
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(['tool-error', 'tool-result', JSON.stringify([{ type: 'text', text }]), 'an error'])) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @ai-sdk/mcp @openai/agents @langchain/mcp-adapters ai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   ai, a tool of its own that throws: tool-error
#   ai with @ai-sdk/mcp: tool-result
#   @openai/agents: [{"type":"text","text":"Nothing was paid: the account is closed."}]
#   @langchain/mcp-adapters: an error
