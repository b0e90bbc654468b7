import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { oneDrivePermissions } from '../../../../src/engine/knowledge/connectors/onedrive/permissions.ts';
import { graphGroup, graphLink, graphUser } from '../../../fixtures/upstreams/graph-sharing.ts';
import { MicrosoftGraph } from '../../../fixtures/upstreams/microsoft-graph.ts';
import { type ConnectorBench, connectorBench } from '../../../support/knowledge/connector-bench.ts';
import { PermissionBench, type Somebody } from '../../../support/knowledge/permission-bench.ts';

let graph: MicrosoftGraph;
let bench: ConnectorBench;
let source: PermissionBench;

beforeEach(async () => {
  graph = await MicrosoftGraph.start();
  bench = connectorBench({ MICROSOFT_API_URL: graph.url }, { access: graph.tokens.access });
  graph.drive('library', 'Library');
  source = new PermissionBench(bench, oneDrivePermissions, 'DRIVE_B', { fileId: 'root', driveId: 'library' }, () =>
    [...graph.items.values()]
      .filter(({ text }) => text !== undefined)
      .map(({ id, parentId, driveId }) => ({
        uniqueId: id,
        parentUniqueId: parentId,
        metadata: driveId === 'library' ? {} : { driveId },
      })),
  );
});
afterEach(async () => {
  await bench.close();
  await graph.close();
});

const person = (name: string): Somebody => ({ accountId: `u-${name}` });
const [owner, bob, eve] = [person('owner'), person('bob'), person('eve')];
const folder = (id: string, parentId = 'library-root') => graph.add({ id, parentId, driveId: 'library' });
const file = (id: string, parentId = 'library-root', driveId = 'library') => graph.add({ id, parentId, driveId, text: id });
const user = (name: string, more: object = {}) => ({
  ...{ '@odata.type': '#microsoft.graph.user', id: `u-${name}`, mail: `${name}@acme.example` },
  ...{ userPrincipalName: `${name}@acme.example`, accountEnabled: true, ...more },
});
const staff = '11111111-2222-3333-4444-555555555555';

