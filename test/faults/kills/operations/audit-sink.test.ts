import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { startAuditReceiver } from '../../../support/operations/receiver.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';

const receiver = await startAuditReceiver();
afterAll(() => receiver.close());
let world: Killable;
beforeEach(async () => {
  world = await prepareKillable();
});
afterEach(() => world.close());

const agent = async (ann: TestClient, name: string): Promise<string> => {
  const { status, body } = await ann.post('/api/v1/ais', { src: 'x', name, description: '', instructions: '' });
  expect(status).toBe(200);
  return body.id;
};
const ids = async (ann: TestClient): Promise<readonly string[]> => {
  const { data } = await ann.graphql('{ auditLog(first: 100) { nodes { id } } }');
  return data.auditLog.nodes.map(({ id }: { readonly id: string }) => id);
};
/** @returns how many entries there are. */
const allTaken = (ann: TestClient) =>
  eventually(async () => {
    const taken = new Set(receiver.entries.map(({ id }) => id));
    const written = await ids(ann);
    expect(written.length).toBeGreaterThan(0);
    expect(written.filter((id) => !taken.has(id))).toEqual([]);
    return written.length;
  });

it.each([
  ['before it answers', 500],
  ['after it took the entries, before that is written down', 204],
] as const)('a kill while the receiver has a request, %s, loses no entry', async (_when, status) => {
  const { parley, ann } = await world.launch(receiver.env);
  await agent(ann, 'One');
  await allTaken(ann);
  const { promise: killed, resolve } = Promise.withResolvers<void>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  receiver.answer(async () => {
    ask();
    await killed;
    return { status };
  });
  const before = receiver.batches.length;
  await agent(ann, 'Two');
  await asked;
  // Written after the batch was begun.
  await agent(ann, 'Three');
  await parley.kill('SIGKILL');
  receiver.answer();
  resolve();
  const again = await world.recover(receiver.env);
  await allTaken(again);
  const [cut, repeated] = receiver.batches.slice(before);
  expect(repeated).toEqual({ ...cut, status: 204 });
  const actions = receiver.batches.slice(before + 1).flatMap(({ entries }) => entries.map(({ id }) => id));
  // After the kill each comes once.
  expect(actions).toEqual([...new Set(actions)]);
});

it('kills one after the other lose no entry', { timeout: 600_000 }, async () => {
  receiver.answer();
  let made = 0;
  for (let kill = 0; kill < 5; kill += 1) {
    const { parley, ann } = await world.launch(receiver.env);
    for (let count = 0; count < 3 + kill; count += 1) {
      made += 1;
      await agent(ann, `Agent ${made}`);
    }
    await new Promise((resolve) => setTimeout(resolve, kill * 450));
    await parley.kill('SIGKILL');
  }
  const ann = await world.recover(receiver.env);
  expect(await allTaken(ann)).toBeGreaterThanOrEqual(made);
});
