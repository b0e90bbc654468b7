import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startApiServer } from '../../support/egress/api-server.ts';
import { eventually } from '../../support/processes/eventually.ts';
import {
  argues,
  CutRuns,
  calls,
  goesOnElsewhere,
  looksUp,
  type Place,
  placesOf,
  responsesPath,
  type Scenario,
  type StandingRun,
  says,
  thinks,
} from '../../support/runs/cut-runs.ts';
import type { WireEvent } from '../../support/runs/response-walk.ts';
import { withService } from '../../support/service.ts';

/** A run that is cut in any way and at any place: its log, its body and its thread are complete. */
const scenarios: readonly Scenario[] = [
  {
    name: 'text and two calls',
    answers: [
      [says('Let '), says('me'), calls(0), argues(0, '{"a"'), argues(0, ':1}'), calls(1), argues(1, '{"b"'), argues(1, ':2}')],
    ],
  },
  {
    name: 'a tool between two answers',
    answers: [
      [says('I look '), looksUp],
      [says('It '), says('is')],
    ],
    hasAgent: true,
  },
  { name: 'thinking, then text', answers: [[thinks('Let me'), thinks(' see'), says('It '), says('is')]] },
  { name: 'a resumed run', answers: [[says(' more'), calls(0), argues(0, '{"a":1')]], how: 'resumed' },
  { name: 'a steered run', answers: [[says('One')], [says('Two'), calls(0), argues(0, '{}')]], how: 'steered' },
];

function scenarioOf(name: string): Scenario {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  return scenario;
}

const leaseMs = 600;
const { service, upstream } = await withService('model', { env: { RUN_LEASE_MS: String(leaseMs) } });

const api = await startApiServer();
const runs = await CutRuns.prepare(service, api);

beforeEach(() => runs.script(upstream));
afterAll(() => api.close());

const post = (run: StandingRun, what: string) => runs.owner.post(`${responsesPath}/${run.id}/${what}`);
/** Whether the run has output. After a pause, only later output counts. */
const hasSaid = ({ place }: StandingRun) => place.answer > 0 || place.steps > 0;

/** Simulates that this process slept while another one took the run and died. */
async function loseLease({ id, releaseTool }: StandingRun): Promise<void> {
  await service.deps.storage.db.pool.query(
    `update runs set "leaseOwner" = 'gone', "leaseUntil" = now() - interval '1 second', fence = fence + 1 where id = $1`,
    [id],
  );
  releaseTool();
}

/** Each returns the response whose output stays in the thread. */
const ends: readonly [string, (run: StandingRun) => Promise<WireEvent>][] = [
  [
    'cancel',
    async (run) => {
      expect((await post(run, 'cancel')).body.status).toBe('cancelled');
      const response = await runs.whole(run, ['cancelled']);
      expect((await post(run, 'cancel')).body).toEqual(response);
      return response;
    },
  ],
  [
    'pause, then resume',
    async (run) => {
      const paused = await runs.pause(run);
      expect(paused).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'paused' } });
      expect(await runs.whole(run, ['incomplete'])).toEqual(paused);
      expect((await post(run, 'resume')).body.status).toBe('completed');
      const response = await runs.whole(run, ['completed']);
      expect(response.output.slice(0, paused.output.length)).toEqual(paused.output);
      return response;
    },
  ],
  [
    'pause, then cancel',
    async (run) => {
      const paused = await runs.pause(run);
      expect((await post(run, 'cancel')).body.status).toBe('cancelled');
      const response = await runs.whole(run, ['cancelled']);
      expect(response.output).toEqual(paused.output);
      return response;
    },
  ],
  [
    'interrupt',
    async (run) => {
      const { body } = await runs.nextTurn(run, { thread_mode: 'interrupt' });
      expect(body.status).toBe('completed');
      return runs.whole(run, ['cancelled']);
    },
  ],
  [
    'force',
    async (run) => {
      const { body } = await runs.nextTurn(run, { thread_mode: 'force' });
      expect(body.status).toBe('completed');
      await runs.whole(run, ['cancelled']);
      const messages = run.requests.at(-1)?.body?.messages as readonly { readonly role: string }[];
      expect(messages.filter(({ role }) => role === 'assistant' || role === 'tool')).toEqual([]);
      return { output: [] };
    },
  ],
  [
    'a lease that is lost',
    async (run) => {
      await loseLease(run);
      return runs.whole(run, [goesOnElsewhere(run) ? 'completed' : 'failed']);
    },
  ],
];

