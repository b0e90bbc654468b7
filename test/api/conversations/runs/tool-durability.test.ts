import { afterAll, beforeEach, expect, it } from 'vitest';
import { RunStop } from '../../../../src/engine/runs/control/stop.ts';
import { runLoop } from '../../../../src/engine/runs/loop/loop.ts';
import { apiMethods } from '../../../../src/engine/tools/api-function/api-function.ts';
import type { ServerTool } from '../../../../src/engine/tools/server-tool.ts';
import type { RunStore } from '../../../../src/storage/conversations/runs/runs.ts';
import { startApiServer } from '../../../support/egress/api-server.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { toolsOf } from '../../../support/runs/research.ts';
import { collect, finish, loopDeps, outcome, plan, registryOf, scriptedModel, text } from '../../../support/runs/runs.ts';
import { withService } from '../../../support/service.ts';

/** No tool starts before the record of its call is stored under the fence of its process. */
const path = '/api/v2/responses';
const model = 'openai/test-model';
const { service, make, upstream } = await withService('model', {});

const api = await startApiServer();
const ann = await make.person();

beforeEach(() => api.reset());
afterAll(() => api.close());

/** Delays every write that begins a call. `isHeld` says whether one waits. */
function holdAppends() {
  const runs: { append: RunStore['append'] } = service.deps.storage.conversations.runs;
  const append = runs.append.bind(runs);
  const { promise, resolve } = Promise.withResolvers<void>();
  const state = { isHeld: false };
  runs.append = async (id, fence, events) => {
    if (events.some(({ type }) => type === 'response.server_tool_call.in_progress')) {
      state.isHeld = true;
      await promise;
    }
    return append(id, fence, events);
  };
  return {
    state,
    release() {
      runs.append = append;
      resolve();
    },
  };
}

const everyTool: readonly [string, { readonly name: string; readonly tools: readonly object[]; readonly method?: string }][] = [
  ...service.deps.tools.all
    .filter(({ unavailable }) => unavailable === undefined)
    .flatMap(({ type, functionNames }) =>
      functionNames({}).map((name): (typeof everyTool)[number] => [type, { name, tools: [{ type }] }]),
    ),
  ...apiMethods.map((method): (typeof everyTool)[number] => [`API_FUNCTION ${method}`, { name: 'act', tools: [], method }]),
];

it.each(everyTool)('%s waits until its call is stored', async (_what, { name, tools, method = 'POST' }) => {
  const agent = await make.agent({ owner: ann, modelId: model });
  const data = { description: 'Acts', parameters: { type: 'object' }, method, url: `${api.url}/act` };
  await ann.post(`/api/v1/ais/${agent.id}/tools`, { name: 'act', type: 'API_FUNCTION', data });
  const args = name === 'deep_research' ? '{"task":"Find out"}' : name === 'python' ? '{"code":"print(42)"}' : '{}';
  upstream.next({ toolCalls: [{ id: 'call_1', name, arguments: args }] });
  const held = holdAppends();
  const { id } = (await ann.post(path, { model: agent.id, input: 'Hi', tools, background: true })).body;
  const end = () =>
    eventually(async () => {
      const { body } = await ann.get(`${path}/${id}`);
      expect(body.status).not.toBe('in_progress');
      return body;
    });
  await upstream.until(({ requests }) => requests.length === 1);
  // A tool without an implementation is not offered: its call goes to the client.
  if (!toolsOf(upstream.requests[0]).includes(name)) {
    held.release();
    expect((await end()).status).toBe('completed');
    return;
  }
  await eventually(() => expect(held.state.isHeld).toBe(true));
  // By now the tool would have started: another run has passed all the same steps.
  expect((await ann.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content: 'x' }] })).status).toBe(200);
  expect([api.requests.length, upstream.requests.length]).toEqual([0, 2]);
  expect((await ann.get(`${path}/${id}`)).body.output).toEqual([]);
  held.release();
  const { output } = await end();
  // A search has an item of its own, which holds its result.
  if (output[0].type === 'server_tool_call')
    expect(output[1]).toMatchObject({ type: 'server_tool_call_output', call_id: 'call_1' });
  else expect(output[0]).toMatchObject({ type: 'file_search_call' });
  if (method !== undefined && name === 'act') {
    expect(api.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([`${id}:call_1`]);
  }
});

it('and does not start when the run was lost meanwhile, whatever tool it is', async () => {
  const started: string[] = [];
  const tool: ServerTool = {
    definition: { name: 't', description: '', parameters: {} },
    hint: '',
    ifLost: 'unknown',
    run: async () => {
      started.push('t');
      return '';
    },
  };
  const reads = [[{ type: 'tool.start', index: 0, id: 'call_1', name: 't' } as const, finish('tool_calls')]];
  const lost = new RunStop('lost', 'Another process took the run over');
  const hold = { written: () => Promise.reject(lost), isFresh: () => false, renew: () => Promise.reject(lost) };
  const start = { runId: 'run_1', firstSequence: 0, isEager: true, secrets: {}, hold };
  const deps = loopDeps(scriptedModel(reads, [[text('no'), finish()]]), { tools: registryOf(new Map([['t', tool]])) });
  const run = outcome(await collect(runLoop(plan, start, deps, new AbortController().signal)));
  expect([run.status, started]).toEqual(['failed', []]);
});
