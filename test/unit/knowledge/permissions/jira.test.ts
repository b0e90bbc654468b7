import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jiraPermissions } from '../../../../src/engine/knowledge/connectors/jira/permissions.ts';
import { type AtlassianStandIn, startAtlassian } from '../../../fixtures/upstreams/atlassian.ts';
import { holder, type JiraPermissions } from '../../../fixtures/upstreams/atlassian-jira-permissions.ts';
import { type ConnectorBench, connectorBench } from '../../../support/knowledge/connector-bench.ts';
import { PermissionBench } from '../../../support/knowledge/permission-bench.ts';

let cloud: AtlassianStandIn;
let bench: ConnectorBench;
let source: PermissionBench;
let permissions: JiraPermissions;

beforeEach(async () => {
  cloud = await startAtlassian({ pageMax: 3 });
  bench = connectorBench(cloud.env, { access: cloud.grant().access });
  bench.now = new Date();
  ({ permissions } = cloud.jira);
  permissions.groups.set('staff', [{ accountId: 'ann' }, { accountId: 'bob' }]);
  cloud.jira.project('P', 'Project');
  source = new PermissionBench(bench, jiraPermissions, 'TRACKER', { cloudId: 'cloud-1', projectKey: 'P' }, () =>
    [...cloud.jira.issues.keys()].map((uniqueId) => ({ uniqueId })),
  );
});
afterEach(async () => {
  await bench.close();
  await cloud.close();
});

const issue = (fields: object = {}, updatedDaysAgo = 9) => cloud.jira.issue('P', 'Something', { ...fields }, updatedDaysAgo).id;
const opened = (accountId: string) => source.opened({ accountId });
const secret = { security: { id: '500', name: 'Secret' } };

describe('who may open an issue', () => {
  it('may browse the project, and see the security level', async () => {
    const plain = issue();
    const hidden = issue(secret);
    permissions.levels.set('500', [holder('user', 'bob'), holder('user', 'eve')]);
    expect((await source.read()).end).toMatchObject({ isFull: true, missingRights: [] });
    expect([opened('ann'), opened('bob'), opened('eve')]).toEqual([[plain], [plain, hidden], []]);
  });

  it.each([
    ['anyone', holder('anyone'), 'stranger'],
    ['a person', holder('user', 'eve'), 'eve'],
    ['the lead', holder('projectLead'), 'lead'],
    ['the reporter', holder('reporter'), 'rita'],
    ['the assignee', holder('assignee'), 'abe'],
    ['a person in a field', holder('userCustomField', 'customfield_1'), 'una'],
    ['a group in a field', holder('groupCustomField', 'customfield_2'), 'gus'],
    ['a group by its name alone', { type: 'group', parameter: 'few' }, 'gus'],
    ['a role, with persons and groups', holder('projectRole', '77'), 'gus'],
    ['a role, with persons', holder('projectRole', '77'), 'rosa'],
    ['a product', holder('applicationRole', 'jira-software'), 'gus'],
    ['any product', holder('applicationRole'), 'gus'],
  ])('is named by the scheme and by a level: %s', async (_case, named, person) => {
    const fields = {
      ...{ reporter: { accountId: 'rita' }, assignee: { accountId: 'abe' } },
      ...{ customfield_1: [{ accountId: 'una' }], customfield_2: { name: 'few', groupId: 'few' } },
    };
    permissions.groups.set('few', [
      { accountId: 'gus' },
      { accountId: 'bot', accountType: 'app' },
      { accountId: 'gone', active: false },
    ]);
    permissions.roles.set('77', [
      { type: 'atlassian-user-role-actor', actorUser: { accountId: 'rosa' } },
      { type: 'atlassian-group-role-actor', actorGroup: { name: 'few', groupId: 'few' } },
    ]);
    permissions.applications.set('jira-software', ['few']);
    const id = issue(fields);
    permissions.browsers = [named];
    await source.read();
    expect([opened(person), opened('bot'), opened('gone')].slice(0, 1)).toEqual([[id]]);
    permissions.browsers = [holder('anyone')];
    permissions.levels.set('500', [named]);
    const levelled = issue({ ...fields, ...secret });
    await source.read({ isFull: true });
    expect(opened(person)).toEqual([id, levelled]);
    const isEverybody = person === 'stranger';
    expect([opened('bot'), opened('gone')]).toEqual(
      isEverybody
        ? [
            [id, levelled],
            [id, levelled],
          ]
        : [[id], [id]],
    );
  });

  it('is nobody by the portal of a help desk', async () => {
    issue();
    permissions.browsers = [holder('sd.customer.portal.only')];
    await source.read();
    expect(opened('ann')).toEqual([]);
  });

  it('is known on all pages of lists, by the id alone', async () => {
    const ids = [issue(), issue(), issue(), issue(), issue()];
    permissions.pageSize = 1;
    await source.read();
    expect([opened('bob'), source.opened({ email: 'bob@acme.example' })]).toEqual([ids, []]);
  });

  it.each([
    ['scheme', undefined, 'UNREADABLE', /administer the project/],
    ['levels', undefined, 'UNREADABLE', /security levels/],
    ['groups', undefined, undefined, /read:group:jira/],
    ['roles', holder('projectRole', '77'), undefined, /read:project-role:jira/],
    ['applications', holder('applicationRole'), undefined, /read:group:jira/],
    ['moon', holder('moon', 'x'), 'INEXPRESSIBLE', undefined],
  ] as const)('is nobody where the account may not read the %s, and that is told', async (part, named, code, right) => {
    const id = issue(secret);
    permissions.levels.set('500', [holder('user', 'ann')]);
    if (named !== undefined) permissions.browsers = [named];
    if (part !== 'moon') permissions.forbidden.add(part);
    const { end } = await source.read();
    expect([opened('ann'), source.unknownCode(id)]).toEqual([[], code]);
    if (right === undefined) expect(end?.missingRights).toEqual([]);
    else expect(end?.missingRights).toEqual([expect.stringMatching(right)]);
  });

  it.each([
    ['half a roster', /group\/member/, { body: { values: [], isLast: false } }],
    ['a search that is cut', /search\/jql/, { body: { issues: [], isLast: false } }],
    ['a scheme without its grants', /permissionscheme/, { body: { id: 7 } }],
  ])('keeps what was known after %s', async (_case, match, reply) => {
    const id = issue();
    await source.read();
    cloud.fail({ match, alter: () => reply, times: 99 });
    await expect(source.read({ isFull: true })).rejects.toMatchObject({ code: 'BAD_REPLY', isRetryable: true });
    expect(opened('ann')).toEqual([id]);
  });

  it('is nobody where Jira does not say the security level', async () => {
    const id = issue({ security: undefined });
    cloud.fail({
      match: /search\/jql/,
      alter: ({ body }) => ({ body: { issues: (body as { issues: object[] }).issues.map((one) => ({ ...one, fields: {} })) } }),
    });
    await source.read();
    expect(source.unknownCode(id)).toBe('INCOMPLETE');
  });
});

