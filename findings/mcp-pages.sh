#!/usr/bin/env bash
# An MCP server may give its lists in pages: an answer with `nextCursor` has more behind it. `listResources()` of @langchain/mcp-adapters 1.1.4 gives the
# first page only, and neither a cursor nor a way to hand one in, so what stands on later pages cannot be reached, and nothing says that it is there;
# `getTools()` of the same client reads every page. @modelcontextprotocol/client 2.4.0 walks all pages where it is called without a cursor, and
# @modelcontextprotocol/sdk 1.32.2, which it follows, gives one page: a loop over pages that was right before runs once now, and a call without a loop
# misses the rest in the older one. So a server that wants to be read whole gives short lists in one page.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @langchain/mcp-adapters@1.1.4 @langchain/core@1.4.0 @langchain/langgraph@1.7.3 @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import * as client from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** Three pages of tools and of resources, one on each. */
const server = createServer(async (request, response) => {
  const answer = (status, headers, body) => response.writeHead(status, headers).end(body && JSON.stringify(body));
  if (request.method !== 'POST') return answer(405, {});
  const { id, method, params } = JSON.parse((await request.toArray()).join(''));
  if (id === undefined) return answer(202, {});
  const page = Number(params?.cursor ?? 1);
  const next = page < 3 ? { nextCursor: String(page + 1) } : {};
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {}, resources: {} }, serverInfo: { name: 'shop', version: '1' } },
    'tools/list': { tools: [{ name: `tool${page}`, inputSchema: { type: 'object' } }], ...next },
    'resources/list': { resources: [{ name: `resource${page}`, uri: `shop://${page}` }], ...next },
  };
  const result = results[method];
  answer(200, { 'content-type': 'application/json' }, { jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'No such method' } }) });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/mcp`;
const names = (list) => list.map(({ name }) => name).join(' ');

const adapter = new MultiServerMCPClient({ shop: { transport: 'http', url } });
const seen = { 'LangChain, tools': names(await adapter.getTools()), 'LangChain, resources': names((await adapter.listResources()).shop) };
await adapter.close();
for (const [version, Kind, Transport] of [['sdk', Client, StreamableHTTPClientTransport], ['client', client.Client, client.StreamableHTTPClientTransport]]) {
  const stock = new Kind({ name: 'probe', version: '1' });
  await stock.connect(new Transport(new URL(url)));
  const list = await stock.listTools();
  seen[version] = `${names(list.tools)}, nextCursor ${list.nextCursor}`;
  await stock.close();
}
for (const [who, what] of Object.entries(seen)) console.log(`${who}: ${what}`);
const expected = ['tool1 tool2 tool3', 'resource1', 'tool1, nextCursor 2', 'tool1 tool2 tool3, nextCursor undefined'];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @langchain/mcp-adapters @modelcontextprotocol/sdk @modelcontextprotocol/client; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   LangChain, tools: tool1 tool2 tool3
#   LangChain, resources: resource1
#   sdk: tool1, nextCursor 2
#   client: tool1 tool2 tool3, nextCursor undefined
