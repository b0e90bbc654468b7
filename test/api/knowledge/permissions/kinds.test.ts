import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { queuePermissions } from '../../../../src/engine/knowledge/queue.ts';
import { findPermissionProblems } from '../../../../src/start/checks/permissions.ts';
import { connectedSources } from '../../../support/knowledge/connected.ts';
import { startUpstreams } from '../../../support/knowledge/upstreams/start.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type TestBench, withService } from '../../../support/service.ts';

let testBench: TestBench;
const world = await startUpstreams(() => testBench);
afterAll(() => world.close());
testBench = await withService('plain', { env: world.env });
const { service, make } = testBench;
const { run } = connectedSources(service);
let ann: Person;
let agentId: string;

beforeEach(async () => {
  ann = await make.person();
  agentId = (await make.agent({ owner: ann })).id;
});

const mirrored = world.kinds.filter(({ path }) => path !== 'web-url');
const readPermissions = async (id: string) => (await ann.get(`/api/v1/data-sources/${id}/permissions`)).body;

describe.each(mirrored.map((kind) => [kind.name, kind] as const))('a source of the kind %s', (_name, kind) => {
  it('has its permissions read by the job, without a document', async () => {
    const added = await ann.post(`/api/v1/ais/${agentId}/data-sources/${kind.path}`, {
      dataRefreshPeriod: 'NEVER',
      ...(await kind.prepare(ann)),
    });
    const id: string = added.body.id ?? added.body.data[0].id;
    await run(ann, id, 1);
    const patched = await ann.patch(`/api/v1/data-sources/${id}`, { access: 'MIRRORED', recheck: 'ON_ANSWER' });
    expect(patched.status).toBe(200);
    expect((await readPermissions(id)).permissions).toMatchObject({ knownCount: 0, readAt: null });
    kind.contentsSent();
    const source = await service.deps.storage.db.prisma.dataSource.findUniqueOrThrow({
      where: { id },
      select: { orgId: true, organization: { select: { tenantId: true } } },
    });
    await queuePermissions(service.deps.jobs, [{ id, orgId: source.orgId, tenantId: source.organization.tenantId }]);
    const { permissions } = await eventually(async () => {
      const known = await readPermissions(id);
      expect([known.permissions.errorMessage, known.permissions.readAt]).toEqual([null, expect.any(String)]);
      return known;
    });
    expect(permissions).toMatchObject({ unknownCount: 0, reasons: [], missingRights: [], fullAt: expect.any(String) });
    expect(permissions.knownCount).toBeGreaterThan(0);
    expect(kind.contentsSent()).toBe(0);
  });
});

it('doctor names sources that nobody finds anything of, and rights that are missing', async () => {
  const { prisma, pool } = service.deps.storage.db;
  const added = await ann.post(`/api/v1/ais/${agentId}/data-sources/${mirrored[0]?.path}`, await mirrored[0]?.prepare(ann));
  const id: string = added.body.data[0].id;
  await run(ann, id, 1);
  // Another process holds the reading, so that it does not happen meanwhile.
  const held = { directory: '', leaseOwner: 'other', leaseUntil: new Date(Date.now() + 3_600_000) };
  await prisma.permissionReading.create({ data: { dataSourceId: id, ...held } });
  await prisma.dataSource.update({ where: { id }, data: { access: 'MIRRORED' } });
  const settings = { PERMISSION_MAX_AGE_HOURS: 24 };
  const problems = async () => (await findPermissionProblems(pool, settings)).filter(({ message }) => message.includes(id));
  expect(await problems()).toMatchObject([
    { level: 'wrong' },
    { level: 'warning', message: expect.stringContaining('not known for 3 documents') },
  ]);
  await prisma.permissionReading.update({ where: { dataSourceId: id }, data: { startedAt: new Date(), itemCount: 2 } });
  expect(await problems()).toMatchObject([
    {
      level: 'wrong',
      message: expect.stringMatching(/have not been read yet\. Nobody .* A reading goes on: 2 documents so far\./),
    },
    { level: 'warning' },
  ]);
  const data = { readAt: new Date(), missingRights: ['a right'] };
  await prisma.permissionReading.update({ where: { dataSourceId: id }, data });
  expect(await problems()).toMatchObject([
    { level: 'warning', message: expect.stringContaining('a right') },
    { level: 'warning' },
  ]);
});
