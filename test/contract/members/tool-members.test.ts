import { beforeAll, describe, expect, it } from 'vitest';
import { serverToolTypes } from '../../../src/wire/responses/tools.ts';
import type { Reply } from '../../support/client.ts';
import type { Person } from '../../support/make.ts';
import { sampled } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';

// A member without effect is refused by name, in every place that takes a tool or a part of an agent: stored or dropped, a mistyped
// `requireApproval` would pass for a rule.

const { make } = await withService('model', { env: { SEARCH_URL: 'http://127.0.0.1:1', IMAGE_MODEL: 'openai/test-image' } });
let ann: Person;
let agentId = '';
let chatId = '';

beforeAll(async () => {
  ann = await make.person();
  agentId = (await make.agent({ owner: ann })).id;
  chatId = (await make.chat({ owner: ann, agentId })).id;
});

/** What REST and GraphQL say of a refused member. */
interface Refusal {
  readonly status: number;
  readonly param: string | null;
  readonly message: string;
}
const ofReply = ({ status, body }: Reply): Refusal => ({
  status,
  param: body.error?.param ?? null,
  message: body.error?.message ?? '',
});

type Tool = Readonly<Record<string, unknown>>;
const agent = { name: 'Ada', description: '', instructions: '', src: '' };
const bundle = { version: '1.0', agent };
const messages = [{ role: 'user', content: 'Hi' }];

