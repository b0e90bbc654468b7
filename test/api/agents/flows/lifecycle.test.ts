import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startApiServer } from '../../../support/egress/api-server.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { never } from '../../../support/upstream.ts';

/** Pausing, cancelling and bounding runs that a flow answers. */
const { make, service, upstream } = await withService('model');
const path = '/api/v2/responses';

const api = await startApiServer();
const ann = await make.person();

beforeEach(() => api.reset());
afterAll(() => api.close());

async function agentWith(steps: readonly object[]): Promise<string> {
  const agent = await make.agent({ owner: ann, modelId: 'openai/test-model', intermediateStepsVisible: true });
  const parameters = { type: 'object', properties: { step: { type: 'string' } } };
  const data = { description: 'Does it', parameters, method: 'POST', url: `${api.url}/{step}` };
  expect((await ann.post(`/api/v1/ais/${agent.id}/tools`, { name: 'do_it', type: 'API_FUNCTION', data })).status).toBe(200);
  const versions = [{ version: 1, active: true, data: { steps } }];
  expect((await ann.post(`/api/v1/ais/${agent.id}/flows`, { name: 'Main', versions })).status).toBe(200);
  return agent.id;
}
const call = (id: string) => ({ id, type: 'tool', tool: 'do_it', arguments: { step: id } });

describe('a flow', () => {
  it('pauses between two steps and goes on behind them', async () => {
    const { prisma } = service.deps.storage.db;
    const ids = Array.from({ length: 60 }, (_one, index) => `s${index}`);
    let runId = '';
    api.answer(async () => {
      await eventually(async () =>
        expect((await prisma.run.findUnique({ where: { id: runId } }))?.pauseRequestedAt).toBeInstanceOf(Date),
      );
      return { body: 'found' };
    });
    const agent = await agentWith([...ids.map(call), { id: 'answer', type: 'model', prompt: 'Tell: {{steps.s59.output}}' }]);
    runId = (await ann.post(path, { model: agent, input: 'a thing', background: true })).body.id;
    await eventually(async () => expect(api.requests).toHaveLength(1));
    const { body: paused } = await ann.post(`${path}/${runId}/pause`, {});
    expect(paused).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'paused' } });
    expect(upstream.requests).toEqual([]);
    api.answer(() => ({ body: 'found' }));
    const { body: resumed } = await ann.post(`${path}/${runId}/resume`, {});
    expect(resumed.status).toBe('completed');
    expect(resumed.flow_steps.map(({ step_id: id }: { step_id: string }) => id)).toEqual([...ids, 'answer']);
    // No step was taken twice.
    expect(api.requests.map((request) => request.path)).toEqual(ids.map((id) => `/${id}`));
  });

  it('is cancelled in the middle of a step', async () => {
    api.answer(() => never);
    const agent = await agentWith([call('one'), { type: 'model' }]);
    const { body } = await ann.post(path, { model: agent, input: 'a thing', background: true });
    await eventually(async () => expect(api.requests).toHaveLength(1));
    const { body: cancelled } = await ann.post(`${path}/${body.id}/cancel`, {});
    expect(cancelled.status).toBe('cancelled');
    expect(upstream.requests).toEqual([]);
  });

  it('ends as failed without an answer, and says why', async () => {
    const agent = await agentWith([call('one')]);
    const { body } = await ann.post(path, { model: agent, input: 'a thing' });
    expect(body).toMatchObject({ status: 'failed', error: { code: 'flow_failed' } });
  });

  it('keeps to a bound for its texts, however often they name each other', async () => {
    const double = (id: string, of: string) => ({ id, type: 'prompt', text: `{{${of}}}`.repeat(40) });
    const agent = await agentWith([double('a', 'input'), double('b', 'steps.a.output'), double('c', 'steps.b.output')]);
    const { body } = await ann.post(path, { model: agent, input: 'x'.repeat(1_000) });
    expect(body).toMatchObject({ status: 'failed', error: { code: 'flow_failed' } });
  });

  it('takes no message in the middle: a steering one is answered by a turn of its own', async () => {
    const agent = await agentWith([
      { id: 'one', type: 'model', prompt: 'First: {{input}}' },
      { type: 'prompt', text: 'Done: {{steps.one.output}}' },
    ]);
    const chat = await make.chat({ owner: ann, agentId: agent });
    const { promise, resolve } = Promise.withResolvers<void>();
    upstream.next({ gate: promise, text: 'slow' }, { text: 'fast' });
    const first = ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'one' });
    await upstream.until(({ requests }) => requests.length === 1);
    const begun = ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'two', threadMode: 'steer' });
    await eventually(async () => expect(await service.deps.storage.db.prisma.run.count({ where: { chatId: chat.id } })).toBe(2));
    resolve();
    const replies = [(await first).body, (await begun).body];
    expect(replies.map(({ message }) => message.content)).toEqual(['Done: slow', 'Done: fast']);
    expect(upstream.requests[1]?.body?.messages).toContainEqual({ role: 'user', content: 'First: two' });
  });

  it('writes its texts with the user inputs of the chat, and goes on with the conversation', async () => {
    const agent = await make.agent({ owner: ann, modelId: 'openai/test-model' });
    const input = {
      variableName: 'team',
      type: 'SHORT_TEXT',
      label: 'Team',
      configuration: { default: '{{input}}' },
      showOnChatCreate: true,
    };
    expect((await ann.post(`/api/v1/ais/${agent.id}/user-inputs`, input)).status).toBe(200);
    const versions = [
      { version: 1, active: true, data: { steps: [{ type: 'model', prompt: 'For {{userInputs.team}}: {{input}}' }] } },
    ];
    expect((await ann.post(`/api/v1/ais/${agent.id}/flows`, { name: 'Main', versions })).status).toBe(200);
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    for (const prompt of ['{{date}}', 'two']) await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt });
    // Values are never templates again.
    expect(upstream.requests[0]?.body?.messages).toMatchObject([
      { role: 'system' },
      { role: 'user', content: 'For {{input}}: {{date}}' },
    ]);
    expect(upstream.requests[1]?.body?.messages).toMatchObject([
      { role: 'system' },
      { role: 'user', content: '{{date}}' },
      { role: 'assistant', content: 'Hello from upstream' },
      { role: 'user', content: 'For {{input}}: two' },
    ]);
  });
});

