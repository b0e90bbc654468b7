#!/usr/bin/env bash
# A client of MCP checks what a tool answers against the tool's `outputSchema` only where it has listed the tool before: @modelcontextprotocol/sdk 1.32.2
# and @modelcontextprotocol/client 2.4.0 take `{price: "free"}` for `{price: number}` from `callTool` without an error as long as `listTools` was not
# called. In 1.32.2 each page of the list replaces the one before: after a whole list was read page by page, as its cursor demands, only tools of the
# last page are checked. 2.4.0 reads all pages at once. So list the tools first, and with the older SDK check the answers yourself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const outputSchema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
const tool = (name) => ({ name, description: name, inputSchema: { type: 'object' }, outputSchema });
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'shop', version: '1' } }),
  'tools/list': ({ cursor } = {}) => (cursor === undefined ? { tools: [tool('first')], nextCursor: '2' } : { tools: [tool('second')] }),
  'tools/call': () => ({ content: [{ type: 'text', text: '{"price":"free"}' }], structuredContent: { price: 'free' } }),
};
const server = createServer(async (request, response) => {
  if (request.method !== 'POST') return response.writeHead(405).end();
  const { id, method, params } = JSON.parse((await request.toArray()).join(''));
  if (id === undefined) return response.writeHead(202).end();
  response.writeHead(200, { 'content-type': 'application/json' });
  const error = { code: -32601, message: 'Method not found' };
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(answers[method] === undefined ? { error } : { result: answers[method](params) }) }));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = new URL(`http://127.0.0.1:${server.address().port}/mcp`);

const seen = {};
for (const [name, Client, Transport] of [['sdk 1.32.2', OldClient, OldTransport], ['client 2.4.0', NewClient, NewTransport]]) {
  const client = new Client({ name: 'probe', version: '1' });
  await client.connect(new Transport(url));
  const call = (tool) => client.callTool({ name: tool, arguments: {} }).then(() => 'taken', () => 'refused');
  seen[`${name}, before the list`] = await call('first');
  for (let cursor; ; ) {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor });
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  seen[`${name}, tool of the first page, after the list`] = await call('first');
  seen[`${name}, tool of the last page, after the list`] = await call('second');
}
for (const [name, outcome] of Object.entries(seen)) console.log(`${name}: ${outcome}`);
if (Object.values(seen).join(' ') !== 'taken taken refused taken refused refused') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @modelcontextprotocol/sdk @modelcontextprotocol/client; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   sdk 1.32.2, before the list: taken
#   sdk 1.32.2, tool of the first page, after the list: taken
#   sdk 1.32.2, tool of the last page, after the list: refused
#   client 2.4.0, before the list: taken
#   client 2.4.0, tool of the first page, after the list: refused
#   client 2.4.0, tool of the last page, after the list: refused
