import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';

let world: Killable;
beforeEach(async () => {
  world = await prepareKillable();
});
afterEach(() => world.close());

async function newSchedule(ann: TestClient): Promise<string> {
  const agent = await ann.post('/api/v1/ais', { src: 'x', name: 'Ada', description: 'Knows', instructions: 'Be brief.' });
  const input = { name: 'News', agentId: agent.body.id, prompt: 'What is new?', cron: '0 9 1 1 *', timeZone: 'UTC' };
  const made = await ann.graphql('mutation ($input: CreateScheduleInput!) { createSchedule(input: $input) { id } }', { input });
  return made.data.createSchedule.id;
}
const runs = async (ann: TestClient, id: string) => {
  const query = `query ($id: ID!) { schedule(id: $id) { runs(first: 20) { nodes { status startedAt } } } }`;
  return (await ann.graphql(query, { id })).data.schedule.runs.nodes as readonly { readonly status: string }[];
};

it('a schedule whose process is killed at any moment after it was run loses no run and begins none twice', async () => {
  world.upstream.otherwise({ text: ['a', 'b'], chunkDelayMs: 100 });
  const first = await world.launch();
  const id = await newSchedule(first.ann);
  let { parley, ann } = first;
  // From before the job begins to the end of the answer.
  const momentsMs = [0, 20, 60, 150, 400];
  for (const momentMs of momentsMs) {
    const { errors } = await ann.graphql('mutation ($id: ID!) { runScheduleNow(id: $id) { id } }', { id });
    expect(errors).toBeUndefined();
    await wait(momentMs);
    await parley.kill('SIGKILL');
    ({ parley, ann } = await world.launch());
    await eventually(async () => {
      const found = await runs(ann, id);
      expect(found.some(({ status }) => status === 'PENDING' || status === 'RUNNING')).toBe(false);
    });
  }
  expect(await runs(ann, id)).toHaveLength(momentsMs.length);
  // Each run has begun a chat of its own.
  expect((await ann.get('/api/v1/chats')).body.data).toHaveLength(momentsMs.length);
});
