import { expect } from 'vitest';
import type { BodyFault } from '../../../fixtures/upstreams/stand-in.ts';
import type { Scene } from './scene.ts';

type Part = 'listing' | 'content';

/** Requests that were on their way when the service said it. */
const onTheWayMs = 150;

/** The service says to wait a second: nothing at all is asked for in this second, also for other documents. */
export const isSlowedDown = (part: Part) => async (scene: Scene) => {
  const { faults, change } = scene.kind;
  let saidAtMs = 0;
  const before = () => {
    saidAtMs = performance.now();
  };
  faults.fail(part, { status: 429, headers: { 'retry-after': '1' }, body: { message: 'slow down' }, before });
  change();
  await scene.expectNewPrice(await scene.refresh(part === 'content'));
  const after = faults.arrivals().filter(({ atMs }) => atMs > saidAtMs + onTheWayMs);
  expect(after.length).toBeGreaterThan(0);
  // Clocks of timers run a little fast.
  expect(after.filter(({ atMs }) => atMs < saidAtMs + 980)).toEqual([]);
};

/** So often is a request repeated without a wait in the job queue. */
export async function failsForAWhile(scene: Scene): Promise<void> {
  const { faults, change } = scene.kind;
  faults.fail('listing', { status: 503, body: 'maintenance', times: 2 });
  faults.fail('content', { status: 500, body: 'oops', times: 2 });
  change();
  await scene.expectNewPrice(await scene.refresh());
}

/** Longer than one request is repeated: the run goes on later. */
export async function failsForLong(scene: Scene): Promise<void> {
  const { faults, change } = scene.kind;
  faults.fail('listing', { status: 503, body: 'maintenance', times: 7 });
  faults.fail('content', { status: 502, body: 'oops', times: 7 });
  change();
  await scene.expectNewPrice(await scene.refresh());
}

/** A body ends before its end, in the listing and in a document. */
export const bodyEnds = (ends: BodyFault) => async (scene: Scene) => {
  const { faults, change } = scene.kind;
  faults.fail('listing', { ends });
  faults.fail('content', { ends });
  change();
  await scene.expectNewPrice(await scene.refresh());
  await scene.expectRecovery();
};
