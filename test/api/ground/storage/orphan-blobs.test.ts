import { expect, it } from 'vitest';
import { sweepOrphans } from '../../../../src/domain/ground/blobs.ts';
import { makeId } from '../../../../src/entities/ground/ids.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
const hourMs = 3_600_000;

it('files of stateless runs are deleted once their links have expired, and not before', async () => {
  const { deps } = service;
  const { blobs } = deps.storage;
  const { orgId } = await make.person();
  const keyAt = (agoMs: number) => `${orgId}/run-files/${makeId('upload', deps.now().getTime() - agoMs)}`;
  const [expired, linked] = [keyAt(3 * hourMs), keyAt(hourMs / 2)];
  const unknown = `${orgId}/others/${makeId('upload', 0)}`;
  for (const key of [expired, linked, unknown]) await blobs.put(key, Buffer.from('made'), 4);
  const later = new Date(Date.now() + 60_000);
  await sweepOrphans(deps, later, AbortSignal.timeout(60_000));
  await expect(blobs.read(expired)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect((await blobs.read(linked)).toString()).toBe('made');
  expect((await blobs.read(unknown)).toString()).toBe('made');
});
