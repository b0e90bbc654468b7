import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';
import { questionOf, scriptResearch } from '../../../support/runs/research.ts';
import { eventsOf, walk } from '../../../support/runs/response-walk.ts';
import type { Upstream, UpstreamScript } from '../../../support/upstream.ts';

/** The usage of a run whose process is killed between or within its steps: the response and the ledger agree. */
const path = '/api/v2/responses';
const model = 'openai/test-model';
let world: Killable;
let upstream: Upstream;

beforeEach(async () => {
  world = await prepareKillable();
  upstream = world.upstream;
});
afterEach(() => world.close());

const charged = async (ann: TestClient) => (await ann.get('/api/v1/usage')).body.orgUsage.apiTokensUsed;

/** The ended response of a dead process, and all charges of the organization. */
async function leftBehind(id: string, status: 'failed' | 'completed' = 'failed') {
  upstream.otherwise({ text: 'Here.', usage: { prompt_tokens: 1, completion_tokens: 1 } });
  const ann = await world.recover();
  const body = await eventually(async () => {
    const reply = await ann.get(`${path}/${id}`);
    expect(reply.body.status).toBe(status);
    return reply.body;
  });
  walk(eventsOf(await Array.fromAsync(ann.sse('GET', `${path}/${id}?stream=true`))));
  // Ledger rows are written in order: after this row, no row of the dead process is still to come.
  await ann.post(path, { model, input: 'Hi', store: false });
  await eventually(async () => expect((await charged(ann)) - body.usage.total_tokens).toBe(2));
  return body;
}

const lookUp = (n: number): UpstreamScript => ({
  toolCalls: [{ id: `call_${n}`, name: 'look_up', arguments: '{}' }],
  usage: { prompt_tokens: 10 * n, completion_tokens: 5 },
});

it('in the middle of a tool: the step before it is reported and charged', async () => {
  const { parley, ann } = await world.launch();
  const agent = await world.agentWithTool(ann, model);
  let isAsked = false;
  world.api.answer(() => {
    isAsked = true;
    return new Promise(() => undefined);
  });
  upstream.next(lookUp(1));
  const { body } = await ann.post(path, { model: agent, input: 'Hi', background: true });
  await eventually(async () => expect(isAsked).toBe(true));
  // The event is shown with the usage of the step, so both are written: a killed process loses what it has not written.
  for await (const { event } of ann.sse('GET', `${path}/${body.id}?stream=true`)) {
    if (event === 'response.server_tool_call.in_progress') break;
  }
  await parley.kill('SIGKILL');
  world.api.reset();
  // The tool may be called again, so the run continues with the one model call after it.
  const { usage } = await leftBehind(body.id, 'completed');
  expect([usage.input_tokens, usage.output_tokens]).toEqual([11, 6]);
});

it('in the middle of the third answer: both steps before it are reported and charged', async () => {
  const { parley, ann } = await world.launch();
  const agent = await world.agentWithTool(ann, model);
  world.api.answer(() => ({ body: 'It is 3.' }));
  upstream.next(lookUp(1), lookUp(2), { text: ['It ', 'is ', '3.'], hangAtByte: 400 });
  const { body } = await ann.post(path, { model: agent, input: 'Hi', background: true });
  await upstream.until(({ requests }) => requests.length === 3);
  await eventually(async () => expect((await ann.get(`${path}/${body.id}`)).body.output.at(-1).type).toBe('message'));
  await parley.kill('SIGKILL');
  const { usage } = await leftBehind(body.id);
  expect([usage.input_tokens, usage.output_tokens]).toEqual([30, 10]);
});

it('while a second subagent works: the first one is reported and charged, too', async () => {
  const { parley, ann } = await world.launch();
  scriptResearch(upstream, ['What is red?', 'What is green?'], (question) =>
    question === 'What is green?'
      ? { gate: new Promise(() => undefined) }
      : { text: 'Red', usage: { prompt_tokens: 7, completion_tokens: 3 } },
  );
  const { body } = await ann.post(path, { model, input: 'Hi', tools: [{ type: 'deep_research' }], background: true });
  await upstream.until(({ requests }) => requests.some((request) => questionOf(request) === 'What is green?'));
  // Shown with its usage: what is not written yet, a killed process loses.
  for await (const { event } of ann.sse('GET', `${path}/${body.id}?stream=true`)) {
    if (event === 'response.subagent.completed') break;
  }
  await parley.kill('SIGKILL');
  const { usage } = await leftBehind(body.id, 'completed');
  // Before the kill the model call (10 in, 1 out) and the first subagent; then the second subagent, which is asked again, and the answer.
  expect([usage.input_tokens, usage.output_tokens]).toEqual([19, 6]);
});

it('before any output: the run is restarted, reported once and charged once', async () => {
  const { parley, ann } = await world.launch();
  upstream.next({ gate: new Promise(() => undefined) });
  const { body } = await ann.post(path, { model, input: 'Hi', background: true });
  await upstream.until(({ requests }) => requests.length === 1);
  await parley.kill('SIGKILL');
  upstream.otherwise({ text: 'Here.', usage: { prompt_tokens: 4, completion_tokens: 2 } });
  const again = await world.recover();
  await eventually(async () => expect((await again.get(`${path}/${body.id}`)).body.usage?.total_tokens).toBe(6));
  await eventually(async () => expect(await charged(again)).toBe(6));
});

it('right after the replies of stateless runs: the next start charges for each of them, once', async () => {
  const { parley, ann } = await world.launch();
  upstream.otherwise({ text: 'Hello.', usage: { prompt_tokens: 10, completion_tokens: 5 } });
  const messages = [{ role: 'user', content: 'Hi' }];
  const asks = Array.from({ length: 20 }, (_, index) =>
    index % 2 === 0
      ? ann.post('/api/v1/chat/completions', { model, messages })
      : Array.fromAsync(ann.sse('POST', '/api/v1/chat/completions', { model, messages, stream: true })),
  );
  await Promise.all(asks);
  await parley.kill('SIGKILL');
  const again = await world.launch();
  expect(await charged(again.ann)).toBe(20 * 15);
  await again.parley.kill('SIGTERM');
  const third = await world.recover();
  expect(await charged(third)).toBe(20 * 15);
});
