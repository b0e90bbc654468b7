import { describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { flowSurfaces } from '../../../support/runs/flow-surfaces.ts';
import { withService } from '../../../support/service.ts';

/** The trace of a stored run, and who sees what of it. */
const { make, upstream } = await withService('model');
const surfaces = flowSurfaces(make);
const stored = Object.keys(surfaces).filter((name) => !name.startsWith('completions'));

const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });
const eve = await make.person();

const on = (surface: string) => surfaces[surface] ?? expect.fail(`no surface ${surface}`);
const traceOf = (who: Person, runId: string | null) => who.get(`/api/v1/runs/${runId}/trace`);
const content = `Secret craft. ${'More of it. '.repeat(400)}`;

async function agentWith(members: object = {}) {
  const agent = await make.agent({
    owner: ann,
    visibility: 'ORGANIZATION',
    instructions: 'Be very brief.',
    chatLogsVisible: true,
    ...members,
  });
  const source = await make.apiDataSource({
    owner: ann,
    agentId: agent.id,
    name: 'Harbours',
    data: { text: 'Lisbon opens at nine.' },
  });
  await eventually(async () => expect((await ann.get(`/api/v1/data-sources/${source.id}`)).body.indexStatus).toBe('INDEXED'));
  return agent.id as string;
}

describe.each(stored)('the trace of a run, %s', (surface) => {
  it('tells of searches, model calls, tools and skills; contents only to editors', async () => {
    const agent = await agentWith();
    expect((await ann.post(`/api/v1/ais/${agent}/skills`, { name: 'Craft', content })).status).toBe(200);
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'use_skill', arguments: '{"name":"Craft"}' }] }, { text: 'At nine.' });
    const { runId } = await on(surface)(bob, agent, 'When does Lisbon open?');
    const { status, body } = await traceOf(ann, runId);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ runId, status: 'completed', showsSteps: true, steps: [], subagents: [] },
      retrieval: { mode: 'lexical', reason: null, passages: [{ title: 'Harbours', score: expect.any(Number) }] },
      modelCalls: [
        { modelId: 'openai/test-model', inputTokens: 10, durationMs: expect.any(Number) },
        { modelId: 'openai/test-model', inputTokens: 10, durationMs: expect.any(Number) },
      ],
      toolCalls: [{ name: 'use_skill', outcome: 'completed', error: null, durationMs: expect.any(Number) }],
      skills: [{ name: 'Craft', content: expect.stringContaining('Secret craft') }],
    });
    expect(body.instructions).toContain('Be very brief.');
    const { body: shown } = await traceOf(bob, runId);
    expect(shown).toMatchObject({
      showsSteps: false,
      instructions: null,
      retrieval: null,
      retrievals: [],
      skills: [{ content: null }],
    });
    expect(shown.modelCalls).toHaveLength(2);
    expect(JSON.stringify(shown)).not.toMatch(/Secret craft|brief|Harbours/);
    expect((await traceOf(eve, runId)).status).toBe(404);
  });

  it('has the steps of a flow, for editors and where the agent shows them', async () => {
    const runs = [];
    for (const intermediateStepsVisible of [false, true]) {
      const agent = await agentWith({ intermediateStepsVisible });
      const steps = [
        { id: 'find', type: 'retrieve' },
        { id: 'plan', type: 'prompt', text: 'Plan B' },
        { id: 'say', type: 'model' },
      ];
      const versions = [{ version: 1, active: true, data: { steps } }];
      expect((await ann.post(`/api/v1/ais/${agent}/flows`, { name: 'F', versions })).status).toBe(200);
      runs.push((await on(surface)(bob, agent, 'When does Lisbon open?')).runId);
    }
    const [hidden = null, visible = null] = runs;
    for (const [who, runId] of [
      [ann, hidden],
      [ann, visible],
      [bob, visible],
    ] as const) {
      const { body } = await traceOf(who, runId);
      expect(body.steps.map(({ stepId }: { stepId: string }) => stepId)).toEqual(['find', 'plan', 'say']);
      expect(body.retrieval.passages).toHaveLength(1);
    }
    const { body } = await traceOf(bob, hidden);
    expect([body.showsSteps, body.steps, body.retrievals]).toEqual([false, [], []]);
    expect(JSON.stringify(body)).not.toContain('Plan B');
  });
});

describe('the trace', () => {
  it('is a field of a run, and null for one that the caller may not read', async () => {
    const agent = await agentWith();
    const { runId } = await on('chats, one piece')(bob, agent, 'Hi');
    const query = 'query ($id: ID!) { run(id: $id) { trace { status modelCalls { modelId } } } }';
    const { data } = await bob.graphql(query, { id: runId });
    expect(data.run.trace).toEqual({ status: 'COMPLETED', modelCalls: [{ modelId: 'openai/test-model' }] });
  });

  it('does not exist of runs that are not stored', async () => {
    const { body } = await ann.post('/api/v2/responses', { model: 'openai/test-model', input: 'Hi', store: false });
    for (const id of [body.id, 'run_none', 'chatcmpl-1']) {
      const reply = await traceOf(ann, id);
      expect([reply.status, reply.body.error.param]).toEqual([404, 'runId']);
      expect(reply.body.error.message).toContain('not stored');
    }
  });

  it('of a model without an agent belongs to its caller', async () => {
    const { body } = await ann.post('/api/v2/responses', { model: 'openai/test-model', input: 'Hi', instructions: 'Sing.' });
    expect((await traceOf(ann, body.id)).body).toMatchObject({ showsSteps: true, instructions: 'Sing.', steps: [] });
    expect((await traceOf(bob, body.id)).status).toBe(404);
  });
});
