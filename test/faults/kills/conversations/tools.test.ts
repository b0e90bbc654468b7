import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startClock } from '../../../support/processes/clock.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, leaseMs, prepareKillable } from '../../../support/processes/killable.ts';
import { expectAccepted } from '../../../support/runs/accepted-request.ts';
import { messagesOf } from '../../../support/runs/research.ts';
import { eventsOf, walk } from '../../../support/runs/response-walk.ts';
import { endedResponse } from '../../../support/runs/responses.ts';
import { never, type Upstream } from '../../../support/upstream.ts';

/** What happens to a tool call whose process is killed. */
const path = '/api/v2/responses';
const model = 'openai/test-model';
let world: Killable;
let upstream: Upstream;

beforeEach(async () => {
  world = await prepareKillable();
  upstream = world.upstream;
  upstream.otherwise((request) =>
    messagesOf(request).some(({ role }) => role === 'tool')
      ? { text: 'It is done.' }
      : { text: 'One moment.', toolCalls: [{ id: 'call_1', name: 'look_up', arguments: '{}' }] },
  );
});
afterEach(() => world.close());

const keys = () => world.api.requests.map(({ headers }) => headers['idempotency-key']);

/** A background response whose process is killed during a tool call. */
async function killedInTool(tool: object, env: Readonly<Record<string, string>> = {}) {
  const { parley, ann } = await world.launch(env);
  const agent = await world.agentWithTool(ann, model, tool);
  world.api.answer(() => never);
  const { body } = await ann.post(path, { model: agent, input: 'Do it', background: true });
  await eventually(async () => expect(world.api.requests).toHaveLength(1));
  await parley.kill('SIGKILL');
  world.api.answer(() => ({ body: 'found' }));
  return { id: body.id as string, conversation: body.conversation.id as string };
}

