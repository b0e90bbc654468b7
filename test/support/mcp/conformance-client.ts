import { startProxy } from './proxy.ts';

/**
 * The client that the conformance suite starts: asks a running Parley to use the MCP server at an address, the last argument. The scripted model of
 * the test does with the tools what the scenario wants. In the scenarios of OAuth the server is a connection, and a person signs in to it as often as Parley
 * asks for that, three times at most.
 */
const { PARLEY_URL, PARLEY_KEY, MCP_CONFORMANCE_SCENARIO = '', MCP_CONFORMANCE_CONTEXT = '{}' } = process.env;
/** The suite demands this id in one scenario, and loads no document. Parley names its own where `PUBLIC_URL` has https: its tests say so. */
const clientDocument = 'https://conformance-test.local/client-metadata.json';
const server = new URL(process.argv.at(-1) ?? '');
const context = JSON.parse(MCP_CONFORMANCE_CONTEXT) as { readonly client_id?: string; readonly client_secret?: string };
const isDone = MCP_CONFORMANCE_SCENARIO.startsWith('auth/') ? await useConnection() : await useAddress();
process.exit(isDone ? 0 : 1);

async function useAddress(): Promise<boolean> {
  // The suite waits until the last connection of its server ends. Parley keeps its session, so the connections end with this process.
  const proxy = await startProxy(server.href);
  const url = `${proxy.url}${server.pathname}`;
  const reply = await ask({ type: 'mcp', server_label: 's', server_url: url, require_approval: 'never' });
  return reply.ok;
}

/** @returns whether the server could be used. */
async function useConnection(): Promise<boolean> {
  const { id } = await send('POST', '/api/v1/connections/mcp-servers', { name: 's', url: server.href });
  try {
    for (let signIns = 0; ; signIns += 1) {
      const { ok, text } = await ask({ type: 'mcp_server', server: id });
      const needsSignIn = text.includes('/account/connections');
      if (!needsSignIn || signIns === 3) return ok && !needsSignIn && !text.includes('mcp_unavailable');
      if (!(await signIn(id))) return false;
    }
  } finally {
    // Ends the session, too.
    await send('DELETE', `/api/v1/connections/${id}`);
  }
}

async function signIn(connectionId: string): Promise<boolean> {
  const ofScenario = MCP_CONFORMANCE_SCENARIO === 'auth/basic-cimd' ? clientDocument : undefined;
  const { client_id: clientId = ofScenario, client_secret: clientSecret } = context;
  const client = clientId === undefined ? {} : { clientId, clientSecret };
  const { url } = await send('POST', '/api/v1/connections/authorize', { provider: 'MCP', connectionId, ...client });
  if (url === undefined) return false;
  // The authorization server of the suite agrees by itself, and the browser comes back.
  const page = await fetch(url);
  const word = /name="word" value="([^"]+)"/.exec(await page.text())?.[1];
  if (word === undefined) return false;
  return (await fetch(`${PARLEY_URL}/oauth/callback`, { method: 'POST', body: new URLSearchParams({ word }) })).ok;
}

async function ask(tool: object): Promise<{ readonly ok: boolean; readonly text: string }> {
  const reply = await call('POST', '/api/v2/responses', {
    model: 'openai/test-model',
    input: JSON.stringify({ scenario: MCP_CONFORMANCE_SCENARIO, ...context }),
    tools: [tool],
  });
  const text = await reply.text();
  console.log(reply.status, text);
  return { ok: reply.ok, text };
}

async function send(method: string, path: string, body?: object): Promise<{ readonly id: string; readonly url?: string }> {
  const reply = await call(method, path, body);
  const text = await reply.text();
  console.log(method, path, reply.status, text);
  return JSON.parse(text);
}

function call(method: string, path: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${PARLEY_KEY}`, 'content-type': 'application/json' };
  return fetch(`${PARLEY_URL}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
}