/** Each way to name a tool of the service; the place of its members in refusals. */
const ways: Readonly<Record<string, { readonly at: string; readonly send: (tool: Tool) => Promise<Reply> }>> = {
  'a chat': { at: 'tools[0]', send: (tool) => ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', tools: [tool] }) },
  'a completion': {
    at: 'tools[0]',
    send: (tool) => ann.post('/api/v1/chat/completions', { model: 'openai/test-model', messages, tools: [tool] }),
  },
  'a response': {
    at: 'tools[0]',
    send: (tool) => ann.post('/api/v2/responses', { model: 'openai/test-model', input: 'Hi', tools: [tool] }),
  },
  'a new agent': { at: 'enabledTools[0]', send: (tool) => ann.post('/api/v1/ais', { ...agent, enabledTools: [tool] }) },
  'a changed agent': { at: 'enabledTools[0]', send: (tool) => ann.patch(`/api/v1/ais/${agentId}`, { enabledTools: [tool] }) },
  'a bundle': {
    at: 'bundle.agent.enabledTools[0]',
    send: (tool) =>
      ann.post('/api/v1/ais/import?dryRun=true', { bundle: { ...bundle, agent: { ...agent, enabledTools: [tool] } } }),
  },
};
const needed: Readonly<Record<string, object>> = {
  mcp: { server_label: 'desk', server_url: 'https://mcp.invalid/mcp' },
  mcp_server: { server: 'desk' },
};
/** Not in snake_case: the same spelling in every format. */
const unknown = 'unheard';

describe.each(sampled(Object.entries(ways)))('a tool of the service in %s', (_way, { at, send }) => {
  it.each(serverToolTypes)('%s has no unknown member', async (type) => {
    const { status, param, message } = ofReply(await send({ type, ...needed[type], [unknown]: true }));
    expect([status, param]).toEqual([400, `${at}.${unknown}`]);
    expect(message).toContain('has no effect');
  });

  it.each<[string, Tool, string]>([
    ['a member of another tool', { type: 'python', size: '1024x1024' }, 'size'],
    ['a container', { type: 'python', container: 'box_1' }, 'container'],
    [
      'files of a container',
      { type: 'code_interpreter', container: { type: 'auto', file_ids: ['file_1'] } },
      'container.file_ids',
    ],
    ['a place that is none', { type: 'web_search', filters: { unheard: [] } }, 'filters.unheard'],
    ['a budget that is none', { type: 'deep_research', budget: { unheard: 1 } }, 'budget.unheard'],
  ])('%s is refused', async (_case, tool, member) => {
    const { status, param } = ofReply(await send(tool));
    expect([status, param?.replaceAll('fileIds', 'file_ids')]).toEqual([400, `${at}.${member}`]);
  });
});

it('a function of the caller may have members of other versions of its format, but none of a tool of the service', async () => {
  const tool = { type: 'function', function: { name: 'add', defer_loading: true }, cache_control: {} };
  expect((await ways['a completion']?.send(tool))?.status).toBe(200);
  const refused = await ways['a completion']?.send({ ...tool, require_approval: true });
  expect([refused?.status, refused?.body.error.param]).toEqual([400, 'tools[0].require_approval']);
});

const apiData = { description: 'x', url: 'https://api.example.com/' };
const toolData: Readonly<Record<string, object>> = {
  API_FUNCTION: apiData,
  CLIENT_FUNCTION: { description: 'x', parameters: { type: 'object' } },
  MCP_SERVER: { url: 'https://mcp.example.com/mcp' },
};

const choices: Readonly<Record<string, string>> = {
  API_FUNCTION: 'apiFunction',
  CLIENT_FUNCTION: 'clientFunction',
  MCP_SERVER: 'mcpServer',
};

describe.each(Object.entries(toolData))('the data of a tool of the type %s', (type, data) => {
  it.each(['require_approval', 'requiresApproval', 'unheard'])('has no member %s', async (name) => {
    const tool = { name: 'stock', type, data: { ...data, [name]: true } };
    const made = (await ann.post(`/api/v1/ais/${agentId}/tools`, { name: `plain_${type}_${name}`, type, data })).body;
    const mutation = 'mutation ($id: ID!, $input: CreateAgentToolInput!) { createAgentTool(agentId: $id, input: $input) { id } }';
    const settings = { [choices[type] ?? type]: { ...data, [name]: true } };
    const { errors } = await ann.graphql(mutation, { id: agentId, input: { name: 'stock', settings } });
    const paths = errors?.[0]?.extensions.faults.map(({ path }: { path: string }) => path);
    expect(paths).toContain(`input.settings.${choices[type]}.${name}`);
    for (const [reply, param] of [
      [await ann.post(`/api/v1/ais/${agentId}/tools`, tool), `data.${name}`],
      [await ann.patch(`/api/v1/ais/${agentId}/tools/${made.id}`, { data: tool.data }), `data.${name}`],
      [await ann.post('/api/v1/ais/import', { bundle: { ...bundle, tools: [tool] } }), `bundle.tools[0].data.${name}`],
    ] as const) {
      expect(ofReply(reply)).toMatchObject({ status: 400, param });
    }
    expect(await ann.patch(`/api/v1/ais/${agentId}/tools/${made.id}`, made)).toMatchObject({ status: 200 });
  });
});

const step = { id: 'say', type: 'prompt', text: 'Hi' };
const flow = (steps: readonly object[], more: object = {}) => ({
  name: 'Flow',
  versions: [{ version: 1, data: { steps, ...more } }],
});
const stepsAt = 'versions[0].data.steps[0]';

describe('a part of an agent refuses what has no effect', () => {
  it.each<[string, string, object, string]>([
    [
      'tools',
      'a rule beside the data',
      { name: 'stock', type: 'API_FUNCTION', data: apiData, requireApproval: true },
      'requireApproval',
    ],
    [
      'tools',
      'a member of auth',
      { name: 's', type: 'API_FUNCTION', data: { ...apiData, auth: { type: 'bearerToken', secretKey: 'A', realm: 'x' } } },
      'data.auth.realm',
    ],
    ['skills', 'a member', { name: 'Refunds', description: '', content: 'x', unheard: 1 }, 'unheard'],
    ['secrets', 'a member', { key: 'KEY', secretType: 'apiKey', unheard: 1 }, 'unheard'],
    ['user-inputs', 'a member', { variableName: 'a', type: 'SHORT_TEXT', label: 'A', unheard: 1 }, 'unheard'],
    [
      'user-inputs',
      'a setting',
      { variableName: 'a', type: 'SHORT_TEXT', label: 'A', configuration: { unheard: 1 } },
      'configuration.unheard',
    ],
    ['flows', 'a member', { ...flow([step]), unheard: 1 }, 'unheard'],
    ['flows', 'a member of the data', flow([step], { unheard: 1 }), 'versions[0].data.unheard'],
    ['flows', 'a member of a step', flow([{ ...step, unheard: 1 }]), `${stepsAt}.unheard`],
    ['flows', 'a member of another step', flow([{ ...step, limit: 1 }]), `${stepsAt}.limit`],
  ])('%s: %s', async (path, _case, body, param) => {
    expect(ofReply(await ann.post(`/api/v1/ais/${agentId}/${path}`, body))).toMatchObject({ status: 400, param });
  });

  it('connections: a program', async () => {
    const server = { name: 'Desk', url: 'https://mcp.example.com/mcp', command: 'npx' };
    expect(ofReply(await ann.post('/api/v1/connections/mcp-servers', server))).toMatchObject({ status: 400, param: 'command' });
  });

  it.each(['skills', 'secrets', 'user-inputs', 'flows'])('%s: what was read may be sent back', async (path) => {
    const bodies: Readonly<Record<string, object>> = {
      skills: { name: 'Refunds', description: 'x', content: 'x' },
      secrets: { key: 'KEY', secretType: 'apiKey' },
      'user-inputs': { variableName: 'a', type: 'SHORT_TEXT', label: 'A' },
      flows: flow([step]),
    };
    const made = await ann.post(`/api/v1/ais/${agentId}/${path}`, bodies[path]);
    // Origins are set together with a value.
    const { origins: _origins, ...read } = made.body;
    const again = await ann.patch(`/api/v1/ais/${agentId}/${path}/${made.body.id}`, read);
    expect(again.status, JSON.stringify(again.body)).toBe(200);
  });
});
