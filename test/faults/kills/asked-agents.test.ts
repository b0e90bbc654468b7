import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Killable, prepareKillable } from '../../support/processes/killable.ts';
import { messagesOf } from '../../support/runs/research.ts';
import { eventsOf, walk } from '../../support/runs/response-walk.ts';
import { never } from '../../support/upstream.ts';

/** What happens to an agent that is asked when the process is killed. */
const path = '/api/v2/responses';
const model = 'openai/test-model';
let world: Killable;

beforeEach(async () => {
  world = await prepareKillable();
});
afterEach(() => world.close());

it('ends the run well: the agent is closed, and not asked again', async () => {
  const { upstream } = world;
  const isAsked = (messages: ReturnType<typeof messagesOf>) => messages[0]?.content?.includes('DESK RULES') === true;
  const asked = () => upstream.requests.filter((request) => isAsked(messagesOf(request)));
  upstream.otherwise((request) => {
    if (isAsked(messagesOf(request))) return { text: 'Late.', gate: never };
    if (messagesOf(request).some(({ role }) => role === 'tool')) return { text: 'It is done.' };
    return { toolCalls: [{ id: 'call_1', name: 'ask_Desk', arguments: '{"question":"When?"}' }] };
  });
  const { parley, ann } = await world.launch();
  const members = { src: 'https://example.com/a.png', description: 'A desk', modelId: model };
  const desk = await ann.post('/api/v1/ais', { ...members, name: 'Desk', instructions: 'DESK RULES' });
  expect(desk.status).toBe(200);
  const tools = [{ type: 'subagent', agents: [desk.body.id] }];
  const { body } = await ann.post(path, { model, input: 'Ask', tools, background: true });
  await upstream.until(() => asked().length === 1);
  for await (const { event } of ann.sse('GET', `${path}/${body.id}?stream=true`)) {
    if (event === 'response.subagent.started') break;
  }
  await parley.kill('SIGKILL');
  const { ann: again } = await world.launch();
  const end = await eventually(async () => {
    const reply = await again.get(`${path}/${body.id}`);
    expect(reply.body.status).not.toBe('in_progress');
    return reply.body;
  });
  expect(end.status).toBe('failed');
  const events = eventsOf(await Array.fromAsync(again.sse('GET', `${path}/${body.id}?stream=true`)));
  expect(walk(events)).toEqual(end);
  const completed = events.filter(({ type }) => type === 'response.subagent.completed');
  expect(completed).toMatchObject([{ subagent: { agent_id: desk.body.id, status: 'cancelled', usage: null } }]);
  expect(asked()).toHaveLength(1);
});
