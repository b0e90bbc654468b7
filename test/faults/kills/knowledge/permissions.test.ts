import { afterAll, expect, inject, it } from 'vitest';
import { queuePermissions } from '../../../../src/engine/knowledge/queue.ts';
import { GoogleDrive } from '../../../fixtures/upstreams/google-drive.ts';
import { googleGroup } from '../../../fixtures/upstreams/google-sharing.ts';
import { TestClient } from '../../../support/client.ts';
import { connectedSources } from '../../../support/knowledge/connected.ts';
import { driveEnv } from '../../../support/knowledge/killed-syncs.ts';
import { makeFor } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { killProcesses, startProcess } from '../../../support/processes/process.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { copyOf, testServerUrl } from '../../../support/storage/databases.ts';
import { never } from '../../../support/upstream.ts';

const drive = await GoogleDrive.start();
afterAll(async () => {
  await killProcesses();
  await drive.server.close();
});
/** Where the reading of everything is when its process is killed: at the files of a folder, and at the members of its second group. */
const killPoints = [/GET \/drive\/v3\/files\?.*permissions/, /GET \/admin\/directory\/v1\/groups\/two/];

// On a server another process goes on within a minute, as readings are looked for once a minute: too long for a test.
it.skipIf(testServerUrl !== undefined)(
  'a process that is killed while it reads permissions opens nothing, and the next one goes on',
  async () => {
    const place = await copyOf(inject('template'));
    const env = { ...place.env, ...driveEnv(drive), LOG_LEVEL: 'fatal' };
    const first = await startService({ env });
    const make = makeFor(first);
    const organization = await make.organization();
    const [ann, bob] = [await make.person({ organization }), await make.person({ organization })];
    const { prisma } = first.deps.storage.db;
    await prisma.user.updateMany({ where: { id: { in: [ann.userId, bob.userId] } }, data: { emailVerifiedAt: new Date() } });
    const user = ({ userId, email }: typeof ann) => ({ id: `p-${userId}`, type: 'user', role: 'reader', emailAddress: email });
    const member = ({ userId, email }: typeof ann) => ({ id: `p-${userId}`, type: 'USER', status: 'ACTIVE', email });
    drive.folder('shelf');
    drive.share('shelf', [user(ann)]);
    for (const id of ['lost', 'won', 'kept', 'of-one', 'of-two'])
      drive.add({ id, name: `${id}.md`, parents: ['shelf'], text: `The holiday of ${id} is long.` });
    drive.share('lost', [user(bob)]);
    drive.share('kept', [user(bob)]);
    drive.share('of-one', [googleGroup('one')]);
    drive.share('of-two', [googleGroup('two')]);
    drive.sharing.groups.set('one@acme.example', [member(bob)]);
    drive.sharing.groups.set('two@acme.example', []);
    const agentId = (await make.agent({ owner: ann, visibility: 'ORGANIZATION' })).id;
    const { access: accessToken, refresh: refreshToken } = drive.tokens;
    const connection = await ann.post('/api/v1/connections', {
      provider: 'DRIVE_A',
      accountName: 'Ann',
      accessToken,
      refreshToken,
    });
    const body = { oauthTokenId: connection.body.id, files: [{ id: 'shelf', name: 'Shelf' }], access: 'MIRRORED' };
    const source: string = (await ann.post(`/api/v1/ais/${agentId}/data-sources/drive-a`, body)).body.data[0].id;
    await connectedSources(first).run(ann, source, 1);
    const search = async (who: TestClient): Promise<readonly string[]> => {
      const { body: found } = await who.post('/api/v1/search', { agentId, query: 'holiday', limit: 20 });
      return found.data.map(({ title }: { title: string }) => title.replace('.md', '')).sort();
    };
    await whenRead(first, source);
    expect(await search(bob)).toEqual(['kept', 'lost', 'of-one']);

    // One document is taken away and one is given; a person changes groups.
    drive.share('lost', []);
    drive.share('won', [user(bob)]);
    drive.sharing.groups.set('one@acme.example', []);
    drive.sharing.groups.set('two@acme.example', [member(bob)]);
    const isHeld = (match: RegExp) => {
      drive.server.requests.length = 0;
      drive.server.recover();
      drive.server.fail({ match, gate: never, times: 99 });
      const isMatch = ({ method, path, query }: (typeof drive.server.requests)[number]) =>
        match.test(`${method} ${path}?${query}`);
      return () => eventually(() => expect(drive.server.requests.some(isMatch)).toBe(true));
    };
    const isBegun = isHeld(/GET \/drive\/v3\/changes\/startPageToken/);
    await prisma.permissionReading.update({ where: { dataSourceId: source }, data: { fullAt: null } });
    await queue(first, source);
    await isBegun();
    await first.close();
    for (const match of killPoints) {
      const isThere = isHeld(match);
      const process = startProcess(env);
      const url = await process.url();
      // It goes on with the reading by itself.
      await isThere();
      const found = await search(new TestClient(() => url, bob.key));
      // The old rights or the new ones, of each document.
      expect(['kept', 'lost', 'of-one', 'of-two', 'won']).toEqual(expect.arrayContaining([...found]));
      expect(found).toContain('kept');
      await process.kill('SIGKILL');
    }
    drive.server.recover();
    const last = await startService({ env });
    const bobAtLast = last.client(bob.key);
    await whenRead(last, source);
    expect(await search(bobAtLast)).toEqual(['kept', 'of-two', 'won']);
    await last.close();
    await place.remove();
  },
);

async function queue({ deps }: TestService, source: string): Promise<void> {
  const select = { orgId: true, organization: true } as const;
  const { orgId, organization } = await deps.storage.db.prisma.dataSource.findUniqueOrThrow({ where: { id: source }, select });
  await queuePermissions(deps.jobs, [{ id: source, orgId, tenantId: organization.tenantId }]);
}

/** Waits until everything was read and nobody reads. */
async function whenRead({ deps }: TestService, source: string): Promise<void> {
  const { prisma } = deps.storage.db;
  await eventually(async () => {
    const reading = await prisma.permissionReading.findUniqueOrThrow({ where: { dataSourceId: source } });
    expect(reading).toMatchObject({ leaseOwner: null, place: null, startedAt: null, errorCode: null, fullAt: expect.any(Date) });
    expect(await prisma.knowledgeItem.count({ where: { dataSourceId: source, accessRuleId: null } })).toBe(0);
  });
}
