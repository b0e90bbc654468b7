import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type AtlassianStandIn, type Grant, startAtlassian } from '../../../fixtures/upstreams/atlassian.ts';
import { paragraph } from '../../../fixtures/upstreams/atlassian-jira.ts';
import { connectedSources } from '../../../support/knowledge/connected.ts';
import { withMembers } from '../../../support/knowledge/upstreams/kind.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

/** Small pages, so that every list has several. */
const cloud: AtlassianStandIn = await startAtlassian({ pageMax: 3 });
afterAll(() => cloud.close());
const { service, make } = await withService('plain', { env: cloud.env });
const { add, read, run, refresh, items, texts } = connectedSources(service);
let ann: Person;
let aiId: string;
let grant: Grant;
let oauthTokenId: string;
let made = 0;

beforeEach(async () => {
  ann = await make.person();
  aiId = (await make.agent({ owner: ann })).id;
  grant = cloud.grant();
  const token = { provider: 'TRACKER', accountName: 'Ann', accessToken: grant.access, refreshToken: grant.refresh };
  oauthTokenId = (await ann.post('/api/v1/connections', token)).body.id;
});

function project(): string {
  const key = `P${++made}`;
  cloud.jira.project(key, `Project ${made}`);
  return key;
}
const source = (projectKey: string, more: object = {}) =>
  add(ann, aiId, 'tracker', { oauthTokenId, projectName: 'Help desk', projectKey, ...more });
const searches = () =>
  cloud.requests
    .filter(({ path }) => path.endsWith('/search/jql'))
    .map(({ body }) => JSON.parse(body) as { jql: string; fields: string[]; nextPageToken?: string });
const calls = (path: RegExp) => cloud.requests.filter((request) => path.test(request.path)).length;

