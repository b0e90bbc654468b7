import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ways } from '../../../support/apis/ways.ts';
import { startApiServer } from '../../../support/egress/api-server.ts';
import type { makeFor, Person } from '../../../support/make.ts';
import { startClock } from '../../../support/processes/clock.ts';
import { inTurn } from '../../../support/property/sample.ts';
import { toolsOf } from '../../../support/runs/research.ts';
import { noAnswer } from '../../../support/runs/responses.ts';
import { withService } from '../../../support/service.ts';

/** A model that never stops by itself: its run ends, whatever it calls and on every API. */
const roundsMax = 2;
/** Long enough for all ways to begin side by side. */
const timeoutMs = 4_000;
const model = 'openai/test-model';
const { service, make, upstream } = await withService('model', { env: { TOOL_ROUNDS_MAX: String(roundsMax) } });
const hasty = await withService('model', { env: { RUN_TIMEOUT_MS: String(timeoutMs) } });
/** A service where max_tool_calls ends a run before TOOL_ROUNDS_MAX does. */
const usual = await withService('model');

const api = await startApiServer();
const ann = await make.person();
const agentId = await agentOf(ann, make);
const cleo = await usual.make.person();
const freeAgentId = await agentOf(cleo, usual.make);

beforeEach(() => api.reset());
afterAll(() => api.close());

async function agentOf(owner: Person, make: ReturnType<typeof makeFor>): Promise<string> {
  const agent = await make.agent({ owner, modelId: model });
  const parameters = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const data = { description: 'Pays', parameters, method: 'POST', url: `${api.url}/pay` };
  expect((await owner.post(`/api/v1/ais/${agent.id}/tools`, { name: 'pay', type: 'API_FUNCTION', data })).status).toBe(200);
  return agent.id;
}

/** From now on the model answers with this call only. */
function alwaysCalls(name: string, args: string): void {
  let count = 0;
  upstream.otherwise(() => {
    count += 1;
    return { toolCalls: [{ id: `call_${count}`, name, arguments: args }] };
  });
}

interface Kind {
  readonly name: string;
  readonly called: string;
  readonly args?: string;
  readonly tools?: readonly string[];
  /** Each call is a process of a second. What it does in the loop does not depend on the API, so each is walked on one. */
  readonly isProgram?: boolean;
}
const goodArgs: Readonly<Record<string, string>> = {
  python: '{"code":"print(1)"}',
  deep_research: '{"task":"x","questions":["a","b"]}',
};
const kinds: readonly Kind[] = [
  ...service.deps.tools.all
    .filter(({ unavailable }) => unavailable === undefined)
    .flatMap(({ type, functionNames }): Kind[] =>
      functionNames({}).map((called) => ({
        name: type,
        called,
        args: goodArgs[called] ?? '{}',
        tools: [type],
        isProgram: called === 'python',
      })),
    ),
  ...Object.keys(goodArgs).map((type): Kind => ({ name: `${type} with no JSON`, called: type, args: '{"', tools: [type] })),
  { name: 'a function of an API', called: 'pay', args: '{"n":1}' },
  { name: 'a function of an API with arguments that do not fit', called: 'pay', args: '{"n":"x"}' },
  { name: 'a function of an API with no JSON', called: 'pay', args: '{"n' },
  { name: 'a name that nobody has', called: 'nobody_has_this', args: '{}' },
];
const everyWay = ways.map((way, index) => [way.name, way, index] as const);
/** Each program is on one way, because it is a process of a second; every other kind takes turns with the ways. */
const kindsOn = (way: number) => {
  const programs = kinds.filter(({ isProgram }) => isProgram);
  const others = inTurn(
    kinds.filter(({ isProgram }) => isProgram !== true),
    way,
  );
  return [...others, ...programs.filter((_kind, turn) => turn === way)];
};

describe.each(everyWay)('%s of a model that always calls', (_name, way, index) => {
  it.each(kindsOn(index).map((kind) => [kind.name, kind] as const))(
    '%s ends by its bound',
    async (_kind, { called, args = '{}', tools = [] }) => {
      alwaysCalls(called, args);
      const ended = await way.ask(ann, { model: agentId, tools });
      expect(upstream.requests.length).toBeLessThanOrEqual(roundsMax);
      // A function is run by the client: the run ends with the call.
      const runsHere = toolsOf(upstream.requests[0]).includes(called);
      expect(ended).toEqual(
        runsHere
          ? { status: 'incomplete', reason: 'max_tool_calls', calls: [] }
          : { status: 'completed', reason: null, calls: [called] },
      );
    },
  );
});

