import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { queuePermissions } from '../../../../src/engine/knowledge/queue.ts';
import { GoogleDrive } from '../../../fixtures/upstreams/google-drive.ts';
import { googleGroup } from '../../../fixtures/upstreams/google-sharing.ts';
import { connectedSources } from '../../../support/knowledge/connected.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { makeWebhook } from '../../../support/operations/webhooks.ts';
import { parley } from '../../../support/processes/command-line.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const google = await GoogleDrive.start();
afterAll(() => google.server.close());
const { service, make } = await withService('plain', {
  env: {
    ...{ GOOGLE_API_URL: google.url, GOOGLE_TOKEN_URL: `${google.url}/token` },
    ...{ GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret', EGRESS_ALLOW: '127.0.0.1', INDEX_LEASE_MS: '3000' },
  },
});
const { run, refresh } = connectedSources(service);
const { prisma, pool } = service.deps.storage.db;
let organization: Organization;
let ann: Person;
let bob: Person;
let agentId: string;
let source: string;
let folder: string;
let round = 0;

const id = (name: string) => `${name}-${round}`;
const user = (person: Person) => ({ id: `p-${person.userId}`, type: 'user', role: 'reader', emailAddress: person.email });
const file = (name: string) =>
  google.add({ id: id(name), name: `${id(name)}.md`, parents: [folder], text: `The holiday of ${name} is long.` });
const reading = () => prisma.permissionReading.findUniqueOrThrow({ where: { dataSourceId: source } });
const found = async (who: Person) => {
  const { body } = await who.post('/api/v1/search', { agentId, query: 'holiday', limit: 20 });
  return body.data.map(({ title }: { title: string }) => title.replace(`-${round}.md`, '')).sort();
};

/** Has the permissions read once more, and waits for the end. */
async function sync(): Promise<void> {
  const before = await prisma.permissionReading.findUnique({ where: { dataSourceId: source } });
  const { orgId, organization: owner } = await prisma.dataSource.findUniqueOrThrow({
    where: { id: source },
    select: { orgId: true, organization: true },
  });
  await queuePermissions(service.deps.jobs, [{ id: source, orgId, tenantId: owner.tenantId }]);
  await eventually(async () => {
    const { readAt, failedAt, leaseOwner } = await reading();
    expect(leaseOwner).toBe(null);
    expect([readAt?.getTime(), failedAt?.getTime()]).not.toEqual([before?.readAt?.getTime(), before?.failedAt?.getTime()]);
  });
}

beforeEach(async () => {
  google.server.recover();
  round += 1;
  folder = google.folder(id('shop')).id;
  organization = await make.organization();
  ann = await make.person({ organization });
  bob = await make.person({ organization });
  await prisma.user.updateMany({ where: { id: { in: [ann.userId, bob.userId] } }, data: { emailVerifiedAt: new Date() } });
  file('a');
  file('b');
  google.share(id('a'), [user(bob)]);
  google.share(folder, [user(ann)]);
  agentId = (await make.agent({ owner: ann, visibility: 'ORGANIZATION' })).id;
  const { access: accessToken, refresh: refreshToken } = google.tokens;
  const connection = await ann.post('/api/v1/connections', {
    provider: 'DRIVE_A',
    accountName: 'Ann',
    accessToken,
    refreshToken,
  });
  const body = { oauthTokenId: connection.body.id, files: [{ id: folder, name: 'Shop' }] };
  source = (await ann.post(`/api/v1/ais/${agentId}/data-sources/drive-a`, body)).body.data[0].id;
  await run(ann, source, 1);
  expect(await found(bob)).toEqual(['a', 'b']);
  await prisma.dataSource.update({ where: { id: source }, data: { access: 'MIRRORED' } });
  service.deps.storage.signals.publish('permissions-changed', source);
  service.deps.storage.signals.publish('data-source-changed', source);
});

describe('the permissions of a connected source', () => {
  it('are read without a document, and then each person finds what is open to that person', async () => {
    expect([await found(ann), await found(bob)]).toEqual([[], []]);
    google.server.requests.length = 0;
    await sync();
    expect([await found(ann), await found(bob)]).toEqual([['a', 'b'], ['a']]);
    expect(google.server.requests.filter(({ query }) => query.get('alt') === 'media')).toEqual([]);
    expect(await reading()).toMatchObject({ errorCode: null, missingRights: [], place: null, startedAt: null, attempt: 0 });
  });

  it.each(['readAt', 'failedAt'])('are due when they were last read before the clock was set back: %s', async (time) => {
    await sync();
    const hourMs = 3_600_000;
    const isDue = async () => {
      const periods = { syncMs: hourMs, feedMs: hourMs, feedTypes: [] };
      return (await service.deps.storage.knowledge.permissionReadings.findDue(periods)).some(({ id }) => id === source);
    };
    const readAgoMs = async (ms: number) =>
      prisma.permissionReading.update({ where: { dataSourceId: source }, data: { [time]: new Date(Date.now() - ms) } });
    await readAgoMs(1_000);
    expect(await isDue()).toBe(false);
    await readAgoMs(-2 * hourMs);
    expect(await isDue()).toBe(true);
  });

  it('that are taken away open nothing after the next reading, which writes what changed only', async () => {
    await sync();
    const versions = async () => {
      const { rows } = await pool.query(
        'select "uniqueId", xmin::text from knowledge_items where "dataSourceId" = $1 order by 1',
        [source],
      );
      return rows.map((row) => row.xmin);
    };
    const before = await versions();
    google.share(id('a'), []);
    await sync();
    expect([await found(ann), await found(bob)]).toEqual([['a', 'b'], []]);
    const after = await versions();
    expect(after.map((version, index) => version === before[index])).toEqual([false, true]);
  });

  it('are read of documents that the next listing adds, at once', async () => {
    await sync();
    file('c');
    await refresh(ann, source);
    await run(ann, source, 2);
    await eventually(async () => expect(await found(ann)).toEqual(['a', 'b', 'c']));
  });

  it('are read of documents that a listing adds while a reading goes on, once that one has ended', async () => {
    await sync();
    const { permissionReadings: readings } = service.deps.storage.knowledge;
    const lease = await readings.begin(source, { owner: 'another process', leaseMs: 60_000 });
    if (lease === undefined) throw new Error('the reading was not taken');
    file('c');
    await refresh(ann, source);
    await run(ann, source, 2);
    await readings.finish(lease, { isFull: false, state: undefined, missingRights: [] });
    // The period of this service is a minute: it is no reading of a later period.
    await eventually(async () => expect(await found(ann)).toEqual(['a', 'b', 'c']), 30_000);
  });

  it('name what the account lacks', async () => {
    google.sharing.directory = 'noScope';
    google.share(id('b'), [googleGroup('staff')]);
    await sync();
    google.sharing.directory = 'allowed';
    const said = await parley(`sources permissions ${source}`, { PARLEY_URL: service.url, PARLEY_API_KEY: ann.key });
    expect(said.code).toBe(0);
    for (const words of [
      '2 documents with known permissions',
      '1 whose members cannot be read',
      'staff@acme.example: ',
      'admin.directory.group',
    ]) {
      expect(said.out).toContain(words);
    }
    expect((await reading()).missingRights).toEqual([expect.stringContaining('admin.directory.group.member.readonly')]);
  });

  it('follow a merge of two groups: the old name opens nothing, the new one opens to those of both', async () => {
    const member = ({ userId, email }: Person) => ({ id: `p-${userId}`, type: 'USER', status: 'ACTIVE', email });
    const readAll = async () => {
      await prisma.permissionReading.updateMany({ where: { dataSourceId: source }, data: { fullAt: null } });
      await sync();
    };
    google.sharing.directory = 'allowed';
    google.sharing.groups.set('sales@acme.example', [member(bob)]);
    google.sharing.groups.set('trade@acme.example', []);
    google.share(id('a'), []);
    google.share(id('b'), [googleGroup('sales')]);
    await readAll();
    expect(await found(bob)).toEqual(['b']);
    google.sharing.groups.delete('sales@acme.example');
    google.sharing.groups.set('trade@acme.example', [member(bob)]);
    await readAll();
    expect(await found(bob)).toEqual([]);
    google.share(id('b'), [googleGroup('trade')]);
    await readAll();
    expect([await found(ann), await found(bob)]).toEqual([['a', 'b'], ['b']]);
  });

  it('stay as they were after a failure, which is told, and the reading goes on where it stopped', async () => {
    await sync();
    google.server.fail({ match: /changes/, alter: () => ({ body: {} }), times: 99 });
    await sync();
    expect(await reading()).toMatchObject({ errorCode: 'BAD_REPLY', attempt: 1 });
    expect(await found(bob)).toEqual(['a']);
    const said = await parley(`sources permissions --agent ${agentId}`, { PARLEY_URL: service.url, PARLEY_API_KEY: ann.key });
    expect([said.code, said.out]).toEqual([
      1,
      expect.stringContaining('The last attempt failed: Google Drive answered without the list'),
    ]);
    const json = await parley(`sources permissions ${source} --json`, { PARLEY_URL: service.url, PARLEY_API_KEY: ann.key });
    expect(JSON.parse(json.out)).toMatchObject([
      { id: source, access: 'MIRRORED', permissions: { knownCount: 2, unknownCount: 0 } },
    ]);
    google.server.recover();
    await sync();
    expect(await reading()).toMatchObject({ errorCode: null, attempt: 0 });
  });

  it('go on where a process was killed: another takes the reading once its lease is over', async () => {
    await sync();
    const { state } = await reading();
    await prisma.permissionReading.update({
      where: { dataSourceId: source },
      data: {
        leaseOwner: 'dead',
        leaseUntil: new Date(Date.now() - 1),
        startedAt: new Date(),
        place: { after: '', ...(state as object) },
        fullAt: null,
      },
    });
    const due = await service.deps.storage.knowledge.permissionReadings.findDue({
      syncMs: 900_000,
      feedMs: 60_000,
      feedTypes: ['DRIVE_A'],
    });
    expect(due.map((each) => each.id)).toContain(source);
    await sync();
    expect(await reading()).toMatchObject({ leaseOwner: null, place: null, startedAt: null });
    expect(await found(bob)).toEqual(['a']);
  });

  it('begin anew where the reading that was cut off is older than permissions count', async () => {
    await sync();
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    const readings = service.deps.storage.knowledge.permissionReadings;
    const placeAfter = async (startedAt: Date) => {
      await prisma.permissionReading.update({ where: { dataSourceId: source }, data: { startedAt, place: { after: 'a' } } });
      const lease = await readings.begin(source, { owner: 'one', leaseMs: 60_000 });
      if (lease === undefined) throw new Error('the reading was not taken');
      await readings.release(lease);
      return lease.place;
    };
    expect([await placeAfter(hoursAgo(23)), await placeAfter(hoursAgo(25))]).toEqual([{ after: 'a' }, undefined]);
  });

  it('stay known when the access is set that the source has', async () => {
    await sync();
    expect((await ann.patch(`/api/v1/data-sources/${source}`, { access: 'MIRRORED' })).status).toBe(200);
    expect(await found(bob)).toEqual(['a']);
  });

  it('are taken by one process at a time, and a late one writes nothing', async () => {
    const readings = service.deps.storage.knowledge.permissionReadings;
    const first = await readings.begin(source, { owner: 'one', leaseMs: 60_000 });
    expect(await readings.begin(source, { owner: 'two', leaseMs: 60_000 })).toBe(undefined);
    await prisma.permissionReading.update({ where: { dataSourceId: source }, data: { leaseUntil: new Date(Date.now() - 1) } });
    const second = await readings.begin(source, { owner: 'two', leaseMs: 60_000 });
    if (first === undefined || second === undefined) throw new Error('the reading was not taken');
    await expect(readings.finish(first, { isFull: true, state: {}, missingRights: [] })).rejects.toThrow('another process');
    await readings.release(second);
  });

  it('that were not read for long are told of by a webhook, once, before they count no more', async () => {
    await sync();
    const admin = await make.person({ organization, role: 'ADMIN' });
    await makeWebhook(admin, google.url, ['source.failed']);
    const readings = service.deps.storage.knowledge.permissionReadings;
    await prisma.permissionReading.update({
      where: { dataSourceId: source },
      data: { readAt: new Date(Date.now() - 20 * 3_600_000) },
    });
    expect(await readings.warn(24 * 3_600_000)).toContain(source);
    expect(await readings.warn(24 * 3_600_000)).not.toContain(source);
    const { rows } = await pool.query(`select body::json->'data' as data from webhook_deliveries where "orgId" = $1`, [
      organization.id,
    ]);
    expect(rows.map(({ data }) => data)).toEqual([{ dataSourceId: source, sourceRunId: null, errorCode: 'PERMISSIONS_OLD' }]);
  });

  it('are closed of a file that a reading of everything did not name', async () => {
    await sync();
    await prisma.knowledgeItem.create({
      data: {
        ...(await prisma.knowledgeItem.findFirstOrThrow({ where: { dataSourceId: source }, omit: { id: true, rowBytes: true } })),
        ...{ id: `ki_${round}`, uniqueId: 'gone', parentUniqueId: null },
      } as never,
    });
    await prisma.permissionReading.update({ where: { dataSourceId: source }, data: { fullAt: null } });
    await sync();
    const { accessUnknown } = await prisma.knowledgeItem.findFirstOrThrow({ where: { dataSourceId: source, uniqueId: 'gone' } });
    expect(accessUnknown).toMatchObject({ code: 'UNREADABLE' });
  });
});
