import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../support/processes/killable.ts';
import { seededRandom } from '../../support/property/random.ts';
import { Acknowledged, tokensOfCall } from './acknowledged.ts';

/** KILLS=300 PROPERTY_SEED=7 looks for rare faults. */
const kills = Number(process.env.KILLS ?? 8);
const seed = Number(process.env.PROPERTY_SEED ?? 20_261_122);
/** The most acknowledged writes before a process is killed, and the longest time that it may live after them. */
const acknowledgedMax = 6;
const restMsMax = 200;
const clients = 4;
const model = 'openai/test-model';

let world: Killable;
beforeEach(async () => {
  world = await prepareKillable();
});
afterEach(() => world.close());

it(`${kills} kills at random moments lose nothing that was acknowledged, and leave nothing half done`, {
  timeout: 600_000,
}, async () => {
  const random = seededRandom(seed);
  const { upstream } = world;
  upstream.otherwise({
    text: ['One ', 'two ', 'three.'],
    chunkDelayMs: 10,
    usage: { prompt_tokens: 10, completion_tokens: tokensOfCall - 10 },
  });
  let current = await world.launch();
  const agent = await current.ann.post('/api/v1/ais', {
    ...{ src: 'x', name: 'Ada', description: 'Knows', instructions: 'Be brief.', modelId: model },
  });
  const acknowledged = new Acknowledged(model, agent.body.id);
  for (let kill = 0; kill < kills; kill += 1) {
    if (kill > 0) current = await world.launch();
    const { ann, parley } = current;
    const work = Array.from({ length: clients }, (_, index) => writeUntilGone(acknowledged, ann, index + kill));
    const enough = acknowledged.promises.length + Math.ceil(random() * acknowledgedMax);
    await eventually(() => expect(acknowledged.promises.length).toBeGreaterThanOrEqual(enough));
    await wait(random() * restMsMax);
    await parley.kill('SIGKILL');
    await Promise.all(work);
  }

  const ann = await world.recover();
  // Read this before the checks, which make calls of their own.
  const charged = await eventually(async () => {
    expect((await ann.graphql('{ activeRuns { id } }')).data.activeRuns).toEqual([]);
    return (await ann.get('/api/v1/usage')).body.orgUsage.apiTokensUsed;
  });
  expect(charged).toBeGreaterThanOrEqual(acknowledged.calls * tokensOfCall);
  expect(charged).toBeLessThanOrEqual(upstream.requests.filter(({ method }) => method === 'POST').length * tokensOfCall);
  expect(acknowledged.promises.length).toBeGreaterThanOrEqual(kills);
  for (const { what, check } of acknowledged.promises) await check(ann).catch((error: unknown) => fail(what, error));
});

/** An interrupted request is no fault; a refused one is. */
async function writeUntilGone(acknowledged: Acknowledged, ann: TestClient, from: number): Promise<void> {
  for (let turn = from; ; turn += 1) {
    const write = acknowledged.writes[turn % acknowledged.writes.length];
    try {
      await write?.(ann);
    } catch (error) {
      if (isBrokenOff(error)) return;
      throw error;
    }
  }
}

function isBrokenOff(error: unknown): boolean {
  return (
    error instanceof TypeError || (error instanceof Error && (error.name === 'AbortError' || /terminated/.test(error.message)))
  );
}

function fail(what: string, error: unknown): never {
  throw new Error(`${what} did not survive`, { cause: error });
}