const choosing = ways.filter(({ hasToolChoice }) => hasToolChoice).map((way) => [way.name, way] as const);
describe.each(choosing)('%s with tool_choice none', (name, way) => {
  it.each([
    ['of the service', 'python', '{"code":"print(1)"}', ['python']],
    ['of the agent', 'pay', '{"n":1}', []],
  ])('carries out no tool %s that the model calls nevertheless', async (_whose, called, args, tools) => {
    alwaysCalls(called, args);
    const { status, reason, calls } = await way.ask(ann, { model: agentId, tools, toolChoice: 'none' });
    expect([upstream.requests.length, api.requests.length, calls]).toEqual([1, 0, []]);
    // Responses treat such a call as a failure of the model; APIs without that status answer with a cut answer.
    expect([status, reason]).toEqual(name.startsWith('a response') ? ['failed', null] : ['incomplete', 'max_tool_calls']);
  });
});

const counting = ways.filter(({ hasToolCallsMax }) => hasToolCallsMax).map((way) => [way.name, way] as const);
it.each(counting)('%s makes as many calls as max_tool_calls says, and ends', async (_name, way) => {
  alwaysCalls('pay', '{"n":1}');
  const ended = await way.ask(cleo, { model: freeAgentId, tools: [], toolCallsMax: 1 });
  expect(ended).toEqual({ status: 'incomplete', reason: 'max_tool_calls', calls: [] });
  // The model is told that no calls are left, and may answer once.
  expect([api.requests.length, upstream.requests.length]).toEqual([1, 2]);
  expect(upstream.requests[1]?.body?.tool_choice).toBe('none');
});

it('what was used before a pause counts behind it', async () => {
  const path = '/api/v2/responses';
  const call = { toolCalls: [{ id: 'call_first', name: 'pay', arguments: '{"n":1}' }] };
  alwaysCalls('pay', '{"n":1}');
  upstream.next(call, noAnswer);
  const { id } = (await cleo.post(path, { model: freeAgentId, input: 'x', background: true, max_tool_calls: 2 })).body;
  await upstream.until(({ requests }) => requests.length === 2);
  expect((await cleo.post(`${path}/${id}/pause`)).body.incomplete_details).toEqual({ reason: 'paused' });
  const { body } = await cleo.post(`${path}/${id}/resume`, {});
  expect(body).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_tool_calls' } });
  expect([api.requests.length, upstream.requests.length]).toEqual([2, 4]);
});

it('a run that goes on with the outputs of functions is bounded like the first', async () => {
  const tools = [{ type: 'function', function: { name: 'ask_user', parameters: { type: 'object' } } }];
  const chat = (await ann.post(`/api/v1/ais/${agentId}/chats`, {})).body;
  upstream.next({ toolCalls: [{ id: 'call_user', name: 'ask_user', arguments: '{}' }] });
  alwaysCalls('pay', '{"n":1}');
  const { body } = await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'x', tools });
  const outputs = [{ toolCallId: 'call_user', status: 'success', output: 'yes' }];
  const next = await ann.post(`/api/v1/chats/${chat.id}/tool-outputs`, { systemMessageId: body.systemMessageId, outputs });
  expect(next.body, JSON.stringify(next.body)).toMatchObject({ status: 'incomplete', incompleteReason: 'max_tool_calls' });
  expect(upstream.requests).toHaveLength(1 + roundsMax);
});

describe('a model that streams for ever', () => {
  let bob: Person;
  let model: string;
  beforeAll(async () => {
    bob = await hasty.make.person();
    model = await agentOf(bob, hasty.make);
  });

  // At once: each waits for the same limit.
  it('ends each way at RUN_TIMEOUT_MS', async () => {
    upstream.otherwise({ text: Array.from({ length: 5_000 }, (_, n) => `w${n} `), chunkDelayMs: 20 });
    const asked = ways.filter(({ isInOnePiece }) => isInOnePiece !== true);
    expect(asked.length).toBeGreaterThan(5);
    const answers = asked.map(async (way) => {
      const clock = startClock();
      const ended = await way.ask(bob, { model, tools: [] });
      expect(clock.elapsedMs(), way.name).toBeLessThan(timeoutMs + 15_000);
      clock.stop();
      expect(ended, way.name).toEqual({ status: 'incomplete', reason: 'timeout', calls: [] });
    });
    await Promise.all(answers);
  });
});
