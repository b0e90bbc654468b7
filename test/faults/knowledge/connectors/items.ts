import { expect } from 'vitest';
import { always } from '../../../support/knowledge/upstreams/kind.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import type { Scene } from './scene.ts';

const priceItem = /prices/i;

/** One document is hidden: it says why it is not read, or it is gone. The others and the source are as before. */
export async function itemIsHidden(scene: Scene): Promise<void> {
  const { kind } = scene;
  kind.change();
  const name = kind.faults.hide();
  expect(await scene.refresh()).toMatchObject({ status: 'COMPLETED' });
  expect(await scene.source()).toMatchObject({ indexStatus: 'INDEXED' });
  expect(await scene.text()).toContain('opens at nine');
  const item = await scene.item(name === 'prices' ? priceItem : /tools/);
  // No passage of an item that is gone answers, and one that stays says what is the matter.
  if (item === undefined) expect(await scene.text()).not.toMatch(name === 'prices' ? /puncture/ : /lathe/);
  else {
    expect(item).toMatchObject({ indexStatus: 'FAILED', errorCode: 'FORBIDDEN', errorMessage: expect.stringMatching(/\w+ \w+/) });
  }
}

/** The document changes after the listing named it, and before its content is read. */
export async function itemChangesMeanwhile(scene: Scene): Promise<void> {
  const { kind } = scene;
  kind.faults.fail('content', { before: () => kind.change() });
  expect(await scene.refresh(true)).toMatchObject({ status: 'COMPLETED', failedCount: 0, removedCount: 0 });
  await scene.expectNewPrice(await scene.refresh());
  expect(await scene.refresh()).toMatchObject({ status: 'COMPLETED', changedCount: 0 });
}

/** The document is deleted after the listing named it. */
export async function itemIsDeletedMeanwhile(scene: Scene): Promise<void> {
  const { kind } = scene;
  kind.change();
  kind.faults.fail('content', { before: () => kind.remove('prices') });
  expect(await scene.refresh()).toMatchObject({ status: 'COMPLETED' });
  expect(await scene.source()).toMatchObject({ indexStatus: 'INDEXED' });
  const item = await scene.item(priceItem);
  if (item?.indexStatus === 'FAILED')
    expect(item).toMatchObject({ errorCode: 'NOT_FOUND', errorMessage: expect.stringMatching(/\w+ \w+/) });
  await scene.refresh();
  await eventually(async () => expect(await scene.item(priceItem)).toBeUndefined());
  expect(await scene.source()).toMatchObject({ indexStatus: 'INDEXED', errorCode: null });
  expect(await scene.text()).not.toContain('puncture');
  expect(await scene.text()).toContain('opens at nine');
}

/** The content is said to be at a private address of the service's network. */
export async function isRedirectedInside(scene: Scene): Promise<void> {
  const { kind } = scene;
  kind.change();
  kind.faults.fail('content', {
    status: 302,
    headers: { location: 'http://10.1.2.3/latest/meta-data' },
    body: '',
    times: always,
  });
  expect(await scene.refresh()).toMatchObject({ status: 'COMPLETED', failedCount: 1 });
  const item = await scene.item(priceItem);
  expect(item).toMatchObject({
    indexStatus: 'FAILED',
    errorCode: 'FORBIDDEN',
    errorMessage: expect.stringContaining('10.1.2.3'),
  });
  expect(await scene.source()).toMatchObject({ indexStatus: 'INDEXED' });
  expect(await scene.text()).toContain('opens at nine');
  kind.faults.recover();
  await scene.expectNewPrice(await scene.refresh(true));
}

/** The crawler follows no redirect out of its source: the page is not there any more. */
export async function pageRedirectsInside(scene: Scene): Promise<void> {
  const { kind } = scene;
  kind.faults.fail('content', {
    status: 302,
    headers: { location: 'http://10.1.2.3/latest/meta-data' },
    body: '',
    times: always,
  });
  expect(await scene.refresh()).toMatchObject({ status: 'COMPLETED', failedCount: 0 });
  expect(await scene.source()).toMatchObject({ indexStatus: 'INDEXED', errorCode: null });
  expect(await scene.text()).not.toContain('puncture');
}

/** More content than the service said, and than is read. */
export async function sizeLies(scene: Scene): Promise<void> {
  const { kind } = scene;
  const name = 'large.md';
  kind.faults.add({ name, text: `Endless rules. ${'The rule goes on. '.repeat(30_000)}`, declaredBytes: 10 });
  expect(await scene.refresh()).toMatchObject({ status: 'COMPLETED', failedCount: 0, removedCount: 0 });
  expect(await scene.item(/large|fourth/)).toMatchObject({
    indexStatus: 'SKIPPED',
    errorCode: 'TOO_LARGE',
    errorMessage: expect.stringMatching(/\d/),
  });
  expect(await scene.source()).toMatchObject({ indexStatus: 'INDEXED' });
  expect(await scene.text()).not.toContain('Endless rules');
}

/** A size beyond the limit: the content is not asked for. */
export async function isTooLarge(scene: Scene): Promise<void> {
  const { kind } = scene;
  kind.faults.add({ name: 'large.md', text: 'Small after all.', declaredBytes: 10 ** 10 });
  kind.contentsSent();
  expect(await scene.refresh()).toMatchObject({ status: 'COMPLETED', failedCount: 0, skippedCount: 1 });
  expect(await scene.item(/large|fourth/)).toMatchObject({ indexStatus: 'SKIPPED', errorCode: 'TOO_LARGE' });
}

/** Names that lead out of a folder, hold characters that no name has, or do not end. */
const hostileNames = {
  path: '../../../../etc/passwd.md',
  controls: 'Tab\u0009Bell\u0007Null\u0000Escape\u001b[2J\u202eLone\ud800.md',
  long: `${'long name '.repeat(1_000)}.md`,
};
export const isNamed = (which: keyof typeof hostileNames) => async (scene: Scene) => {
  scene.kind.faults.add({ name: hostileNames[which], text: 'The fourth document is read.' });
  expect(await scene.refresh()).toMatchObject({ status: 'COMPLETED', addedCount: 1, failedCount: 0, removedCount: 0 });
  expect(await scene.source()).toMatchObject({ indexStatus: 'INDEXED', errorCode: null });
  expect(await scene.text()).toContain('fourth document');
  for (const { name } of await scene.items()) {
    expect(name.length).toBeLessThanOrEqual(501);
    expect(name).not.toMatch(/\p{Cc}|\p{Cs}|\u202e/u);
  }
};
