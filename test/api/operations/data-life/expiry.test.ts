import { expect, it } from 'vitest';
import { expireExports } from '../../../../src/domain/operations/data-life/exports.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', {});
const dayMs = 86_400_000;
const never = new AbortController().signal;
const { dataExport } = service.deps.storage.db.prisma;

it('an export that was never written fails after two days, and goes seven days later', async () => {
  const person = await make.person();
  const { orgId, userId } = person;
  const [id, young] = [service.deps.newId('dataExport'), service.deps.newId('dataExport')];
  const row = { orgId, userId, requestedByUserId: userId, status: 'RUNNING' };
  await dataExport.create({ data: { ...row, id, createdAt: new Date(Date.now() - 3 * dayMs) } });
  await dataExport.create({ data: { ...row, id: young, createdAt: new Date(Date.now() - dayMs) } });
  await expireExports(service.deps, never);
  const { data } = await person.graphql('{ dataExports { nodes { id status url } } }');
  expect(data.dataExports.nodes).toEqual([
    { id: young, status: 'RUNNING', url: null },
    { id, status: 'FAILED', url: null },
  ]);
  await dataExport.updateMany({ where: { id }, data: { expiresAt: new Date(Date.now() - 1) } });
  await expireExports(service.deps, never);
  expect((await dataExport.findMany({ where: { orgId } })).map((left) => left.id)).toEqual([young]);
});

it('a written export goes with its bytes after its days', async () => {
  const person = await make.person();
  const { data } = await person.graphql('mutation { exportPersonData(input: {}) { id } }');
  const { id } = data.exportPersonData;
  const { blobKey } = await eventually(() => dataExport.findUniqueOrThrow({ where: { id, status: 'READY' } }));
  await dataExport.updateMany({ where: { id }, data: { expiresAt: new Date(Date.now() - 1) } });
  await expireExports(service.deps, never);
  expect(await dataExport.count({ where: { id } })).toBe(0);
  await expect(service.deps.storage.blobs.get(blobKey ?? '')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