describe('changes', () => {
  it('of issues, of members and of roles are read without reading all issues', async () => {
    const ids = [issue(), issue(), issue(), issue()];
    await source.read();
    const changed = cloud.jira.issues.get(ids[1] ?? '');
    if (changed !== undefined) Object.assign(changed, { fields: { ...changed.fields, ...secret }, updated: new Date() });
    permissions.levels.set('500', [holder('user', 'bob')]);
    permissions.groups.set('staff', [{ accountId: 'bob' }, { accountId: 'eve' }]);
    const { end, told } = await source.read();
    expect([end?.isFull, told]).toEqual([false, [ids[1]]]);
    expect([opened('ann'), opened('bob'), opened('eve')]).toEqual([[], ids, ids.filter((id) => id !== ids[1])]);
  });

  it('of items that came later than their change are read', async () => {
    issue();
    await source.read();
    const late = issue();
    expect((await source.read()).told).toEqual([late]);
  });

  it.each([
    ['the scheme', () => Object.assign(permissions, { browsers: [holder('user', 'eve')] })],
    ['a security level', () => permissions.levels.set('500', [holder('user', 'eve')])],
  ])('of %s make everything be read', async (_case, change) => {
    issue(secret);
    permissions.browsers = [holder('anyone')];
    permissions.levels.set('500', [holder('user', 'ann')]);
    await source.read();
    change();
    expect((await source.read()).end?.isFull).toBe(true);
  });
});

describe('a reading of everything', () => {
  it('goes on where it was cut off', async () => {
    const ids = [issue(), issue(secret), issue(), issue(), issue(secret)];
    permissions.levels.set('500', [holder('user', 'ann')]);
    await source.read({ pagesMax: 1 });
    expect((await source.read()).told).toEqual(ids.slice(3));
    expect(opened('ann')).toEqual(ids);
  });
});

describe('a question before an answer', () => {
  it('is one call for all issues', async () => {
    const [one = '', two = ''] = [issue(), issue()];
    permissions.browsable.add(`${one} ann`);
    expect([...(await source.recheck([one, two], { accountId: 'ann' }))]).toEqual([one]);
    expect([...(await source.recheck([one, two], { email: 'ann@acme.example' }))]).toEqual([]);
    expect(cloud.requests.filter(({ path }) => path.endsWith('/permissions/check'))).toHaveLength(1);
  });
});
