import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { googleDrivePermissions } from '../../../../src/engine/knowledge/connectors/google-drive/permissions.ts';
import { GoogleDrive, googleTypes } from '../../../fixtures/upstreams/google-drive.ts';
import { googleGroup, googleUser } from '../../../fixtures/upstreams/google-sharing.ts';
import { type ConnectorBench, connectorBench } from '../../../support/knowledge/connector-bench.ts';
import { PermissionBench, type Somebody } from '../../../support/knowledge/permission-bench.ts';

let drive: GoogleDrive;
let bench: ConnectorBench;
let source: PermissionBench;

beforeEach(async () => {
  drive = await GoogleDrive.start();
  bench = connectorBench({ GOOGLE_API_URL: drive.url }, { access: drive.tokens.access });
  source = new PermissionBench(bench, googleDrivePermissions, 'DRIVE_A', {}, () =>
    [...drive.files.values()]
      .filter(({ mimeType }) => mimeType === 'text/plain')
      .map(({ id, parents }) => ({ uniqueId: id, parentUniqueId: parents[0] ?? null })),
  );
});
afterEach(async () => {
  await bench.close();
  await drive.server.close();
});

const person = (name: string): Somebody => ({ email: `${name}@acme.example` });
const owner = person('owner');
const bob = person('bob');
const eve = person('eve');
const file = (id: string, parent = 'my-drive', driveId?: string) =>
  drive.add({ id, parents: [parent], ...(driveId === undefined ? {} : { driveId }) });

