import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';
import { expectAccepted } from '../../../support/runs/accepted-request.ts';
import { messagesOf } from '../../../support/runs/research.ts';
import { eventsOf, walk } from '../../../support/runs/response-walk.ts';
import { endedResponse } from '../../../support/runs/responses.ts';
import { heldAnswer, never, type UpstreamRequest, type UpstreamScript } from '../../../support/upstream.ts';

/** What happens to an agent that is asked when the process is killed: it goes on like the run that asks it. */
const path = '/api/v2/responses';
const model = 'openai/test-model';
let world: Killable;

beforeEach(async () => {
  world = await prepareKillable();
});
afterEach(() => world.close());

const isOf = (request: UpstreamRequest, rules: string) => String(messagesOf(request)[0]?.content).includes(rules);
const results = (request: UpstreamRequest) => messagesOf(request).filter(({ role }) => role === 'tool');
const call = (name: string, args: object = {}): UpstreamScript => ({
  toolCalls: [{ id: 'call_1', name, arguments: JSON.stringify(args) }],
});
const keys = () => world.api.requests.map(({ headers }) => headers['idempotency-key']);

/** The agent `Ada`, which looks things up with the tool; and `Boss`, which asks Ada. */
async function agents(ann: TestClient, tool: object | undefined) {
  const ada = tool === undefined ? await agent(ann, 'Ada', 'Look it up.') : await world.agentWithTool(ann, model, tool);
  return { ada, boss: await agent(ann, 'Boss', 'BOSS RULES', [{ type: 'subagent', agents: [ada] }]) };
}
async function agent(ann: TestClient, name: string, instructions: string, enabledTools: readonly object[] = []) {
  const members = { src: 'https://example.com/a.png', description: 'Knows', modelId: model };
  const { status, body } = await ann.post('/api/v1/ais', { ...members, name, instructions, enabledTools });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.id as string;
}
/**
 * Begins a run that asks an agent, and kills its process when `isInside` holds.
 *
 * @param step  a reader sees it before the kill: the log has what came before it.
 */
async function kill(tool: object | undefined, asked: 'ada' | 'boss', isInside: () => boolean, step?: string) {
  const { parley, ann } = await world.launch();
  const known = await agents(ann, tool);
  const tools = [{ type: 'subagent', agents: [known[asked]] }];
  const { body } = await ann.post(path, { model, input: 'Ask', tools, background: true });
  await eventually(async () => expect(isInside()).toBe(true), 60_000);
  if (step !== undefined) {
    for await (const { data } of ann.sse('GET', `${path}/${body.id}?stream=true`)) if (data.includes(step)) break;
  }
  await parley.kill('SIGKILL');
  world.api.answer(() => ({ body: 'found' }));
  return { id: body.id as string, asked: known[asked] };
}
async function ended(id: string) {
  const ann = await world.recover();
  const response = await endedResponse(ann, id);
  const events = eventsOf(await Array.fromAsync(ann.sse('GET', `${path}/${id}?stream=true`)));
  expect(walk(events)).toEqual(response);
  for (const request of world.upstream.requests) expectAccepted(request);
  const completed = events.filter(({ type }) => type === 'response.subagent.completed').map(({ subagent }) => subagent);
  return { response, completed, ann };
}
/** What the model of the run read of the asked agent. */
const answer = () => {
  const asking = world.upstream.requests.findLast((request) => !isOf(request, 'Look it up') && !isOf(request, 'BOSS RULES'));
  return String(asking === undefined ? '' : results(asking).at(-1)?.content);
};
/** The run asks, Ada looks it up, Boss asks Ada. `hold` keeps answers back. */
function script(asked: 'Ada' | 'Boss', hold: (request: UpstreamRequest) => boolean = () => false) {
  world.upstream.otherwise((request) => {
    const hasRead = results(request).length > 0;
    if (isOf(request, 'Look it up') && hold(request)) return heldAnswer({ text: ['It ', 'says found.'] }).script;
    if (isOf(request, 'Look it up')) return hasRead ? { text: 'It says found.' } : call('look_up');
    if (isOf(request, 'BOSS RULES')) return hasRead ? { text: 'Ada said so.' } : call('ask_Ada', { question: 'Where?' });
    return hasRead ? { text: 'It is done.' } : call(`ask_${asked}`, { question: 'When?' });
  });
}

