import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { confluencePermissions } from '../../../../src/engine/knowledge/connectors/confluence/permissions.ts';
import { type AtlassianStandIn, startAtlassian } from '../../../fixtures/upstreams/atlassian.ts';
import { spaceGrant, type WikiPermissions } from '../../../fixtures/upstreams/atlassian-wiki-permissions.ts';
import { type ConnectorBench, connectorBench } from '../../../support/knowledge/connector-bench.ts';
import { PermissionBench, type Somebody } from '../../../support/knowledge/permission-bench.ts';

let cloud: AtlassianStandIn;
let bench: ConnectorBench;
let source: PermissionBench;
let permissions: WikiPermissions;
let spaceId: string;

beforeEach(async () => {
  cloud = await startAtlassian();
  const { access } = cloud.grant();
  // A refusal of a scope looks like one of the token, which is then renewed.
  bench = connectorBench(cloud.env, { access, renew: async () => access });
  ({ permissions } = cloud.wiki);
  permissions.groups.set('staff', [{ accountId: 'ann' }, { accountId: 'bob' }]);
  spaceId = cloud.wiki.space('Team').id;
  source = new PermissionBench(bench, confluencePermissions, 'WIKI', { cloudId: 'cloud-1' }, () => [
    ...[...cloud.wiki.pages.values()].map(({ id, parentId }) => ({
      uniqueId: id,
      parentUniqueId: parentId,
      metadata: { spaceId },
    })),
    ...[...cloud.wiki.attachments.values()].map(({ id, pageId }) => ({
      uniqueId: id,
      parentUniqueId: pageId,
      metadata: { attachedTo: pageId },
    })),
  ]);
});
afterEach(async () => {
  await bench.close();
  await cloud.close();
});

const [ann, bob, eve]: readonly Somebody[] = ['ann', 'bob', 'eve'].map((accountId) => ({ accountId }));
const page = (title: string, parentId: string | null = null, parentType: 'page' | 'folder' = 'page') =>
  cloud.wiki.page(spaceId, title, '', { parentId, parentType }).id;
const opened = (who: Somebody | undefined) => source.opened(who ?? {});