describe('who may open an item', () => {
  it('is named by its permissions and by those that it inherits', async () => {
    folder('plans');
    file('a', 'plans');
    file('b', 'plans');
    graph.share('plans', [graphUser('bob')]);
    graph.share('b', [graphUser('eve')]);
    expect((await source.read()).end).toMatchObject({ isFull: true, missingRights: [] });
    expect([owner, bob, eve].map((who) => source.opened(who))).toEqual([['a', 'b'], ['a', 'b'], ['b']]);
    expect(source.opened({ email: 'eve@acme.example' })).toEqual(['b']);
  });

  it('is asked for with few requests, each of at most twenty items', async () => {
    for (let index = 0; index < 45; index += 1) file(`f${index}`);
    await source.read();
    expect(graph.server.requests.filter(({ path }) => path === '/v1.0/$batch').length).toBeLessThan(8);
    expect(source.opened(owner)).toHaveLength(45);
  });

  it('is a member of a group, also by the names that SharePoint has for one', async () => {
    graph.sharing.groups.set(staff, {
      members: [
        user('bob'),
        user('gone', { accountEnabled: false }),
        { '@odata.type': '#microsoft.graph.device', id: 'd1' },
        user('eve'),
      ],
      owners: [user('chief')],
    });
    graph.sharing.pageSize = 2;
    const claim = (loginName: string) => ({ roles: ['read'], grantedToV2: { siteUser: { id: '9', loginName } } });
    const shared = {
      direct: graphGroup(staff),
      team: claim(`c:0o.c|federateddirectoryclaimprovider|${staff}`),
      security: claim(`c:0t.c|tenant|${staff}`),
      owners: claim(`c:0o.c|federateddirectoryclaimprovider|${staff}_o`),
      everybody: claim('c:0-.f|rolemanager|spo-grid-all-users/1234'),
      login: claim('i:0#.f|membership|bob@acme.example'),
    };
    for (const [id, grant] of Object.entries(shared)) {
      file(id);
      graph.share(id, [grant]);
    }
    await source.read();
    expect(source.opened({ accountId: 'u-bob', email: 'bob@acme.example' })).toEqual([
      'direct',
      'everybody',
      'login',
      'security',
      'team',
    ]);
    expect([person('gone'), person('chief')].map((who) => source.opened(who))).toEqual([[], ['owners']]);
  });

  it.each([
    ['the right is missing', () => graph.sharing.rights.delete('GroupMember.Read.All'), 1],
    ['it is gone', () => graph.sharing.groups.delete(staff), 1],
    [
      'it hides its members',
      () => graph.sharing.groups.set(staff, { members: [user('bob')], visibility: 'HiddenMembership' }),
      1,
    ],
  ])('is nobody by a group, and that is told: %s', async (_case, spoil, missingCount) => {
    graph.sharing.groups.set(staff, { members: [user('bob')] });
    file('a');
    graph.share('a', [graphGroup(staff)]);
    spoil();
    const { end } = await source.read();
    expect([source.opened(bob), source.opened(owner)]).toEqual([[], ['a']]);
    expect(source.groups.get(staff)?.members).toMatchObject({ unknown: { code: 'UNREADABLE' } });
    expect(end?.missingRights).toHaveLength(missingCount);
  });

  it('is nobody by a group of SharePoint, whose members Graph does not say', async () => {
    file('a');
    graph.share('a', [{ roles: ['read'], grantedToV2: { siteGroup: { id: '5', displayName: 'Visitors' } } }]);
    await source.read();
    expect([...source.groups.values()]).toMatchObject([{ name: 'Visitors', members: { unknown: { code: 'UNREADABLE' } } }]);
    expect(source.opened(bob)).toEqual([]);
  });

  it.each([
    ['ends at a time', graphUser('bob', { expirationDateTime: '2027-01-01T00:00:00Z' }), 'INEXPRESSIBLE'],
    ['is a link for named people that ends', graphLink('users', { expirationDateTime: '2027-01-01T00:00:00Z' }), 'INEXPRESSIBLE'],
    ['is for something unknown', { roles: ['read'], grantedToV2: { moon: { id: '1' } } }, 'INEXPRESSIBLE'],
  ])('is nobody where a permission %s', async (_case, grant, code) => {
    file('a');
    graph.share('a', [grant, graphUser('eve')]);
    await source.read();
    expect([source.unknownCode('a'), source.opened(eve), source.opened(owner)]).toEqual([code, [], []]);
  });

  it.each([
    ['shows its own permission only', () => graph.sharing.partial.add('a'), 'INCOMPLETE'],
    ['refuses', () => graph.sharing.closed.add('a'), 'UNREADABLE'],
  ])('is nobody where Graph %s', async (_case, spoil, code) => {
    file('a');
    spoil();
    await source.read();
    expect([source.unknownCode('a'), source.opened(person('ann'))]).toEqual([code, []]);
  });

  it.each([
    ['anyone with the link', graphLink('anonymous'), [], ['a']],
    ['the organization with the link', graphLink('organization'), [], ['a']],
    ['a link with a password', graphLink('anonymous', { hasPassword: true }), [], []],
    [
      'a link for named people',
      graphLink('users', { grantedToIdentitiesV2: [{ user: { id: 'u-x', email: 'x@acme.example' } }] }),
      ['a'],
      ['a'],
    ],
    ['an invitation', { roles: ['read'], invitation: { email: 'X@acme.example', signInRequired: true } }, ['a'], ['a']],
    ['limited access of SharePoint', graphUser('x', { roles: ['sp.limited access'] }), [], []],
  ])('is not found by a link unless the source says so: %s', async (_case, grant, found, byLink) => {
    file('a');
    graph.share('a', [grant]);
    await source.read();
    const who = { accountId: 'u-x', email: 'x@acme.example' };
    expect([source.opened(who), source.opened(who, true)]).toEqual([found, byLink]);
  });

  it('is known on all pages of its permissions, and in other drives that shortcuts lead to', async () => {
    graph.drive('other', 'Other');
    file('elsewhere', 'other-root', 'other');
    file('a');
    graph.share(
      'a',
      ['x', 'y', 'z'].map((name) => graphUser(name)),
    );
    graph.sharing.pageSize = 2;
    await source.read();
    expect([source.opened(owner), source.opened(person('z'))]).toEqual([['a', 'elsewhere'], ['a']]);
  });

  it('waits as long as Graph asks, also for one item of a batch', async () => {
    file('a');
    file('b');
    const slow = { id: '0', status: 429, headers: { 'Retry-After': '7' }, body: {} };
    const alter = ({ body }: { body?: unknown }) => {
      const { responses } = body as { responses: readonly { id: string }[] };
      return { body: { responses: responses.map((one) => (one.id === '0' ? slow : one)) } };
    };
    await source.read();
    graph.server.fail({ match: /batch/, alter, times: 99 });
    await expect(source.read({ isFull: true })).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 7_000 });
    expect(source.opened(owner)).toEqual(['a', 'b']);
  });
});

