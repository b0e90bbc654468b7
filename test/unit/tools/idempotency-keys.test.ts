import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEgress } from '../../../src/engine/egress/egress.ts';
import type { ModelDelta } from '../../../src/engine/models/port.ts';
import { RunStop } from '../../../src/engine/runs/control/stop.ts';
import { createApiTool } from '../../../src/engine/tools/api-function/api-tool.ts';
import type { CallPass, ServerTool } from '../../../src/engine/tools/server-tool.ts';
import { type ApiServer, startApiServer } from '../../support/egress/api-server.ts';
import { enabled, finish, freePass, loopDeps, plan, registryOf, runPlan, scriptedModel, text } from '../../support/runs/runs.ts';
import { egressPlaces } from '../../support/sharing/pools.ts';

/** The key that identifies a call to the API, and the check of the lease before its request is sent. */
const egress = createEgress({
  allow: '127.0.0.1',
  connectTimeoutMs: 5_000,
  lookupTimeoutMs: 5_000,
  ...egressPlaces(16, 16),
});
const never = new AbortController().signal;
let api: ApiServer;

beforeAll(async () => {
  api = await startApiServer();
});
beforeEach(() => api.reset());
afterAll(async () => {
  await egress.close();
  await api.close();
});

const keys = () => api.requests.map(({ headers }) => headers['idempotency-key']);
function toolOf(data: object = {}): ServerTool {
  const limits = { timeoutMs: 5_000, replyBytesMax: 1_000, resultCharsMax: 1_000 };
  const context = { ...limits, egress, secretsFor: async () => new Map() };
  return createApiTool({ name: 'act', data: { method: 'POST', url: `${api.url}/act`, ...data } }, [], context);
}
const call = (index: number, id: string): ModelDelta => ({ type: 'tool.start', index, id, name: 'act' });

it('names each call of a run once, also where a model repeats itself or writes what no header takes', async () => {
  const ids = ['call_a', 'call_a', 'a\r\nX-Evil: 1', '', 'x'.repeat(500), 'ünïcode'];
  const model = scriptedModel(
    [[...ids.map((id, index) => call(index, id)), finish('tool_calls')]],
    [[call(0, 'call_a'), finish('tool_calls')]],
    [[text('Done.'), finish()]],
  );
  const events = await runPlan(
    { ...plan, serviceTools: enabled('python') },
    loopDeps(model, { tools: registryOf(new Map([['act', toolOf()]])) }),
  );
  expect(events.at(-1)?.type).toBe('response.completed');
  expect(keys()[0]).toBe('run_1:call_a');
  for (const key of keys().slice(1)) expect(key).toMatch(/^run_1:stc_[0-9a-z]+$/);
  expect(new Set(keys()).size).toBe(ids.length + 1);
});

it('lets a header of that name win that the author of the tool set', async () => {
  const parameters = { type: 'object', properties: { order: { type: 'string' } } };
  const tool = toolOf({ headers: { 'Idempotency-Key': 'order-{order}' }, parameters });
  await tool.run('{"order":"7"}', {}, never, () => undefined, freePass);
  // Without the argument the header is left out, and the key of the call is sent.
  await tool.run('{}', {}, never, () => undefined, freePass);
  expect(keys()).toEqual(['order-7', freePass.key]);
});

describe('the request of a call', () => {
  const run = (pass: CallPass) => toolOf().run('{}', {}, never, () => undefined, pass);

  it('does not leave when the run was lost, and ends the run', async () => {
    const lost = new RunStop('lost', 'Another process took the run over');
    const pass = { key: 'k', isFresh: () => false, renew: () => Promise.reject(lost) };
    await expect(run(pass)).rejects.toBe(lost);
    expect(api.requests).toEqual([]);
  });

  it('does not leave on a lease that ran out while the connection was made: the lease is renewed before', async () => {
    let looks = 0;
    let renewals = 0;
    const pass = {
      key: 'k',
      isFresh: () => {
        looks += 1;
        expect(api.requests).toEqual([]);
        return looks > 1;
      },
      renew: async () => {
        renewals += 1;
      },
    };
    expect(await run(pass)).toBe('{"ok":true}');
    expect([looks, renewals, api.requests.length]).toEqual([2, 2, 1]);
  });

  it('is given up when the lease runs out again and again', async () => {
    const pass = { key: 'k', isFresh: () => false, renew: () => Promise.resolve() };
    await expect(run(pass)).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(api.requests).toEqual([]);
  });

  it('is not made again when the lease runs out behind a redirect', async () => {
    api.answer(({ path }) => (path === '/act' ? { status: 307, headers: { location: '/there' } } : {}));
    let looks = 0;
    const isFresh = () => {
      looks += 1;
      return looks === 1;
    };
    await expect(run({ key: 'k', isFresh, renew: () => Promise.resolve() })).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(api.requests.map(({ path }) => path)).toEqual(['/act']);
  });
});
