import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';
import { messagesOf } from '../../../support/runs/research.ts';
import { endedResponse } from '../../../support/runs/responses.ts';
import { never } from '../../../support/upstream.ts';

/** What happens to a flow whose process is killed: its finished steps are not done again. */
const path = '/api/v2/responses';
const model = 'openai/test-model';
let world: Killable;

beforeEach(async () => {
  world = await prepareKillable();
});
afterEach(() => world.close());

async function agentWithFlow(ann: TestClient, tool: object, steps: readonly object[]): Promise<string> {
  const agent = await world.agentWithTool(ann, model, { ...tool, url: `${world.api.url}/{step}` });
  const versions = [{ version: 1, active: true, data: { steps } }];
  expect((await ann.post(`/api/v1/ais/${agent}/flows`, { name: 'Main', versions })).status).toBe(200);
  return agent;
}
const tracing = { options: { tracing: { enabled: true } } };
const call = (id: string) => ({ id, type: 'tool', tool: 'look_up', arguments: { step: id } });
const places = () => world.api.requests.map((request) => request.path);

describe('a process that is killed in the middle of a flow', () => {
  it('leaves a flow that goes on behind its finished steps, and pays for each model step once', async () => {
    const { parley, ann: first } = await world.launch();
    let isKilled = false;
    world.upstream.otherwise((request) => {
      const last = String(messagesOf(request).at(-1)?.content);
      if (last.startsWith('Draft')) return { text: 'a draft' };
      return isKilled ? { text: 'The answer.' } : { gate: never };
    });
    const agent = await agentWithFlow(first, { method: 'POST' }, [
      { id: 'draft', type: 'model', prompt: 'Draft of {{input}}' },
      call('sent'),
      { id: 'note', type: 'prompt', text: 'From {{steps.draft.output}} and {{steps.sent.output}}' },
      { id: 'answer', type: 'model', prompt: 'Answer: {{steps.note.output}}' },
    ]);
    const { body } = await first.post(path, { model: agent, input: 'a thing', background: true, ...tracing });
    await world.upstream.until(({ requests }) => requests.length === 2);
    await eventually(async () => expect((await first.get(`${path}/${body.id}`)).body.output).toHaveLength(2));
    await parley.kill('SIGKILL');
    isKilled = true;
    const ann = await world.recover();
    const response = await endedResponse(ann, body.id);
    expect(response).toMatchObject({
      status: 'completed',
      output: [
        { type: 'server_tool_call', status: 'completed', call_id: 'flow_2' },
        { type: 'server_tool_call_output', output: '{"ok":true}' },
        { type: 'message', content: [{ text: 'The answer.' }] },
      ],
      flow_steps: [
        { step_id: 'draft', output: 'a draft' },
        { step_id: 'sent', status: 'completed' },
        { step_id: 'note', output: 'From a draft and {"ok":true}' },
        { step_id: 'answer', output: 'The answer.' },
      ],
    });
    expect(places()).toEqual(['/sent']);
    // The draft was asked for once; the answer once by each process.
    const asked = world.upstream.requests.map((request) => String(messagesOf(request).at(-1)?.content).slice(0, 5));
    expect(asked).toEqual(['Draft', 'Answe', 'Answe']);
    expect(response.usage.input_tokens).toBe(20);
  });

  it.each([
    ['fails and says so where a call may have acted', { method: 'POST' }, 'failed', ['/sent']],
    ['makes a call again that may be repeated, with its key', { method: 'PUT' }, 'completed', ['/sent', '/sent']],
  ])('leaves a flow that %s', async (_case, tool, status, requested) => {
    const { parley, ann: first } = await world.launch();
    world.api.answer(() => never);
    const agent = await agentWithFlow(first, tool, [
      call('sent'),
      { id: 'answer', type: 'model', prompt: 'Tell: {{steps.sent.output}}' },
    ]);
    const { body } = await first.post(path, { model: agent, input: 'a thing', background: true });
    await eventually(async () => expect(world.api.requests).toHaveLength(1));
    await parley.kill('SIGKILL');
    world.api.answer(() => ({ body: 'found' }));
    const ann = await world.recover();
    const response = await endedResponse(ann, body.id);
    expect(response.status).toBe(status);
    if (status === 'failed') expect(response.error.code).toBe('tool_outcome_unknown');
    expect(places()).toEqual(requested);
    expect(new Set(world.api.requests.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([`${body.id}:flow_1`]));
  });
});