it('an agent whose model was answering is asked on', async () => {
  let isKilled = false;
  const asks = () => world.upstream.requests.filter((request) => isOf(request, 'Look it up'));
  world.upstream.otherwise((request) => {
    if (isOf(request, 'Look it up')) return isKilled ? { text: 'At noon.' } : { text: 'Late.', gate: never };
    return results(request).length > 0 ? { text: 'It is done.' } : call('ask_Ada', { question: 'When?' });
  });
  const { id, asked } = await kill(undefined, 'ada', () => asks().length === 1);
  isKilled = true;
  const { response, completed } = await ended(id);
  expect(response.status).toBe('completed');
  expect(completed).toMatchObject([{ agent_id: asked, status: 'completed', summary: 'At noon.' }]);
  expect(answer()).toContain('At noon.');
  expect(asks()).toHaveLength(2);
});

describe.each([
  ['ada', 'Ada'],
  ['boss', 'Boss'],
] as const)('a call of an API function, below %s', (asked, name) => {
  const isCalled = () => world.api.requests.length === 1;

  it('that may have acted is not made again: the asking model reads so, and the run goes on', async () => {
    script(name);
    world.api.answer(() => never);
    const { id } = await kill({ method: 'POST' }, asked, isCalled);
    const { response, completed, ann } = await ended(id);
    expect(response.status).toBe('completed');
    expect(world.api.requests).toHaveLength(1);
    expect(completed.some(({ status, summary }) => status === 'failed' && summary.includes('the outcome is not known'))).toBe(
      true,
    );
    const read = world.upstream.requests.flatMap(results).map(({ content }) => String(content));
    expect(read.some((text) => /Ada did not answer: The service stopped while "look_up" was called/.test(text))).toBe(true);
    const shown =
      JSON.stringify((await ann.get(`${path}/${id}`)).body) + JSON.stringify((await ann.get(`/api/v1/runs/${id}/trace`)).body);
    expect(shown).not.toContain('Look it up.');
  });

  it.each([{ method: 'PUT' }, { method: 'POST', idempotent: true }])('%j is made again with its key', async (tool) => {
    script(name);
    world.api.answer(() => never);
    const { id } = await kill(tool, asked, isCalled);
    const { response, completed } = await ended(id);
    expect(response.status).toBe('completed');
    expect(new Set(completed.map(({ status }) => status))).toEqual(new Set(['completed']));
    expect(keys()).toHaveLength(2);
    expect(new Set(keys()).size).toBe(1);
    expect(keys()[0]).toContain(id);
    expect(answer()).toContain(asked === 'ada' ? 'It says found.' : 'Ada said so.');
  });

  it('whose outcome is kept is not made again', async () => {
    let isKilled = false;
    script(name, (request) => !isKilled && isOf(request, 'Look it up') && results(request).length > 0);
    world.api.answer(() => ({ body: 'found' }));
    const isRead = () => world.upstream.requests.some((request) => isOf(request, 'Look it up') && results(request).length > 0);
    const { id } = await kill({ method: 'POST' }, asked, isRead, '"message":"Writing"');
    isKilled = true;
    const { response, completed } = await ended(id);
    expect(response.status).toBe('completed');
    expect(new Set(completed.map(({ status }) => status))).toEqual(new Set(['completed']));
    expect(keys()).toHaveLength(1);
    expect(answer()).toContain(asked === 'ada' ? 'It says found.' : 'Ada said so.');
  });
});

it('agents that are asked side by side act one after the other, and a kill doubles nothing', async () => {
  const { parley, ann } = await world.launch();
  const one = await world.agentWithTool(ann, model, { method: 'POST' });
  const two = await world.agentWithTool(ann, model, { method: 'POST', url: `${world.api.url}/two` });
  expect((await ann.patch(`/api/v1/ais/${two}`, { name: 'Bea' })).status).toBe(200);
  world.api.answer(() => never);
  world.upstream.otherwise((request) => {
    if (isOf(request, 'Look it up')) return results(request).length > 0 ? { text: 'Found.' } : call('look_up');
    if (results(request).length > 0) return { text: 'It is done.' };
    const args = JSON.stringify({ question: 'When?' });
    const asks = ['Ada', 'Bea'].map((name) => ({ id: `call_${name}`, name: `ask_${name}`, arguments: args }));
    return { toolCalls: asks };
  });
  const tools = [{ type: 'subagent', agents: [one, two] }];
  const { body } = await ann.post(path, { model, input: 'Ask', tools, background: true });
  // Both models have asked for their calls; only the first agent may act, because the log does not have the second one yet.
  await world.upstream.until(({ requests }) => requests.filter((request) => isOf(request, 'Look it up')).length === 2);
  await eventually(async () => expect(world.api.requests).toHaveLength(1));
  await parley.kill('SIGKILL');
  world.api.answer(() => ({ body: 'found' }));
  const { response } = await ended(body.id);
  expect(response.status).toBe('completed');
  expect(world.api.requests.filter((request) => request.path !== '/two')).toHaveLength(1);
});