describe('who may open a page', () => {
  it('may open the space, and the page, and each page above it', async () => {
    const [open, top] = [page('Open'), page('Top')];
    const middle = page('Middle', top);
    const deep = page('Deep', middle);
    permissions.restrictions.set(top, { users: ['bob', 'eve'] });
    permissions.restrictions.set(deep, { groups: ['few'] });
    permissions.groups.set('few', [{ accountId: 'bob' }, { accountId: 'eve' }]);
    expect((await source.read()).end).toEqual({ isFull: true, missingRights: [] });
    expect(opened(ann)).toEqual([open]);
    expect(opened(bob)).toEqual([open, top, middle, deep].sort());
    // May open the page by itself, but not the space.
    expect(opened(eve)).toEqual([]);
  });

  it('is asked by where the page lies now: below a restricted folder, with its attachments', async () => {
    const folder = cloud.wiki.folder(spaceId, null, 'Folder');
    const id = page('Moved');
    const attachment = cloud.wiki.attach(id, 'a.txt', 'text/plain', Buffer.from('a'));
    await source.read();
    expect(opened(ann)).toEqual([id, attachment.id].sort());
    Object.assign(cloud.wiki.pages.get(id) ?? {}, { parentId: folder, parentType: 'folder' });
    permissions.restrictions.set(folder, { users: ['bob'] });
    await source.read();
    expect([opened(ann), opened(bob)]).toEqual([[], [id, attachment.id].sort()]);
  });

  it('by a role in the space, or by anonymous access', async () => {
    const id = page('Page');
    permissions.spaces.set(spaceId, [spaceGrant('role', 'viewer'), spaceGrant('user', 'eve', 'create', 'page')]);
    permissions.roles.set(spaceId, [
      { roleId: 'viewer', principal: { principalType: 'USER', principalId: 'bob' } },
      { roleId: 'viewer', principal: { principalType: 'ACCESS_CLASS', principalId: 'all-licensed-users' } },
    ]);
    await source.read();
    expect([opened(bob), opened(eve)]).toEqual([[id], []]);
    expect(source.groups.get('class all-licensed-users')?.members).toMatchObject({ unknown: { code: 'INEXPRESSIBLE' } });
    permissions.roles.set(spaceId, [
      { roleId: 'viewer', principal: { principalType: 'ACCESS_CLASS', principalId: 'anonymous-users' } },
    ]);
    await source.read();
    expect(opened({})).toEqual([id]);
  });

  it('is known by the id alone: addresses are hidden', async () => {
    page('Page');
    await source.read();
    expect(opened({ email: 'ann@acme.example' })).toEqual([]);
    expect(
      await confluencePermissions.account(bench.services.settings, async () => ({
        account_id: 'ann',
        email: 'Ann@acme.example',
      })),
    ).toEqual({
      accountId: 'ann',
    });
  });

  it('is known on all pages of a list, and of pages that the search has not heard of', async () => {
    const [long, fresh] = [page('Long'), page('Fresh')];
    permissions.pageSize = 2;
    permissions.groups.set('staff', [
      { accountId: 'x' },
      { accountId: 'y' },
      { accountId: 'bob' },
      { accountId: 'app', accountType: 'app' },
    ]);
    permissions.spaces.set(spaceId, [spaceGrant('user', 'x'), spaceGrant('user', 'eve'), spaceGrant('group', 'staff')]);
    permissions.restrictions.set(long, { users: ['x', 'y', 'bob'] });
    permissions.restrictions.set(fresh, { users: ['eve'] });
    permissions.unsearched.add(fresh);
    await source.read();
    expect([opened(bob), opened(eve), opened({ accountId: 'app' })]).toEqual([[long], [fresh], []]);
  });

  const spoilers: Readonly<Record<string, (top: string) => void>> = {
    'members of a group may not be read': () => {
      permissions.mayRead = 'noGroups';
    },
    'a scope is missing': () => {
      permissions.mayRead = 'noScope';
    },
    'the page above is hidden': (top) => {
      Object.assign(cloud.wiki.pages.get(top) ?? {}, { isHidden: true });
    },
    'a restriction names nobody by an id': (top) => {
      permissions.restrictions.set(top, { users: [''] });
    },
  };
  it.each([
    ['members of a group may not be read', undefined, ['read:group:confluence: members of groups']],
    ['a scope is missing', 'UNREADABLE', []],
    ['the page above is hidden', 'INCOMPLETE', []],
    ['a restriction names nobody by an id', 'INCOMPLETE', []],
  ])('is nobody, and that is told: %s', async (what, code, rights) => {
    const top = page('Top');
    const id = page('Page', top);
    spoilers[what]?.(top);
    const { end } = await source.read();
    expect([source.unknownCode(id), opened(ann), end?.missingRights]).toEqual([code, [], rights]);
  });

  it.each([
    ['half a roster', /membersByGroupId/, { body: { size: 2 } }],
    ['a search that is cut', /content\/search/, { body: {} }],
    ['a space without its list', /\/permissions/, { body: {} }],
  ])('keeps what was known after %s', async (_case, match, reply) => {
    const id = page('Page');
    await source.read();
    cloud.fail({ match, alter: () => reply, times: 99 });
    await expect(source.read()).rejects.toMatchObject({ code: 'BAD_REPLY', isRetryable: true });
    expect(opened(ann)).toEqual([id]);
  });

  it('is nobody for a linked file of a drive', async () => {
    const linked = new PermissionBench(bench, confluencePermissions, 'WIKI', {}, () => [
      { uniqueId: 'f', metadata: { driveFileId: 'f' } },
    ]);
    await linked.read();
    expect(linked.unknownCode('f')).toBe('INEXPRESSIBLE');
  });

  it('waits as long as Confluence asks, and is asked for with few requests', async () => {
    for (let index = 0; index < 120; index += 1) page(`Page ${index}`);
    cloud.fail({ match: /content\/search/, status: 429, headers: { 'retry-after': '1' }, body: {} });
    cloud.seen();
    await source.read();
    expect(opened(ann)).toHaveLength(120);
    expect(cloud.seen().length).toBeLessThan(14);
  });
});

describe('a reading', () => {
  it('goes on where it was cut off', async () => {
    for (let index = 0; index < 120; index += 1) page(`Page ${index}`);
    await source.read({ pagesMax: 1 });
    const { told } = await source.read();
    expect(told).toHaveLength(20);
    expect(opened(ann)).toHaveLength(120);
  });
});

describe('a question before an answer', () => {
  it('is put to Confluence for each page at one time', async () => {
    const [one, two] = [page('One'), page('Two')];
    permissions.readable.add(`${one} ann`);
    expect([...(await source.recheck([one, two], ann ?? {}))]).toEqual([one]);
    expect([...(await source.recheck([one, two], { email: 'ann@acme.example' }))]).toEqual([]);
  });
});