describe('changes', () => {
  beforeEach(async () => {
    folder('plans');
    folder('inner', 'plans');
    folder('outside');
    file('a', 'plans');
    file('deep', 'inner');
    file('c');
    graph.share('plans', [graphUser('bob')]);
    await source.read();
  });

  it('of a file and of a folder are read by the feed, and nothing else', async () => {
    graph.share('plans', []);
    graph.share('c', [graphUser('eve')]);
    const { end, told } = await source.read();
    expect([end?.isFull, told]).toEqual([false, ['a', 'c', 'deep']]);
    expect([source.opened(bob), source.opened(eve)]).toEqual([[], ['c']]);
    graph.server.seen();
    expect((await source.read()).told).toEqual([]);
    expect(graph.server.seen()).toEqual(['POST /v1.0/$batch', 'GET /v1.0/drives/library/root/delta']);
  });

  it('of a file that the account lost open it to nobody', async () => {
    graph.share('c', [graphUser('eve')]);
    const data = { fileId: 'root', driveId: 'library' };
    const listed = new PermissionBench(bench, oneDrivePermissions, 'DRIVE_B', data, () => [{ uniqueId: 'c' }]);
    await listed.read();
    expect(listed.opened(eve)).toEqual(['c']);
    graph.remove('c');
    expect((await listed.read()).end?.isFull).toBe(false);
    expect([listed.unknownCode('c'), listed.opened(eve)]).toEqual(['UNREADABLE', []]);
  });

  it('of a folder whose files the account may not list any more make everything be read', async () => {
    for (const id of ['a', 'deep']) graph.sharing.closed.add(id);
    graph.share('plans', []);
    const alter = () => ({ status: 403, body: { error: { code: 'accessDenied', message: 'Access denied' } } });
    graph.server.fail({ match: /plans\/children/, alter, times: 99 });
    expect((await source.read()).end?.isFull).toBe(true);
    expect(source.opened(bob)).toEqual([]);
  });

  it('of where a folder lies are read', async () => {
    graph.change('inner', { parentId: 'outside' });
    expect((await source.read()).told).toEqual(['deep']);
    expect(source.opened(bob)).toEqual(['a']);
  });

  it('are read of items that came later than their change', async () => {
    file('new', 'plans');
    expect((await source.read()).told).toEqual(['new']);
    expect(source.opened(bob)).toEqual(['a', 'deep', 'new']);
  });

  it.each([
    [
      'of a whole library',
      () => graph.share('library-root', [graphUser('owner', { roles: ['owner'] }), graphUser('eve')]),
      ['a', 'c', 'deep'],
    ],
    ['that the feed has forgotten', () => graph.forget(), []],
  ])('%s make everything be read', async (_case, happen, opened) => {
    happen();
    expect((await source.read()).end?.isFull).toBe(true);
    expect(source.opened(eve)).toEqual(opened);
  });

  it('without the right to the feed are read every PERMISSION_SYNC_MINUTES, and the right is named', async () => {
    graph.sharing.rights.delete('Sites.FullControl.All');
    const { end } = await source.read({ isFull: true });
    expect(end?.missingRights).toEqual([expect.stringContaining('Sites.FullControl.All')]);
    graph.share('plans', []);
    expect((await source.read()).told).toEqual([]);
    bench.now = new Date(bench.now.getTime() + 15 * 60_000);
    expect((await source.read()).end?.isFull).toBe(true);
    expect(source.opened(bob)).toEqual([]);
  });
});

describe('a reading of everything', () => {
  it('goes on where it was cut off', async () => {
    for (let index = 0; index < 250; index += 1) file(`f${String(index).padStart(3, '0')}`);
    await source.read({ pagesMax: 2 });
    const { told, end } = await source.read();
    expect([told[0], told.length, end?.isFull]).toEqual(['f200', 50, true]);
    expect(source.opened(owner)).toHaveLength(250);
  });
});

describe('a question before an answer', () => {
  it('is one batch, and gives what the person may open now', async () => {
    file('a');
    file('b');
    graph.share('a', [graphUser('bob')]);
    graph.share('b', [graphUser('bob')]);
    await source.read();
    graph.share('b', []);
    graph.server.seen();
    expect([...(await source.recheck(['a', 'b'], bob))]).toEqual(['a']);
    expect(graph.server.seen()).toEqual(['POST /v1.0/$batch']);
  });
});
