#!/usr/bin/env bash
# What an MCP tool gives as `structuredContent` alone reaches no model. The specification says that a server should repeat it in a text "for backwards
# compatibility", and a server may leave that out. @ai-sdk/mcp 2.0.99 and @openai/agents 0.20.0 then show the model an empty result, and
# @langchain/mcp-adapters 1.1.4 keeps it in `artifact`, which no model sees; none raises an error, so the model says that nothing was found. Where the
# server does repeat it, the adapter of LangChain sends both, one within the other, and so the same twice. So a server must give the text, and a client
# must look at both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @ai-sdk/mcp@2.0.99 @openai/agents@0.20.0 @langchain/mcp-adapters@1.1.4 @langchain/core@1.4.0 @langchain/langgraph@1.7.3 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createMCPClient } from '@ai-sdk/mcp';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { MCPServerStreamableHttp } from '@openai/agents';

/** A server with one tool that gives the stock of an article by its schema. */
async function serve(content) {
  const outputSchema = { type: 'object', properties: { stock: { type: 'integer' } }, required: ['stock'] };
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'shop', version: '1' } },
    'tools/list': { tools: [{ name: 'stock', inputSchema: { type: 'object' }, outputSchema }] },
    'tools/call': { content, structuredContent: { stock: 42 } },
  };
  const server = createServer(async (request, response) => {
    const answer = (status, headers, body) => response.writeHead(status, headers).end(body && JSON.stringify(body));
    if (request.method !== 'POST') return answer(405, {});
    const { id, method } = JSON.parse((await request.toArray()).join(''));
    if (id === undefined) return answer(202, {});
    const result = results[method];
    const outcome = result === undefined ? { error: { code: -32_601, message: 'Method not found' } } : { result };
    answer(200, { 'content-type': 'application/json' }, { jsonrpc: '2.0', id, ...outcome });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return `http://127.0.0.1:${server.address().port}/mcp`;
}

/** What each gives the model as the result of the tool. */
const clients = {
  '@ai-sdk/mcp': async (url) => {
    const { stock } = await (await createMCPClient({ transport: { type: 'http', url } })).tools();
    const output = await stock.execute({}, { messages: [], toolCallId: 'one' });
    return (await stock.toModelOutput({ output, toolCallId: 'one', input: {} })).value;
  },
  '@openai/agents': async (url) => {
    const server = new MCPServerStreamableHttp({ url, name: 'shop' });
    await server.connect();
    await server.listTools();
    return server.callTool('stock', {});
  },
  '@langchain/mcp-adapters': async (url) => {
    const [stock] = await new MultiServerMCPClient({ mcpServers: { shop: { url, transport: 'http' } } }).getTools();
    return (await stock.invoke({ name: 'stock', args: {}, id: 'one', type: 'tool_call' })).content;
  },
};
const alone = await serve([]);
const repeated = await serve([{ type: 'text', text: '{"stock":42}' }]);
let isAsStated = true;
for (const [name, ask] of Object.entries(clients)) {
  const withoutText = JSON.stringify(await ask(alone));
  const withText = JSON.stringify(await ask(repeated));
  const count = withText.split('42').length - 1;
  console.log(`${name}: without a text ${withoutText}, with one the figure stands there ${count} times`);
  isAsStated &&= withoutText === '[]' && count === (name.startsWith('@langchain') ? 2 : 1);
}
if (!isAsStated) console.error('It behaves otherwise now.');
process.exit(isAsStated ? 0 : 1);
JS
for name in @ai-sdk/mcp @openai/agents @langchain/mcp-adapters; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   @ai-sdk/mcp: without a text [], with one the figure stands there 1 times
#   @openai/agents: without a text [], with one the figure stands there 1 times
#   @langchain/mcp-adapters: without a text [], with one the figure stands there 2 times