describe('who may open a file of Google Drive', () => {
  it('is named by its permissions and those of its folders', async () => {
    drive.folder('plans');
    file('a', 'plans');
    file('b', 'plans');
    drive.share('plans', [googleUser('bob')]);
    drive.share('b', [googleUser('eve')]);
    expect((await source.read()).end).toMatchObject({ isFull: true, missingRights: [] });
    expect([source.opened(owner), source.opened(bob), source.opened(eve)]).toEqual([['a', 'b'], ['a', 'b'], ['b']]);
    expect(source.opened({ accountId: 'p-eve' })).toEqual(['b']);
  });

  it('is a member of a group, at any depth', async () => {
    file('a');
    drive.share('a', [googleGroup('staff')]);
    drive.sharing.pageSize = 1;
    drive.sharing.groups.set('staff@acme.example', [
      { type: 'USER', email: 'Bob@acme.example', status: 'ACTIVE' },
      { type: 'USER', email: 'gone@acme.example', status: 'SUSPENDED' },
      { type: 'GROUP', email: 'inner@acme.example' },
    ]);
    drive.sharing.groups.set('inner@acme.example', [{ type: 'USER', email: 'eve@acme.example' }]);
    await source.read();
    expect([bob, eve, person('gone')].map((who) => source.opened(who))).toEqual([['a'], ['a'], []]);
  });

  it.each([
    ['a group that is empty', 'allowed', [], 'members'],
    ['the scope is missing', 'noScope', [{ type: 'USER', email: 'bob@acme.example' }], 'UNREADABLE'],
    ['the account is no administrator', 'noAdmin', [{ type: 'USER', email: 'bob@acme.example' }], 'UNREADABLE'],
    ['the group is of somebody else', 'allowed', undefined, 'UNREADABLE'],
    ['everybody of the account is a member', 'allowed', [{ type: 'CUSTOMER', id: 'C01' }], 'INEXPRESSIBLE'],
    ['a member has no address', 'allowed', [{ type: 'USER', email: 'bob@acme.example' }, { type: 'USER' }], 'INCOMPLETE'],
  ] as const)('is nobody by a group, and that is told: %s', async (_case, directory, members, said) => {
    file('a');
    drive.share('a', [googleGroup('staff')]);
    drive.sharing.directory = directory;
    if (members !== undefined) drive.sharing.groups.set('staff@acme.example', members);
    const { end } = await source.read();
    expect([source.opened(bob), source.opened(owner)]).toEqual([[], ['a']]);
    const group = source.groups.get('staff@acme.example')?.members ?? [];
    expect('unknown' in group ? group.unknown.code : 'members').toBe(said);
    expect(end?.missingRights?.length).toBe(said === 'UNREADABLE' ? 1 : 0);
  });

  it('keeps what was known when half a roster arrives', async () => {
    file('a');
    drive.share('a', [googleGroup('staff')]);
    drive.sharing.groups.set('staff@acme.example', [{ type: 'USER', email: 'bob@acme.example' }]);
    drive.server.fail({ match: /directory/, alter: () => ({ body: { members: [] } }), times: 99 });
    await expect(source.read()).rejects.toMatchObject({ code: 'BAD_REPLY', isRetryable: true });
    expect(source.opened(bob)).toEqual([]);
  });

  it.each([
    ['ends at a time', googleUser('bob', { expirationTime: '2027-01-01T00:00:00Z' }), 'INEXPRESSIBLE'],
    ['is of a type that nobody knows', { id: 'x', type: 'moon', role: 'reader' }, 'INEXPRESSIBLE'],
  ])('is nobody where a permission %s', async (_case, permission, code) => {
    file('a');
    drive.share('a', [googleUser('eve'), permission]);
    await source.read();
    expect([source.unknownCode('a'), source.opened(eve), source.opened(owner)]).toEqual([code, [], []]);
  });

  it('is nobody where the account may not see who has access', async () => {
    file('a');
    drive.sharing.closed.add('a');
    await source.read();
    expect([source.unknownCode('a'), source.opened(owner)]).toEqual(['UNREADABLE', []]);
  });

  it.each([
    ['anyone with the link', { id: 'anyoneWithLink', type: 'anyone', role: 'reader', allowFileDiscovery: false }, [], ['a']],
    ['anyone', { id: 'anyone', type: 'anyone', role: 'reader', allowFileDiscovery: true }, ['a'], ['a']],
    ['the domain with the link', { id: 'd', type: 'domain', domain: 'Else.example', allowFileDiscovery: false }, [], ['a']],
    ['the domain', { id: 'd', type: 'domain', domain: 'Else.example', allowFileDiscovery: true }, ['a'], ['a']],
    ['a deleted account', { ...googleUser('x', { emailAddress: 'x@else.example' }), deleted: true }, [], []],
    ['the published form', { ...googleUser('x', { emailAddress: 'x@else.example' }), view: 'published' }, [], []],
  ])('is not found by a link unless the source says so: %s', async (_case, permission, found, byLink) => {
    file('a');
    drive.share('a', [permission]);
    await source.read();
    const stranger = { email: 'x@else.example' };
    expect([source.opened(stranger), source.opened(stranger, true)]).toEqual([found, byLink]);
  });

  it('in a shared drive, is who may open the drive, and one call asks for a folder of files', async () => {
    drive.add({ id: 'team', mimeType: googleTypes.folder, parents: [], driveId: 'team' });
    drive.share('team', [googleGroup('staff'), googleUser('bob', { role: 'organizer' })]);
    for (let index = 0; index < 30; index += 1) file(`f${index}`, 'team', 'team');
    file('own', 'team', 'team');
    drive.share('own', [googleUser('eve')]);
    drive.server.seen();
    await source.read();
    expect([source.opened(bob).length, source.opened(eve)]).toEqual([31, ['own']]);
    expect(drive.server.seen().length).toBeLessThan(12);
  });
});