describe('flows of an agent', () => {
  const one = (data: object, members: object = {}) => ({ name: 'F', versions: [{ version: 1, active: true, data }], ...members });

  it('are enabled one at a time', async () => {
    const agent = await make.agent({ owner: ann });
    const at = `/api/v1/ais/${agent.id}/flows`;
    const steps = [{ type: 'model' }];
    const first = await ann.post(at, one({ steps }, { name: 'A' }));
    const refused = await ann.post(at, one({ steps }, { name: 'B' }));
    expect([refused.status, refused.body.error.param]).toEqual([409, 'enabled']);
    const second = await ann.post(at, one({ steps }, { name: 'B', enabled: false }));
    expect((await ann.patch(`${at}/${second.body.id}`, { enabled: true })).status).toBe(409);
    expect((await ann.patch(`${at}/${first.body.id}`, { enabled: false })).status).toBe(200);
    expect((await ann.patch(`${at}/${second.body.id}`, { enabled: true, name: 'C' })).body).toMatchObject({
      enabled: true,
      name: 'C',
    });
  });

  it.each([
    ['a name that is unknown', [{ type: 'prompt', text: 'Hi {{name}}' }], 'steps[0].text'],
    ['a secret', [{ type: 'tool', tool: 't', arguments: { a: ['{{secret:KEY}}'] } }], 'steps[0].arguments.a[0]'],
    ['a step that does not exist', [{ type: 'model', prompt: '{{steps.x.output}}' }], 'steps[0].prompt'],
    [
      'a later step',
      [
        { type: 'retrieve', query: '{{steps.b.output}}' },
        { id: 'b', type: 'model' },
      ],
      'steps[0].query',
    ],
    ['a user input that is not asked for', [{ type: 'prompt', text: '{{userInputs.team}}' }], 'steps[0].text'],
    [
      'an unknown name in a condition',
      [
        { type: 'branch', condition: { left: '{{x}}', operator: 'isEmpty' }, onTrue: 'b' },
        { id: 'b', type: 'model' },
      ],
      'steps[0].condition.left',
    ],
  ])('refuse texts that name %s', async (_case, steps, member) => {
    const agent = await make.agent({ owner: ann });
    const { status, body } = await ann.post(`/api/v1/ais/${agent.id}/flows`, one({ steps }));
    expect([status, body.error.param]).toEqual([400, `versions[0].data.${member}`]);
  });
});
