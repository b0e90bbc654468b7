import { startProxy } from './proxy.ts';

/**
 * The client that the conformance suite starts: asks a running Parley to use the MCP server at an address, the last argument. The scripted model of
 * the test does with the tools what the scenario wants.
 */
const { PARLEY_URL, PARLEY_KEY, MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_CONTEXT = '{}' } = process.env;
const server = new URL(process.argv.at(-1) ?? '');
// The suite waits until the last connection of its server ends. Parley keeps its session, so the connections end with this process.
const proxy = await startProxy(server.href);
const reply = await fetch(`${PARLEY_URL}/api/v2/responses`, {
  method: 'POST',
  headers: { authorization: `Bearer ${PARLEY_KEY}`, 'content-type': 'application/json' },
  body: JSON.stringify({
    model: 'openai/test-model',
    input: JSON.stringify({ scenario: MCP_CONFORMANCE_SCENARIO, ...JSON.parse(MCP_CONFORMANCE_CONTEXT) }),
    tools: [{ type: 'mcp', server_label: 's', server_url: `${proxy.url}${server.pathname}`, require_approval: 'never' }],
  }),
});
const body = await reply.text();
console.log(reply.status, body);
process.exit(reply.ok ? 0 : 1);
