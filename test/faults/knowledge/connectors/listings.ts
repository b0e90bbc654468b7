import { expect } from 'vitest';
import { always } from '../../../support/knowledge/upstreams/kind.ts';
import type { Scene } from './scene.ts';

/** The page with the links ends before them: the pages that were known are asked for all the same. */
export async function startIsCut(scene: Scene): Promise<void> {
  scene.kind.faults.truncate();
  scene.kind.change();
  await scene.expectNewPrice(await scene.refresh());
  await scene.expectRecovery();
}

/** A listing without its last part takes nothing away. */
export async function isTruncated(scene: Scene): Promise<void> {
  const { faults } = scene.kind;
  faults.truncate();
  const run = await scene.refresh(true);
  expect(run).toMatchObject({ removedCount: 0, heldCount: 0 });
  expect(run.status === 'FAILED' || run.isComplete === false).toBe(true);
  await scene.expectAllKept();
  await scene.expectRecovery();
}

const half = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"value": [{"id": ' };

export async function isMalformedOnce(scene: Scene): Promise<void> {
  scene.kind.faults.fail('listing', half);
  scene.kind.change();
  await scene.expectNewPrice(await scene.refresh());
}

export async function isMalformed(scene: Scene): Promise<void> {
  scene.kind.faults.fail('listing', { ...half, times: always });
  // Some listings ask only whether anything changed.
  scene.kind.change();
  expect(await scene.refresh()).toMatchObject({ status: 'FAILED', errorCode: 'BAD_REPLY', removedCount: 0 });
  expect(await scene.source()).toMatchObject({
    indexStatus: 'INDEXED',
    errorCode: 'BAD_REPLY',
    errorMessage: expect.stringMatching(/JSON/),
  });
  await scene.expectAllKept();
  await scene.expectRecovery();
}

/** What the source names is hidden: the source says what to do, and answers from what it has. */
export async function rootIsHidden(scene: Scene): Promise<void> {
  scene.kind.faults.hideAll();
  const run = await scene.refresh();
  expect(run).toMatchObject({ status: 'FAILED', errorCode: expect.stringMatching(/^(FORBIDDEN|NOT_FOUND)$/), removedCount: 0 });
  const source = await scene.source();
  expect(source).toMatchObject({ indexStatus: 'INDEXED', errorCode: run.errorCode });
  expect(source.errorMessage).toMatch(/Share it|Share the file|Let that account|give the App access|not open to everybody/);
  await scene.expectAllKept();
  await scene.expectRecovery();
}

/** Pages name the same next page, or a few of them in a circle. */
export const isEndless =
  (...cursors: readonly string[]) =>
  async (scene: Scene) => {
    const { faults } = scene.kind;
    const before = faults.arrivals().length;
    faults.endless?.begin(cursors);
    expect(await scene.refresh(true)).toMatchObject({ status: 'FAILED', errorCode: 'BAD_REPLY', removedCount: 0 });
    expect(await scene.source()).toMatchObject({ errorCode: 'BAD_REPLY', errorMessage: expect.stringMatching(/same/) });
    expect(faults.arrivals().length - before).toBeLessThan(100);
    await scene.expectAllKept();
    await scene.expectRecovery();
  };

/** A site whose pages link to further ones for ever. */
export async function sitePagesAreEndless(scene: Scene): Promise<void> {
  scene.kind.faults.endless?.begin([]);
  expect(await scene.refresh(true)).toMatchObject({ status: 'COMPLETED', isComplete: false, removedCount: 0 });
  expect(await scene.source()).toMatchObject({
    indexStatus: 'INDEXED',
    errorCode: 'BOUND_REACHED',
    errorMessage: expect.stringContaining('maxPages'),
  });
  expect(await scene.text()).toContain('opens at nine');
}
