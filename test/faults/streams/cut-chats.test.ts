import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startApiServer } from '../../support/egress/api-server.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { expectAccepted } from '../../support/runs/accepted-request.ts';
import {
  argues,
  CutRuns,
  calls,
  goesOnElsewhere,
  looksUp,
  type Place,
  placesOf,
  type Scenario,
  type StandingRun,
  says,
} from '../../support/runs/cut-runs.ts';
import { withService } from '../../support/service.ts';

/** Like cuts.test.ts, for runs of a chat: frames, reply and transcript agree, and the chat accepts the next message. */
const scenarios: readonly Scenario[] = [
  {
    name: 'text and two calls',
    answers: [[says('Let '), says('me'), calls(0), argues(0, '{"a":1}'), calls(1), argues(1, '{"b"')]],
  },
  {
    name: 'a tool between two answers',
    answers: [
      [says('I look '), looksUp],
      [says('It '), says('is')],
    ],
  },
];
const { service, upstream } = await withService('model', { env: { RUN_LEASE_MS: '600' } });

const api = await startApiServer();
const runs = await CutRuns.prepare(service, api);

beforeEach(() => runs.script(upstream));
afterAll(() => api.close());

const hasSaid = ({ place }: StandingRun) => place.answer > 0 || place.steps > 0;
const ends: readonly [string, (run: StandingRun) => Promise<string>][] = [
  [
    'cancel',
    async ({ id, conversation }) => {
      await runs.owner.post(`/api/v1/chats/${conversation}/runs/${id}/cancel`);
      return 'cancelled';
    },
  ],
  [
    'a message that interrupts',
    async ({ conversation }) => {
      const { body } = await runs.owner.post(`/api/v1/chats/${conversation}/messages`, { prompt: 'No', threadMode: 'interrupt' });
      expect(body).toMatchObject({ status: 'completed', message: { content: 'Done.' } });
      return 'cancelled';
    },
  ],
  [
    'a lease that is lost',
    async (run) => {
      await service.deps.storage.db.pool.query(
        `update runs set "leaseOwner" = 'gone', "leaseUntil" = now() - interval '1 second', fence = fence + 1 where id = $1`,
        [run.id],
      );
      run.releaseTool();
      return goesOnElsewhere(run) ? 'completed' : 'failed';
    },
  ],
];

/** The run ends with this status, once and in order; its output is in the chat, and the chat continues. */
async function isWhole(run: StandingRun, status: string): Promise<void> {
  const { id, conversation: chatId, requests } = run;
  const { owner } = runs;
  const frames = await eventually(async () => {
    const sse = await Array.fromAsync(owner.sse('GET', `/api/v1/chats/${chatId}/runs/${id}/events`));
    expect(sse.at(-1)?.event).toBe('done');
    return sse.map(({ data }) => JSON.parse(data));
  });
  expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_frame, index) => index));
  const types = frames.map(({ type }) => type as string);
  expect(types.filter((type) => /^run\.(?!started)/.test(type))).toEqual([`run.${status}`]);
  expect(types.filter((type) => type === 'message.started')).toHaveLength(
    types.filter((type) => type === 'message.completed').length,
  );
  expect(types.filter((type) => type === 'tool.started')).toHaveLength(types.filter((type) => type === 'tool.completed').length);
  const texts = frames.filter(({ type }) => type === 'message.completed').map(({ content }) => content);
  const next = await owner.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Next' });
  expect(next.body, JSON.stringify(next.body)).toMatchObject({ status: 'completed', message: { content: 'Done.' } });
  for (const request of requests) expectAccepted(request);
  const chat = (await owner.get(`/api/v1/chats/${chatId}`)).body;
  expect(chat.activeRunId).toBeNull();
  const said = chat.messages
    .filter(({ role }: { role: string }) => role === 'assistant')
    .map(({ content }: { content: string }) => content);
  expect(said.slice(0, texts.length)).toEqual(texts);
}

describe.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', (_name, scenario) => {
  it.each(ends)('cut by %s at every place leaves the chat whole', async (_end, cut) => {
    const cutAt = async (place: Place) => {
      const run = await runs.standing(scenario, place, 'chat');
      await isWhole(run, await cut(run));
    };
    await Promise.all(placesOf(scenario).map(cutAt));
  });
});

it('a process that stops in the middle of all of them leaves the chats whole', async () => {
  const all = scenarios.flatMap((scenario) => placesOf(scenario).map((place) => runs.standing(scenario, place, 'chat')));
  const standing = await Promise.all(all);
  await service.restart();
  await Promise.all(standing.map((run) => isWhole(run, hasSaid(run) ? 'failed' : 'completed')));
});
