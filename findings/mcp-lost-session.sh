#!/usr/bin/env bash
# Four MCP clients do not come back from a lost session. By the specification (2025-11-25, transports, session management) a client that gets 404 for a request
# with its `Mcp-Session-Id` must begin a new session. @modelcontextprotocol/client 2.4.0, @modelcontextprotocol/sdk 1.32.2 and @openai/agents 0.20.0,
# which is built on the former, give the 404 to the caller, keep the id, and fail each later call in the same way. @ai-sdk/mcp 2.0.99 forgets the id and
# goes on without any, never with `initialize`, so a server with sessions answers 400 from then on. So a server that holds sessions in memory loses its
# clients with each restart: it should hold none, or take an id that it does not know. Whoever builds on these clients has to connect anew himself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/sdk@1.32.2 @ai-sdk/mcp@2.0.99 @openai/agents@0.20.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createMCPClient } from '@ai-sdk/mcp';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { MCPServerStreamableHttp } from '@openai/agents';

/** A server whose first session is over as soon as a tool is called, as after a restart; it begins any number of new ones. */
async function serve() {
  let sessions = 0;
  const tools = [{ name: 'add', inputSchema: { type: 'object' } }];
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'adder', version: '1' } },
    'tools/list': { tools },
    'tools/call': { content: [{ type: 'text', text: 'three' }] },
  };
  const server = createServer(async (request, response) => {
    const answer = (status, headers, body) => response.writeHead(status, headers).end(body && JSON.stringify(body));
    if (request.method !== 'POST') return answer(405, {});
    const { id, method } = JSON.parse((await request.toArray()).join(''));
    if (id === undefined) return answer(202, {});
    const headers = { 'content-type': 'application/json' };
    const refusal = (code, message, of = null) => ({ jsonrpc: '2.0', id: of, error: { code, message } });
    if (results[method] === undefined) return answer(200, headers, refusal(-32_601, 'Method not found', id));
    const session = request.headers['mcp-session-id'];
    if (method !== 'initialize' && session === undefined) return answer(400, headers, refusal(-32_000, 'Mcp-Session-Id is required'));
    if (method === 'tools/call' && session === '1') return answer(404, headers, refusal(-32_001, 'Session not found'));
    if (method === 'initialize') headers['mcp-session-id'] = String((sessions += 1));
    answer(200, headers, { jsonrpc: '2.0', id, result: results[method] });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, countSessions: () => sessions };
}

async function tryThrice(connect) {
  const { url, countSessions } = await serve();
  const call = await connect(url);
  const seen = [];
  for (let turn = 0; turn < 3; turn += 1) {
    seen.push(await call().then(() => 'answered', ({ message }) => /Session not found|Session-Id is required/.exec(message)?.[0] ?? message));
  }
  return `${seen.join(', ')}; sessions begun: ${countSessions()}`;
}
const seen = {
  '@modelcontextprotocol/client': await tryThrice(async (url) => {
    const client = new Client({ name: 'probe', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return () => client.callTool({ name: 'add', arguments: {} });
  }),
  '@modelcontextprotocol/sdk': await tryThrice(async (url) => {
    const client = new OldClient({ name: 'probe', version: '1' });
    await client.connect(new OldTransport(new URL(url)));
    return () => client.callTool({ name: 'add', arguments: {} });
  }),
  '@openai/agents': await tryThrice(async (url) => {
    const server = new MCPServerStreamableHttp({ url, name: 'adder' });
    await server.connect();
    return () => server.callTool('add', {});
  }),
  '@ai-sdk/mcp': await tryThrice(async (url) => {
    const client = await createMCPClient({ transport: { type: 'http', url } });
    const { add } = await client.tools();
    return () => add.execute({}, { messages: [], toolCallId: 'one' });
  }),
};
for (const [name, what] of Object.entries(seen)) console.log(`${name}: ${what}`);
const { '@ai-sdk/mcp': forgetting, ...keeping } = seen;
const [lost, missing] = ['Session not found', 'Session-Id is required'];
const isAsStated =
  forgetting === `${lost}, ${missing}, ${missing}; sessions begun: 1` &&
  Object.values(keeping).every((what) => what === `${lost}, ${lost}, ${lost}; sessions begun: 1`);
if (!isAsStated) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @modelcontextprotocol/client @modelcontextprotocol/sdk @openai/agents @ai-sdk/mcp; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   @modelcontextprotocol/client: Session not found, Session not found, Session not found; sessions begun: 1
#   @modelcontextprotocol/sdk: Session not found, Session not found, Session not found; sessions begun: 1
#   @openai/agents: Session not found, Session not found, Session not found; sessions begun: 1
#   @ai-sdk/mcp: Session not found, Session-Id is required, Session-Id is required; sessions begun: 1
