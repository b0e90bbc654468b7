import { describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

/** A flow answers within one turn: a step whose tool waits for a person's approval is refused when the flow is written. */
const { make, upstream } = await withService('model');

const ann = await make.person();

const members = {
  src: 'https://example.com/a.png',
  name: 'Ada',
  description: 'x',
  instructions: 'x',
  modelId: 'openai/test-model',
};
const mcp = { type: 'mcp', serverLabel: 'shop', serverUrl: 'https://example.com/mcp' };
const data = { description: 'Pays', parameters: { type: 'object' }, method: 'POST', url: 'https://example.com/pay' };
const enabledTools = [
  { type: 'memory', requireApproval: true },
  { type: 'deep_research' },
  { type: 'mcp_server', server: 'desk', requireApproval: true },
  { type: 'mcp_server', serverLabel: 'shelf', requireApproval: true },
  { ...mcp },
  { ...mcp, serverLabel: 'bank', requireApproval: { never: { tool_names: ['look'] } } },
  { ...mcp, serverLabel: 'post', requireApproval: 'never' },
  { ...mcp, serverLabel: 'hints', requireApproval: { never: { read_only: true } } },
];
const flowOf = (tool: string) => ({
  name: 'Main',
  versions: [
    {
      version: 1,
      active: true,
      data: {
        steps: [
          { type: 'prompt', text: 'x' },
          { id: 'do', type: 'tool', tool },
        ],
      },
    },
  ],
});
const at = 'versions[0].data.steps[1].tool';
async function agentWithTools(standing: readonly object[] = enabledTools) {
  const { body } = await ann.post('/api/v1/ais', { ...members, enabledTools: standing });
  const add = (name: string, more: object) =>
    ann.post(`/api/v1/ais/${body.id}/tools`, { name, type: 'API_FUNCTION', data: { ...data, ...more } });
  expect((await add('pay', { requireApproval: true })).status).toBe(200);
  expect((await add('look', {})).status).toBe(200);
  return `/api/v1/ais/${body.id}`;
}

describe('a flow with a step that calls', () => {
  it.each(['pay', 'remember', 'desk__act', 'shelf__act', 'shop__order', 'bank__pay'])(
    '%s is refused on every API, with why',
    async (tool) => {
      const agent = await agentWithTools();
      const { status, body } = await ann.post(`${agent}/flows`, flowOf(tool));
      expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_value', at]);
      expect(body.error.message).toContain(`${tool}, whose calls wait for approval: a flow answers within one turn`);
      const made = await ann.post(`${agent}/flows`, flowOf('look'));
      expect(made.status).toBe(200);
      const changed = await ann.patch(`${agent}/flows/${made.body.id}`, flowOf(tool));
      expect([changed.status, changed.body.error.param]).toEqual([400, at]);
      const creating =
        'mutation ($agentId: ID!, $input: CreateFlowInput!) { createFlow(agentId: $agentId, input: $input) { id } }';
      const steps = [{ prompt: { text: 'x' } }, { tool: { stepId: 'do', tool } }];
      const input = { name: 'Main', versions: [{ version: 1, active: true, steps }] };
      const { errors } = await ann.graphql(creating, { agentId: agent.split('/').at(-1), input });
      expect(errors?.[0]?.message).toContain('whose calls wait for approval');
      expect(errors?.[0]?.extensions.faults[0].path).toBe('input.versions.0.steps.1.tool.tool');
    },
  );

  it.each(['look', 'deep_research', 'bank__look', 'post__send', 'hints__look'])('%s is kept', async (tool) => {
    expect((await ann.post(`${await agentWithTools()}/flows`, flowOf(tool))).status).toBe(200);
  });
});

it('a tool that asks since the flow was written fails its step, which says so', async () => {
  const agent = await agentWithTools([]);
  expect((await ann.post(`${agent}/flows`, flowOf('look'))).status).toBe(200);
  const { body: tools } = await ann.get(`${agent}/tools`);
  const tool = tools.data.find(({ name }: { name: string }) => name === 'look');
  const changed = await ann.patch(`${agent}/tools/${tool.id}`, { data: { ...data, requireApproval: true } });
  expect(changed.status, JSON.stringify(changed.body)).toBe(200);
  // What is not about the steps can still be changed.
  const [flow] = (await ann.get(`${agent}/flows`)).body.data;
  expect((await ann.patch(`${agent}/flows/${flow.id}`, { name: 'Other' })).status).toBe(200);
  const options = { tracing: { enabled: true } };
  const { body } = await ann.post('/api/v2/responses', { model: agent.split('/').at(-1), input: 'Go', options });
  expect(body.flow_steps?.[1], JSON.stringify(body)).toMatchObject({ step_id: 'do', status: 'failed' });
  expect(body.flow_steps[1].output).toContain('cannot wait for that');
  expect(upstream.requests).toEqual([]);
});

it('a bundle with such a flow is imported with a warning', async () => {
  const agent = await agentWithTools();
  expect((await ann.post(`${agent}/flows`, flowOf('look'))).status).toBe(200);
  const bundle = (await ann.get(`${agent}/export`)).body;
  for (const tool of bundle.tools) tool.data.requireApproval = true;
  const { status, body } = await ann.post('/api/v1/ais/import', { bundle });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.warnings).toContainEqual(expect.stringContaining('Main calls look, whose calls wait for approval'));
});