describe('a process that is killed in the middle of calls', () => {
  const unsafe = [{ method: 'POST' }, { method: 'PATCH' }, { method: 'POST', idempotent: false }];
  const safe = [
    ...['GET', 'HEAD', 'PUT', 'DELETE'].map((method) => ({ method })),
    ...['POST', 'PATCH'].map((method) => ({ method, idempotent: true })),
  ];
  const said =
    'The service stopped while it called the tool "look_up". Whether the call was carried out is not known; it was not repeated.';

  it('leaves runs that call again what may be called again, that fail and say so where it may not, and that go on behind a stored outcome', async () => {
    const { parley, ann: first } = await world.launch();
    const storedPlace = '/tool-stored';
    world.api.answer((request) => (request.path === storedPlace ? { body: '{"ok":true}' } : never));
    let isKilled = false;
    upstream.otherwise((request) => {
      const messages = messagesOf(request);
      if (!messages.some(({ role }) => role === 'tool')) {
        return { text: 'One moment.', toolCalls: [{ id: 'call_1', name: 'look_up', arguments: '{}' }] };
      }
      return !isKilled && JSON.stringify(messages).includes('Store it') ? { gate: never } : { text: 'It is done.' };
    });
    const begin = async (tool: object, index: number) => {
      const url = `${world.api.url}/tool-${index}`;
      const agent = await world.agentWithTool(first, model, { ...tool, url });
      const { body } = await first.post(path, { model: agent, input: 'Do it', background: true });
      return { id: body.id as string, conversation: body.conversation.id as string, place: `/tool-${index}`, tool };
    };
    const runs = await Promise.all([...unsafe, ...safe].map(begin));
    const [unsafeRuns, safeRuns] = [runs.slice(0, unsafe.length), runs.slice(unsafe.length)];
    // A run whose tool has answered, and whose model has not.
    const storing = await world.agentWithTool(first, model, { method: 'POST', url: world.api.url + storedPlace });
    const stored = (await first.post(path, { model: storing, input: 'Store it', background: true })).body;
    // A message of a chat.
    const chatPlace = '/tool-chat';
    const talking = await world.agentWithTool(first, model, { method: 'POST', url: world.api.url + chatPlace });
    const chat = (await first.post(`/api/v1/ais/${talking}/chats`, {})).body;
    const sending = 'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id } }';
    const sent = (await first.graphql(sending, { chatId: chat.id, input: { prompt: { text: 'Do it' } } })).data.sendMessage;
    await eventually(async () => expect(world.api.requests).toHaveLength(runs.length + 2));
    await upstream.until(({ requests }) => requests.length === runs.length + 3);
    await eventually(async () => expect((await first.get(`${path}/${stored.id}`)).body.output).toHaveLength(3));
    await parley.kill('SIGKILL');
    isKilled = true;
    world.api.answer(() => ({ body: 'found' }));
    const asked = upstream.requests.length;
    const ann = await world.recover();
    const clock = startClock();
    const keysAt = (place: string) =>
      world.api.requests.filter((request) => request.path === place).map(({ headers }) => headers['idempotency-key']);

    for (const { id, conversation, place, tool } of unsafeRuns) {
      const response = await endedResponse(ann, id);
      expect(clock.elapsedMs()).toBeLessThan(leaseMs + 10_000);
      expect(response, JSON.stringify(tool)).toMatchObject({
        status: 'failed',
        error: { code: 'tool_outcome_unknown', type: 'server_error' },
        output: [
          { type: 'message', content: [{ text: 'One moment.' }] },
          { type: 'server_tool_call', status: 'failed', call_id: 'call_1' },
          { type: 'server_tool_call_output', status: 'failed', error: { code: 'tool_outcome_unknown' } },
          { type: 'message', status: 'incomplete', content: [{ text: said }] },
        ],
      });
      expect(walk(eventsOf(await Array.fromAsync(ann.sse('GET', `${path}/${id}?stream=true`))))).toEqual(response);
      expect(keysAt(place)).toEqual([`${id}:call_1`]);
      const { messages } = (await ann.get(`/api/v1/chats/${conversation}`)).body;
      expect(messages.map(({ content }: { content: string }) => content)).toEqual(['Do it', 'One moment.', said]);
    }
    for (const { id, place, tool } of safeRuns) {
      const response = await endedResponse(ann, id);
      expect(response, JSON.stringify(tool)).toMatchObject({
        status: 'completed',
        output: [
          { type: 'message', content: [{ text: 'One moment.' }] },
          { type: 'server_tool_call', status: 'completed' },
          { type: 'server_tool_call_output', status: 'completed' },
          { type: 'message', status: 'completed', content: [{ text: 'It is done.' }] },
        ],
      });
      expect(walk(eventsOf(await Array.fromAsync(ann.sse('GET', `${path}/${id}?stream=true`))))).toEqual(response);
      expect(keysAt(place)).toEqual([`${id}:call_1`, `${id}:call_1`]);
    }
    clock.stop();
    // A call whose outcome is stored is not made again: its run goes on behind it.
    expect(await endedResponse(ann, stored.id)).toMatchObject({
      status: 'completed',
      output: [
        { type: 'message' },
        { type: 'server_tool_call' },
        { output: '{"ok":true}' },
        { content: [{ text: 'It is done.' }] },
      ],
    });
    expect(keysAt(storedPlace)).toHaveLength(1);
    // Every API of the chat is told of the unknown outcome.
    const frames = await Array.fromAsync(ann.sse('GET', `/api/v1/chats/${chat.id}/runs/${sent.id}/events`));
    const failed = frames.map(({ data }) => JSON.parse(data)).find(({ type }) => type === 'run.failed');
    expect(failed.error).toMatchObject({ code: 'tool_outcome_unknown', type: 'server_error' });
    const { data } = await ann.graphql('query ($id: ID!) { run(id: $id) { status error { code } } }', { id: sent.id });
    expect(data.run).toEqual({ status: 'FAILED', error: { code: 'TOOL_OUTCOME_UNKNOWN' } });
    expect(keysAt(chatPlace)).toHaveLength(1);
    // One call of the model behind each tool that was called again and behind the stored outcome, and none for the others.
    expect(upstream.requests.length - asked).toBe(safeRuns.length + 1);

    const [{ id, conversation }] = unsafeRuns as [(typeof runs)[number]];
    expect((await ann.get(`/api/v1/chats/${conversation}/export?format=markdown`)).body).toContain(said);
    // The next turn works, and its model gets the outcome.
    const next = await ann.post(path, { input: 'And now?', previous_response_id: id });
    expect(next.body.status).toBe('completed');
    expect(JSON.stringify(messagesOf(upstream.requests.at(-1)))).toContain('whether it was carried out is not known');
    for (const request of upstream.requests) expectAccepted(request);
    expect(world.api.requests).toHaveLength(unsafeRuns.length + 2 * safeRuns.length + 2);
  });
});

describe('a run that is taken over', () => {
  it('has the model calls left that its processes did not use', async () => {
    const roundsMax = 4;
    let count = 0;
    upstream.otherwise(() => {
      count += 1;
      return { toolCalls: [{ id: `call_${count}`, name: 'look_up', arguments: '{}' }] };
    });
    const env = { TOOL_ROUNDS_MAX: String(roundsMax) };
    const { id } = await killedInTool({}, env);
    const ann = await world.recover(env);
    expect(await endedResponse(ann, id)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_tool_calls' },
    });
    expect(upstream.requests.length).toBeLessThanOrEqual(roundsMax);
  });

  it('has the time left that its processes did not use', async () => {
    const env = { RUN_TIMEOUT_MS: '6000' };
    const clock = startClock();
    const { parley, ann: first } = await world.launch(env);
    const agent = await world.agentWithTool(first, model);
    world.api.answer(() => never);
    const { body } = await first.post(path, { model: agent, input: 'Do it', background: true });
    const begunMs = clock.elapsedMs();
    await eventually(async () => expect(clock.elapsedMs() - begunMs).toBeGreaterThan(4_000));
    await parley.kill('SIGKILL');
    const ann = await world.recover(env);
    const secondMs = clock.elapsedMs();
    expect(await endedResponse(ann, body.id)).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'timeout' } });
    // The second process does not restart the time limit.
    expect(clock.elapsedMs() - secondMs).toBeLessThan(5_500);
    clock.stop();
    expect(new Set(keys())).toEqual(new Set([`${body.id}:call_1`]));
  });
});