describe('changes', () => {
  beforeEach(async () => {
    drive.folder('plans');
    drive.folder('inner', 'plans');
    file('a', 'plans');
    file('deep', 'inner');
    file('c');
    drive.share('plans', [googleUser('bob')]);
    await source.read();
  });

  it('of a file and of a folder are read by the feed, and nothing else', async () => {
    drive.share('plans', []);
    drive.share('c', [googleUser('eve')]);
    const { end, told } = await source.read();
    expect([end?.isFull, told]).toEqual([false, ['a', 'c', 'deep']]);
    expect([source.opened(bob), source.opened(eve)]).toEqual([[], ['c']]);
    drive.server.seen();
    expect((await source.read()).told).toEqual([]);
    expect(drive.server.seen()).toEqual(['GET /drive/v3/changes']);
  });

  it('are read of items that came later than their change', async () => {
    file('new', 'plans');
    expect((await source.read()).told).toEqual(['new']);
    expect(source.opened(bob)).toEqual(['a', 'deep', 'new']);
  });

  it('of a file that the account lost open it to nobody', async () => {
    drive.share('c', [googleUser('eve')]);
    const listed = new PermissionBench(bench, googleDrivePermissions, 'DRIVE_A', {}, () => [{ uniqueId: 'c' }]);
    await listed.read();
    expect(listed.opened(eve)).toEqual(['c']);
    drive.remove('c');
    expect((await listed.read()).end?.isFull).toBe(false);
    expect([listed.unknownCode('c'), listed.opened(eve)]).toEqual(['UNREADABLE', []]);
  });

  it('of a folder that the account lost make everything be read', async () => {
    drive.remove('inner');
    expect((await source.read()).end?.isFull).toBe(true);
  });

  it('of who is in a group are read after PERMISSION_SYNC_MINUTES', async () => {
    drive.share('c', [googleGroup('staff')]);
    drive.sharing.groups.set('staff@acme.example', [{ type: 'USER', email: 'eve@acme.example' }]);
    await source.read({ isFull: true });
    expect(source.opened(eve)).toEqual(['c']);
    drive.sharing.groups.set('staff@acme.example', []);
    bench.now = new Date(bench.now.getTime() + 15 * 60_000);
    await source.read();
    expect(source.opened(eve)).toEqual([]);
  });

  it('that the feed has forgotten make everything be read', async () => {
    drive.share('plans', []);
    drive.oldestToken = 1_000;
    expect((await source.read()).end?.isFull).toBe(true);
    expect(source.opened(bob)).toEqual([]);
  });

  it('of who may open a shared drive make everything be read', async () => {
    drive.add({ id: 'team', mimeType: googleTypes.folder, parents: [], driveId: 'team' });
    drive.share('team', [googleUser('eve')]);
    file('t', 'team', 'team');
    await source.read({ isFull: true });
    expect(source.opened(eve)).toEqual(['t']);
    drive.share('team', []);
    expect((await source.read()).end?.isFull).toBe(true);
    expect(source.opened(eve)).toEqual([]);
  });

  it('of an address after a merge of accounts: the old one opens nothing', async () => {
    drive.share('c', [{ ...googleUser('eve'), emailAddress: 'eve.new@acme.example' }]);
    await source.read();
    expect([source.opened(eve), source.opened(person('eve.new')), source.opened({ accountId: 'p-eve' })]).toEqual([
      [],
      ['c'],
      ['c'],
    ]);
  });
});

describe('a reading of everything', () => {
  it('goes on where it was cut off', async () => {
    for (const id of ['f1', 'f2', 'f3']) {
      drive.folder(id);
      file(`${id}-file`, id);
    }
    await source.read({ pagesMax: 4 });
    drive.server.seen();
    const { told, end } = await source.read();
    expect([told, end?.isFull]).toEqual([['f3-file'], true]);
    expect(source.opened(owner)).toEqual(['f1-file', 'f2-file', 'f3-file']);
  });

  it('waits as long as Drive asks', async () => {
    file('a');
    drive.server.fail({ match: /files\?/, status: 429, headers: { 'retry-after': '1' }, body: {} });
    await source.read();
    expect(source.opened(owner)).toEqual(['a']);
  });
});

describe('a question before an answer', () => {
  it('is one call, and gives what the person may open now', async () => {
    file('a');
    file('b');
    drive.share('a', [googleUser('bob')]);
    drive.share('b', [googleUser('bob')]);
    await source.read();
    drive.share('b', []);
    drive.server.seen();
    expect([...(await source.recheck(['a', 'b'], bob))]).toEqual(['a']);
    expect(drive.server.seen()).toEqual(['POST /batch/drive/v3']);
  });

  it.each([
    [
      'a reply that is cut',
      { alter: () => ({ headers: { 'content-type': 'multipart/mixed; boundary=batch_reply' }, body: '--batch_reply\r\n' }) },
    ],
    ['a file that is gone', { before: () => drive.remove('a') }],
  ])('gives nothing of %s', async (_case, fault) => {
    file('a');
    await source.read();
    drive.server.fail({ match: /batch/, ...fault });
    expect([...(await source.recheck(['a'], owner))]).toEqual([]);
  });

  it('fails when Drive does not answer in time', async () => {
    file('a');
    await source.read();
    drive.server.fail({ match: /batch/, gate: new Promise(() => undefined) });
    await expect(source.recheck(['a'], owner, AbortSignal.timeout(50))).rejects.toThrow();
  });
});