describe('a project', () => {
  it('is read whole, then follows what is added, changed and deleted', async () => {
    const { jira } = cloud;
    const key = project();
    const lamp = jira.issue(key, 'The lamp flickers', {
      description: paragraph('It flickers since Monday.'),
      labels: ['light', 'workshop'],
      status: { name: 'In progress' },
      assignee: { displayName: 'Bob Smith' },
    });
    for (let count = 0; count < 5; count += 1) jira.comment(lamp, `Person ${count}`, `Remark number ${count}.`);
    const others = ['Door', 'Roof', 'Floor', 'Stairs'].map((name) =>
      jira.issue(key, name, { description: paragraph(`${name} needs paint.`) }, 9),
    );
    jira.issue(project(), 'Elsewhere');
    const id = await source(key);
    expect(await run(ann, id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 5, isComplete: true, failedCount: 0 });
    const text = (await texts(id))[lamp.id] ?? '';
    expect(text).toContain('Type: Task · Status: In progress · Assignee: Bob Smith · Labels: light, workshop');
    expect(text).toContain('It flickers since Monday.');
    for (let count = 0; count < 5; count += 1) expect(text).toContain(`Remark number ${count}.`);
    expect(text).toContain('Person 4, 2026-11-20');
    const [first] = await items(ann, id);
    expect(first).toMatchObject({
      uniqueId: lamp.id,
      name: `${lamp.key}: The lamp flickers`,
      originalContent: { contentUrl: `https://acme.atlassian.net/browse/${lamp.key}` },
    });

    cloud.requests.length = 0;
    jira.comment(lamp, 'Eve', 'A new bulb is in.');
    const [door] = others;
    jira.issues.delete(door?.id ?? '');
    const wall = jira.issue(key, 'Wall', { description: paragraph('The wall is damp.') });
    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({
      ...{ isComplete: true, addedCount: 1, changedCount: 1, unchangedCount: 3, removedCount: 1, listedCount: 5 },
    });
    expect((await texts(id))[lamp.id]).toContain('A new bulb is in.');
    expect(Object.keys(await texts(id))).toContain(wall.id);
    // Of issues that were not updated, only the ids were asked for.
    expect(searches().map(({ jql, fields }) => [jql.replace(`project = "${key}" AND `, ''), fields.length])).toEqual([
      ['updated <= -1d ORDER BY key ASC', 1],
      ['updated >= -2d ORDER BY key ASC', 4],
    ]);
    expect(calls(/\/issue\/\d+$/)).toBe(2);
    expect(calls(/\/rest\/api\/3\/search$/)).toBe(0);
  });

  it.each([
    ['warns', { warningMessages: ['The search was stopped because it took too long; results may be incomplete.'] }],
    ['says that it is not the last page, without naming the next one', { isLast: false, nextPageToken: undefined }],
  ])('keeps what a search does not name about which Jira %s', async (_how, members) => {
    const { jira } = cloud;
    const key = project();
    for (const name of ['Hinge', 'Latch', 'Bolt', 'Screw']) jira.issue(key, name);
    const id = await source(key);
    await run(ann, id, 1);
    const alter = withMembers((body) => ({
      ...body,
      issues: (body.issues as readonly object[]).slice(1),
      ...members,
    }));
    cloud.fail({ match: /search\/jql/, alter, times: 1 });
    await refresh(ann, id, true);
    expect(await run(ann, id, 2)).toMatchObject({ status: 'COMPLETED', isComplete: false, removedCount: 0, heldCount: 0 });
    expect((await items(ann, id)).length).toBe(4);
    const [hinge] = [...jira.issues.values()].filter(({ project: own }) => own === key);
    jira.issues.delete(hinge?.id ?? '');
    await refresh(ann, id, true);
    expect(await run(ann, id, 3)).toMatchObject({ isComplete: true, removedCount: 1 });
  });

  it('is listed whole where everything is wanted, and finds a comment that was deleted', async () => {
    const { jira } = cloud;
    const key = project();
    const issue = jira.issue(key, 'Pump', {}, 9);
    jira.comment(issue, 'Eve', 'The pump is secret.');
    issue.updated = new Date(Date.now() - 9 * 86_400_000);
    const id = await source(key);
    await run(ann, id, 1);
    expect((await texts(id))[issue.id]).toContain('secret');
    issue.comments.length = 0;
    cloud.requests.length = 0;
    await refresh(ann, id, true);
    expect(await run(ann, id, 2)).toMatchObject({ changedCount: 1 });
    expect((await texts(id))[issue.id]).not.toContain('secret');
    expect(searches().map(({ jql }) => jql)).toEqual([`project = "${key}" ORDER BY key ASC`]);
  });

  it('brings an issue that the account sees only now, though it was updated long ago', async () => {
    const { jira } = cloud;
    const key = project();
    jira.issue(key, 'Seen');
    const id = await source(key);
    await run(ann, id, 1);
    const shown = jira.issue(key, 'Shown later', {}, 40);
    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({ addedCount: 1, removedCount: 0 });
    expect((await texts(id))[shown.id]).toContain('Shown later');
  });

  it('that is not there is a failure that says what to do', async () => {
    const id = await source('GONE');
    expect(await run(ann, id, 1)).toMatchObject({ status: 'FAILED', errorCode: 'NOT_FOUND' });
    expect((await read(ann, id)).errorMessage).toContain('Jira has no project with this key');
  });

  it('of an account with several sites needs the id of one', async () => {
    const key = project();
    cloud.jira.issue(key, 'One');
    cloud.sites.push({ id: 'cloud-2', name: 'Globex', url: 'https://globex.atlassian.net' });
    try {
      const input = { oauthTokenId, projectName: 'Help desk', projectKey: key };
      const message = expect.stringContaining('Globex (https://globex.atlassian.net, cloudId cloud-2)');
      const reply = await ann.post(`/api/v1/ais/${aiId}/data-sources/tracker`, input);
      expect(reply).toMatchObject({ status: 400, body: { error: { param: 'cloudId', message } } });
      const query =
        'mutation ($id: ID!, $input: AddTrackerDataSourceInput!) { addDataSource(agentId: $id, input: { tracker: $input }) { dataSource { id } } }';
      const { errors } = await ann.graphql(query, {
        id: aiId,
        input: { connectionId: oauthTokenId, projectName: 'Help desk', projectKey: key },
      });
      const faults = [{ path: 'input.tracker.cloudId' }];
      expect(errors).toMatchObject([{ message, extensions: { faults, code: 'INVALID_VALUE' } }]);
      const named = await source(key, { cloudId: 'cloud-2' });
      expect(await run(ann, named, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 1 });
      expect((await items(ann, named))[0]?.originalContent.contentUrl).toContain('https://globex.atlassian.net/browse/');
    } finally {
      cloud.sites.splice(1);
    }
  });
});

