/**
 * The client that the conformance suite starts: asks a running Parley to use the MCP server at an address, the last argument. The scripted model of
 * the test does with the tools what the scenario wants.
 */
const { PARLEY_URL, PARLEY_KEY, MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_CONTEXT = '{}' } = process.env;
const server = new URL(process.argv.at(-1) ?? '');
// The suite names this machine; the egress guard of the test lets its address through.
server.hostname = '127.0.0.1';
const reply = await fetch(`${PARLEY_URL}/api/v2/responses`, {
  method: 'POST',
  headers: { authorization: `Bearer ${PARLEY_KEY}`, 'content-type': 'application/json' },
  body: JSON.stringify({
    model: 'openai/test-model',
    input: JSON.stringify({ scenario: MCP_CONFORMANCE_SCENARIO, ...JSON.parse(MCP_CONFORMANCE_CONTEXT) }),
    tools: [{ type: 'mcp', server_label: 's', server_url: server.href, require_approval: 'never' }],
  }),
});
const body = await reply.text();
console.log(reply.status, body);
process.exitCode = reply.ok ? 0 : 1;
