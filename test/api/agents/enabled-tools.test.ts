import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { toolsOf } from '../../support/runs/research.ts';
import { withService } from '../../support/service.ts';

/** Standing tools of an agent: kept with it, offered in all its runs, carried in bundles. */
const model = 'openai/test-model';
const { make, upstream } = await withService('model');
let ann: Person;
let user: Person;

beforeAll(async () => {
  ann = await make.person();
  user = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
});

const path = '/api/v1/ais';
const members = { src: 'https://example.com/a.png', name: 'Ada', description: 'x', instructions: 'x', modelId: model };
const enabledTools = [{ type: 'python', requireApproval: true }, { type: 'deep_research' }];

it('keeps them, shows them, and replaces them as a whole', async () => {
  const made = await ann.post(path, { ...members, enabledTools });
  expect(made.body.enabledTools).toMatchObject([
    { type: 'python', requireApproval: true },
    { type: 'deep_research', requireApproval: false },
  ]);
  const changed = await ann.patch(`${path}/${made.body.id}`, { enabledTools: [{ type: 'python' }] });
  expect(changed.body.enabledTools).toMatchObject([{ type: 'python', requireApproval: false }]);
  const { data } = await ann.graphql('query ($id: ID!) { agent(id: $id) { enabledTools { type requireApproval } } }', {
    id: made.body.id,
  });
  expect(data.agent.enabledTools).toEqual([{ type: 'python', requireApproval: false }]);
});

it('shows only their types to users who may not edit the agent', async () => {
  const tools = [{ type: 'web_search', filters: { allowed_domains: ['intern.example'] } }];
  const { body } = await ann.post(path, { ...members, visibility: 'ORGANIZATION', enabledTools: tools });
  const seen = await user.get(`${path}/${body.id}`);
  expect(seen.body.enabledTools[0].type).toBe('web_search');
  expect(JSON.stringify(seen.body)).not.toContain('intern.example');
});

it('carries them in bundles', async () => {
  const { body } = await ann.post(path, { ...members, enabledTools });
  const bundle = (await ann.get(`${path}/${body.id}/export`)).body;
  expect(bundle.agent.enabledTools).toMatchObject([{ type: 'python', requireApproval: true }, { type: 'deep_research' }]);
  const imported = await ann.post(`${path}/import`, { bundle });
  expect(imported.status, JSON.stringify(imported.body)).toBe(200);
  const copy = await ann.get(`${path}/${imported.body.aiId}`);
  expect(copy.body.enabledTools).toMatchObject([{ type: 'python', requireApproval: true }, { type: 'deep_research' }]);
});

describe('runs', () => {
  it.each(['chats', 'completions', 'responses'])('of %s offer them beside those of the request', async (surface) => {
    const { body } = await ann.post(path, { ...members, enabledTools: [{ type: 'python' }] });
    upstream.next({ text: 'Hi' });
    const tools = [{ type: 'deep_research' }];
    if (surface === 'chats') {
      const chat = await make.chat({ owner: ann, agentId: body.id });
      await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi', tools });
    } else if (surface === 'completions') {
      await ann.post('/api/v1/chat/completions', { model: body.id, messages: [{ role: 'user', content: 'Hi' }], tools });
    } else await ann.post('/api/v2/responses', { model: body.id, input: 'Hi', tools });
    expect([...toolsOf(upstream.requests[0])].sort()).toEqual(['deep_research', 'python']);
  });
});

it.each([
  [[{ type: 'function' }], 'enabledTools[0].type'],
  [[{ type: 'nothing' }], 'enabledTools[0].type'],
  [
    [{ type: 'mcp', server_label: 'x', server_url: 'https://example.com/mcp', authorization: 'secret' }],
    'enabledTools[0].authorization',
  ],
])('refuses %j', async (tools, param) => {
  const { status, body } = await ann.post(path, { ...members, enabledTools: tools });
  expect([status, body.error.param]).toEqual([400, param]);
});

it('lists the tools of the instance on both APIs, with what switches on the rest', async () => {
  const { body } = await ann.get('/api/v1/tools');
  expect(body.data).toContainEqual(
    expect.objectContaining({ type: 'deep_research', isAvailable: true, isReadOnly: true, functions: ['deep_research'] }),
  );
  for (const { isAvailable, setting } of body.data) expect(isAvailable || typeof setting === 'string').toBe(true);
  const { data } = await ann.graphql('{ tools { type isAvailable } }');
  expect(data.tools).toEqual(
    body.data.map(({ type, isAvailable }: { type: string; isAvailable: boolean }) => ({ type, isAvailable })),
  );
});
