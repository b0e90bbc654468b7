import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { githubPermissions } from '../../../../src/engine/knowledge/connectors/github/permissions.ts';
import { GitHub } from '../../../fixtures/upstreams/github.ts';
import { type ConnectorBench, connectorBench } from '../../../support/knowledge/connector-bench.ts';
import { PermissionBench } from '../../../support/knowledge/permission-bench.ts';

let host: GitHub;
let bench: ConnectorBench;
let source: PermissionBench;
const [ann, bob, eve] = [1, 2, 3];

beforeEach(async () => {
  host = await GitHub.start();
  bench = connectorBench({ GITHUB_API_URL: host.url }, { access: 'ghs_0' });
  source = createSource({ mode: 'all' });
  for (const [id, login] of [
    [ann, 'ann'],
    [bob, 'bob'],
    [eve, 'eve'],
  ] as const)
    host.logins.set(id, login);
  host.add(7, 'acme/handbook', { 'README.md': 'a', 'docs/b.md': 'b' });
  host.collaborators.set(
    7,
    new Map([
      [ann, 'admin'],
      [bob, 'pull'],
      [eve, 'none'],
    ]),
  );
});
afterEach(async () => {
  await bench.close();
  host.close();
});

function createSource(data: object): PermissionBench {
  return new PermissionBench(bench, githubPermissions, 'REPO_HOST', { repoHostAppInstallationId: 4711, ...data }, () =>
    [...host.repositories.values()].flatMap(({ id, fullName, files }) =>
      [...files.keys()].map((path) => ({
        uniqueId: `${id}:${path}`,
        parentUniqueId: String(id),
        metadata: { repository: fullName },
      })),
    ),
  );
}
const opened = (id: number) => source.opened({ accountId: String(id) });
const all = ['7:README.md', '7:docs/b.md'];

describe('who may open the files of a repository', () => {
  it('may read it: by name, or by a team', async () => {
    host.teams.set(55, [eve]);
    expect((await source.read()).end).toMatchObject({ isFull: true, missingRights: [] });
    expect([opened(ann), opened(bob), opened(eve)]).toEqual([all, all, []]);
    host.repositoryTeams.set(7, [55]);
    await source.read();
    expect(opened(eve)).toEqual(all);
  });

  it('is everybody where it is public, and not any more once it is private', async () => {
    Object.assign(host.repositories.get(7) ?? {}, { isPublic: true });
    await source.read();
    expect(source.opened({})).toEqual(all);
    Object.assign(host.repositories.get(7) ?? {}, { isPublic: false });
    expect((await source.read()).end?.isFull).toBe(true);
    expect([source.opened({}), opened(bob)]).toEqual([[], all]);
  });

  it('is known by the id alone: a name can be taken over, and addresses are hidden', async () => {
    await source.read();
    expect(source.opened({ email: 'bob@acme.example' })).toEqual([]);
    expect(
      await githubPermissions.account(bench.services.settings, async () => ({ id: 2, login: 'bob', email: 'bob@acme.example' })),
    ).toEqual({ accountId: '2' });
  });

  it('is known on all pages of collaborators', async () => {
    host.collaborators.set(7, new Map(Array.from({ length: 250 }, (_, index) => [index + 100, 'pull'])));
    await source.read();
    expect([opened(349), opened(350)]).toEqual([all, []]);
  });

  it.each([
    ['collaborators', 'metadata', [], 'UNREADABLE', /Metadata/],
    ['teams', 'members', all, undefined, /Members/],
  ] as const)('without the right to %s is who is known otherwise, and that is told', async (_what, right, open, code, needed) => {
    host.teams.set(55, [eve]);
    host.repositoryTeams.set(7, [55]);
    host.rights.delete(right);
    const { end } = await source.read();
    expect([opened(bob), opened(eve)]).toEqual([open, []]);
    const members = source.groups.get('repository 7')?.members ?? [];
    expect('unknown' in members ? members.unknown.code : undefined).toBe(code);
    expect(end?.missingRights).toEqual([expect.stringMatching(needed)]);
  });

  it('is nobody once it is gone, or hidden from the installation', async () => {
    source = createSource({ mode: 'repos', repos: ['acme/handbook', 'acme/other'] });
    await source.read();
    expect(opened(bob)).toEqual(all);
    host.faults.add({ match: /repos\/acme\/handbook/, status: 404, body: { message: 'Not Found' }, times: 99 });
    await source.read();
    expect([opened(bob), source.unknownCode('7:README.md')]).toEqual([[], 'UNREADABLE']);
  });

  it.each([
    ['half a roster', { alter: () => ({ body: { message: 'partial' } }) }, 'BAD_REPLY'],
    [
      'a limit of speed',
      { status: 403, headers: { 'retry-after': '120' }, body: { message: 'secondary rate limit' } },
      'RATE_LIMITED',
    ],
  ])('stays as it was after %s', async (_case, fault, code) => {
    await source.read();
    host.faults.add({ match: /collaborators/, ...fault, times: 99 });
    await expect(source.read()).rejects.toMatchObject({ code });
    expect(opened(bob)).toEqual(all);
  });
});

describe('changes', () => {
  it('of readers are those of one group: of the files nothing is told again', async () => {
    await source.read();
    host.collaborators.set(7, new Map([[eve, 'pull']]));
    const { told, end } = await source.read();
    expect([told, end?.isFull, opened(bob), opened(eve)]).toEqual([[], false, [], all]);
  });

  it('of items that came later are told', async () => {
    await source.read();
    host.repositories.get(7)?.files.set('new.md', 'n');
    expect((await source.read()).told).toEqual(['7:new.md']);
  });
});

describe('a question before an answer', () => {
  it('asks whether the person may read the repositories now, by whoever has the name', async () => {
    host.add(8, 'acme/open', { 'a.md': 'a' }).isPublic = true;
    await source.read();
    const asked = (id: number) => source.recheck(['7:README.md', '8:a.md'], { accountId: String(id) });
    expect([[...(await asked(bob))].sort(), [...(await asked(eve))]]).toEqual([['7:README.md', '8:a.md'], ['8:a.md']]);
    host.collaborators.set(7, new Map());
    expect([...(await asked(bob))]).toEqual(['8:a.md']);
  });
});