describe('the tokens of an account', () => {
  it('are renewed once for all that use them, and the chain of them lives on', async () => {
    const keys = [project(), project(), project()];
    for (const key of keys) for (let count = 0; count < 4; count += 1) cloud.jira.issue(key, `Issue ${count}`);
    cloud.expire(grant);
    const before = cloud.refreshes();
    const ids = await Promise.all(keys.map((key) => source(key)));
    for (const id of ids) expect(await run(ann, id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 4, failedCount: 0 });
    expect(cloud.refreshes() - before).toBe(1);
    cloud.expire(grant);
    await refresh(ann, ids[0] ?? '');
    expect(await run(ann, ids[0] ?? '', 2)).toMatchObject({ status: 'COMPLETED' });
    expect([cloud.refreshes() - before, grant.isDead]).toEqual([2, false]);
  });

  it('that are refused ask their owner to connect again, and a new token lets the source go on', async () => {
    const key = project();
    cloud.jira.issue(key, 'Kept');
    const id = await source(key);
    await run(ann, id, 1);
    grant.isDead = true;
    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({ status: 'FAILED', errorCode: 'AUTH' });
    expect(await read(ann, id)).toMatchObject({ indexStatus: 'INDEXED', errorCode: 'AUTH' });
    expect((await read(ann, id)).errorMessage).toBe(
      'Jira does not accept the connection any more: connect it again. It says: "refresh_token is invalid"',
    );
    const { access: accessToken, refresh: refreshToken } = cloud.grant();
    await ann.patch(`/api/v1/connections/${oauthTokenId}`, { accessToken, refreshToken });
    expect(await run(ann, id, 3)).toMatchObject({ status: 'COMPLETED', trigger: 'RECONNECTED', unchangedCount: 1 });
  });

  it('without the right to read say so', async () => {
    const body = { code: 401, message: 'Unauthorized; scope does not match' };
    cloud.fail({ match: /search\/jql/, status: 401, body, times: 2 });
    const id = await source(project());
    expect(await run(ann, id, 1)).toMatchObject({ status: 'FAILED', errorCode: 'AUTH' });
    expect((await read(ann, id)).errorMessage).toBe(
      'The connection does not allow Jira to be read: connect it again, and agree to that. It says: "Unauthorized; scope does not match"',
    );
  });
});

describe('a Jira that is not well', () => {
  it('is asked again after a limit, a failure and a reply that was cut', async () => {
    const key = project();
    for (let count = 0; count < 7; count += 1) cloud.jira.issue(key, `Issue ${count}`);
    cloud.fail({ match: /search\/jql/, status: 429, headers: { 'retry-after': '0' } });
    cloud.fail({ match: /search\/jql/, status: 503, headers: { 'retry-after': new Date(0).toUTCString() } });
    cloud.fail({ match: /search\/jql/, cutAtByte: 30 });
    cloud.fail({ match: /\/issue\/\d+\/comment/, status: 429, headers: { 'retry-after': '0' } });
    const id = await source(key);
    expect(await run(ann, id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 7, failedCount: 0 });
  });

  it('loses no issue that changes or is added between the pages of a search', async () => {
    const key = project();
    const issues = ['a', 'b', 'c', 'd', 'e'].map((name) => cloud.jira.issue(key, name));
    const [first] = issues;
    cloud.fail({
      match: /search\/jql/,
      before: () => {
        // The first search goes by without a change.
        cloud.fail({
          match: /search\/jql/,
          before: () => {
            if (first !== undefined) cloud.jira.comment(first, 'Eve', 'Changed meanwhile.');
            cloud.jira.issue(key, 'f');
          },
        });
      },
    });
    const id = await source(key);
    await run(ann, id, 1);
    await refresh(ann, id);
    await run(ann, id, 2);
    expect((await texts(id))[first?.id ?? '']).toContain('Changed meanwhile.');
    expect((await items(ann, id)).length).toBe(6);
  });
});