describe.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', (_name, scenario) => {
  it.each(ends)('cut by %s at every place leaves everything whole', async (_end, cut) => {
    const cutAt = async (place: Place) => {
      const run = await runs.standing(scenario, place);
      await runs.goesOn(run, await cut(run));
    };
    await Promise.all(placesOf(scenario).map(cutAt));
  });
});

/** A steered run has two readers, and continues when one of them leaves. */
const readByOne = scenarios.filter(({ how }) => how !== 'steered').map((scenario) => [scenario.name, scenario] as const);
it.each(readByOne)('%s, left by its only reader at every place, is whole', async (_name, scenario) => {
  const leaveAt = async (place: Place) => {
    const run = await runs.standing(scenario, place, 'foreground');
    await run.leave();
    await runs.goesOn(run, await runs.whole(run, ['cancelled']));
  };
  await Promise.all(placesOf(scenario).map(leaveAt));
});

it('cut by force while the database is slow, a run is ended by the request that cut it: no process takes it over meanwhile', async () => {
  const run = await runs.standing(scenarioOf('thinking, then text'), { answer: 0, steps: 3 });
  const { storage } = service.deps;
  const readEvents = storage.conversations.runs.readEvents.bind(storage.conversations.runs);
  const read = Promise.withResolvers<void>();
  Object.assign(storage.conversations.runs, {
    readEvents: async (...asked: Parameters<typeof readEvents>) => {
      await read.promise;
      return readEvents(...asked);
    },
  });
  const leased = async () => {
    const text = 'select fence, extract(epoch from "leaseUntil")::float * 1000 as "untilMs" from runs where id = $1';
    return (await storage.db.pool.query<{ fence: number; untilMs: number }>(text, [run.id])).rows[0];
  };
  const before = await leased();
  const next = runs.nextTurn(run, { thread_mode: 'force' });
  const cut = await eventually(async () => {
    const found = await leased();
    expect(found?.fence).not.toBe(before?.fence);
    return found;
  });
  await eventually(async () => expect((await leased())?.untilMs).toBeGreaterThan((cut?.untilMs ?? 0) + 2 * leaseMs));
  expect((await leased())?.fence).toBe(cut?.fence);
  Object.assign(storage.conversations.runs, { readEvents });
  read.resolve();
  expect((await next).body.status).toBe('completed');
  await runs.whole(run, ['cancelled']);
});

/** Requests that may meet. In any order, the run is over or paused afterwards. */
const cuts: Readonly<Record<string, (run: StandingRun) => Promise<unknown>>> = {
  cancel: (run) => post(run, 'cancel'),
  pause: (run) => post(run, 'pause'),
  steer: (run) => runs.nextTurn(run, { thread_mode: 'steer', background: true }),
  interrupt: (run) => runs.nextTurn(run, { thread_mode: 'interrupt', background: true }),
  force: (run) => runs.nextTurn(run, { thread_mode: 'force', background: true }),
  'a lost lease': loseLease,
};
const pairs = Object.keys(cuts).flatMap((first, index) =>
  Object.keys(cuts)
    .slice(index)
    .map((second) => [first, second] as const),
);
it.each(pairs)('%s and %s at one time leave everything whole', async (first, second) => {
  const scenario = scenarioOf('text and two calls');
  const cutAt = async (steps: number) => {
    const run = await runs.standing(scenario, { answer: 0, steps });
    await Promise.all([cuts[first]?.(run), cuts[second]?.(run)]);
    // A run that was only steered would be held for ever.
    await post(run, 'cancel');
    await runs.whole(run, ['cancelled', 'failed', 'completed']);
    await runs.goesOn(run, { output: [] });
  };
  await Promise.all([0, 2, 5].map(cutAt));
});

it('a process that stops in the middle of all of them leaves everything whole', async () => {
  const all = scenarios.flatMap((scenario) => placesOf(scenario).map((place) => runs.standing(scenario, place)));
  const standing = await Promise.all(all);
  await service.restart();
  const after = async (run: StandingRun) => {
    const response = await runs.whole(run, [hasSaid(run) ? 'failed' : 'completed']);
    if (hasSaid(run)) expect(response.error.code).toBe('overloaded');
    await runs.goesOn(run, response);
  };
  await Promise.all(standing.map(after));
});
