import { expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

const { make } = await withService();
const ann = await make.person();

const agent = { name: 'A', description: 'd', instructions: 'i', src: '', modelId: 'parley/offline' };
const mcp = (data: object) => ({ tools: [{ name: 'files', type: 'MCP_SERVER', data }] });
const notStarted =
  'MCP server not started: files is a stdio server, a program; only the operator of the service can configure those';
const api = (name: string, host: string) => ({
  name,
  type: 'API_FUNCTION',
  data: { url: `https://${host}/`, headers: { 'X-Key': '{{secret:KEY}}' } },
});
const payloads = ['a', 'b'].map((name) => ({ name, uniqueId: name }));

const cases: readonly (readonly [string, object, readonly string[]])[] = [
  ['a stdio MCP server', mcp({ command: 'npx', args: ['-y', 'server-files', '/'] }), [notStarted]],
  ['a stdio MCP server with an address', mcp({ transport: 'stdio', url: 'https://mcp.example.com' }), [notStarted]],
  ['a stdio MCP server by its type', mcp({ type: 'stdio' }), [notStarted]],
  ['a stdio MCP server by its transport', mcp({ transport: { type: 'stdio' }, command: null }), [notStarted]],
  ['an MCP server without an address', mcp({ description: 'x' }), ['MCP server without effect: files has no http or https url']],
  ['an MCP server with an address', mcp({ url: 'https://mcp.example.com/mcp', headers: { Accept: 'a' } }), []],
  [
    'a source that names a connection of its place',
    { dataSources: [{ name: 'S', type: 'WIKI', data: { oauthTokenId: 'oa_1', pageName: 'Home' } }] },
    ['connection and credentials left out: S', 'data source content not included: S'],
  ],
  [
    'a source with a credential in its address',
    { dataSources: [{ name: 'S', type: 'WEB_URL', data: { url: 'https://ann:CANARY@a.example/' } }] },
    ['connection and credentials left out: S', 'data source content not included: S'],
  ],
  [
    'a payload with several documents',
    { dataSources: [{ name: 'S', type: 'API', data: { a: 1 }, knowledgeItems: payloads }] },
    ['documents left out: S is one payload, and so one document'],
  ],
  ['a secret without a value', { tools: [api('one', 'a.example')], secrets: {} }, ['secret missing: KEY']],
  ['a secret for one place', { tools: [api('one', 'a.example'), api('two', 'a.example')], secrets: { KEY: 'CANARY' } }, []],
  [
    'a secret for several places',
    { tools: [api('one', 'a.example'), api('two', 'b.example')], secrets: { KEY: 'CANARY' } },
    ['secret sent to several places: KEY to https://a.example, https://b.example'],
  ],
  ['a model that is not here', { agent: { ...agent, modelId: 'nobody/none' } }, [expect.stringMatching(/^model substituted: /)]],
];

it.each(cases)(
  '%s: told by the import, its dry run and GraphQL alike',
  async (_case, { secrets, ...members }: { secrets?: object }, warnings) => {
    const input = { bundle: { version: '1.0', agent, ...members }, ...(secrets === undefined ? {} : { secrets }) };
    const dry = await ann.post('/api/v1/ais/import?dryRun=true', input);
    const real = await ann.post('/api/v1/ais/import', input);
    const mutation = 'mutation ($input: ImportAgentInput!) { importAgent(input: $input) { warnings } }';
    const named = Object.entries(secrets ?? {}).map(([name, value]) => ({ name, value }));
    const overGraphql = await ann.graphql(mutation, { input: { ...input, secrets: named } });
    for (const told of [dry.body.warnings, real.body.warnings, overGraphql.data?.importAgent.warnings])
      expect(told).toEqual(warnings);
    expect(JSON.stringify([dry.body, real.body, overGraphql])).not.toContain('CANARY');
  },
);

it.each(['npx', ['npx'], { program: 'npx' }])(
  'nothing is started for a stdio server, however its command is written: %j',
  async (command) => {
    const made = await make.agent({ owner: ann });
    const tool = await ann.post(`/api/v1/ais/${made.id}/tools`, { name: 'files', type: 'MCP_SERVER', data: { command } });
    expect(tool.status).toBe(200);
    expect(
      (await ann.post('/api/v1/ais/import?dryRun=true', { bundle: { version: '1.0', agent, ...mcp({ command }) } })).body
        .warnings,
    ).toEqual([notStarted]);
  },
);
