import { describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { TestBrowser } from '../../../support/people/browser.ts';
import { startClock } from '../../../support/processes/clock.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', { env: { LOG_LEVEL: 'fatal' } });

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';
const json = { 'content-type': 'application/scim+json' };
let made = 0;
const address = (name: string) => `${name}${++made}@example.com`;

/** An organization with an administrator, and the key of its identity provider. */
async function directory() {
  const organization = await make.organization();
  const admin = await make.person({ organization, role: 'ADMIN' });
  const provider = await make.withKey(admin, { scopes: ['SCIM:WRITE'] });
  return { organization, admin, provider };
}
const users = '/scim/v2/Users';
const groups = '/scim/v2/Groups';
const patch = (who: Person, path: string, ...operations: object[]) =>
  who.patch(path, { schemas: [patchSchema], Operations: operations }, json);
async function added(provider: Person, userName = address('ann'), members: object = {}) {
  const { status, body } = await provider.post(users, { schemas: [userSchema], userName, ...members }, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}
/** A key of somebody whom the identity provider added. */
function keyOf(provider: Person, { id, userName }: { readonly id: string; readonly userName: string }): Promise<Person> {
  const { tenantId, orgId } = provider;
  return make.withKey({ userId: id, tenantId, orgId, email: userName } as Person, {});
}

describe('a key of an identity provider', () => {
  it('is made by administrators, alone with its scope', async () => {
    const { organization, admin } = await directory();
    const key = (who: Person, scopes: string[]) => who.post('/api/v1/api-keys', { name: 'Directory', scopes });
    const one = await key(admin, ['SCIM:WRITE']);
    expect(one.status, JSON.stringify(one.body)).toBe(200);
    expect(one.body.scopes).toEqual(['SCIM:WRITE']);
    expect((await key(admin, ['SCIM:WRITE', 'ADMIN:READ'])).status).toBe(400);
    const member = await make.person({ organization });
    expect((await key(member, ['SCIM:WRITE'])).status).toBe(403);
    expect((await key(await make.withKey(admin, { scopes: ['API_KEYS:WRITE'] }), ['SCIM:WRITE'])).status).toBe(403);
  });

  it('does nothing else', async () => {
    const { provider } = await directory();
    expect((await provider.get('/api/v1/ais')).status).toBe(403);
    expect((await provider.get('/api/v1/admin/users')).status).toBe(403);
    expect((await provider.post('/api/v1/api-keys', { name: 'x', scopes: ['SCIM:WRITE'] })).status).toBe(403);
  });

  it('reads nothing over GraphQL that any other key may, and is told why', async () => {
    const { provider } = await directory();
    for (const field of ['viewer { keyId role }', 'dataExports { totalCount }', 'node(id: "user_x") { id }']) {
      const { errors, data } = await provider.graphql(`{ ${field} }`);
      expect(Object.values(data ?? {}).every((value) => value === null)).toBe(true);
      expect(errors?.[0]).toMatchObject({
        message: expect.stringContaining('cannot be called with a key of SCIM:WRITE, which serves SCIM alone'),
        extensions: { code: 'INSUFFICIENT_SCOPE' },
      });
    }
  });

  it('is asked for: 401 without a key, 403 with another, or when its person is no ADMIN any more', async () => {
    const { organization, admin } = await directory();
    const none = await service.nobody.get(users);
    expect(none).toMatchObject({ status: 401, body: { schemas: [errorSchema], status: '401' } });
    expect(none.headers.get('content-type')).toContain('application/scim+json');
    expect((await admin.get(users)).status).toBe(403);
    const former = await make.withKey(await make.person({ organization }), { scopes: ['SCIM:WRITE'] });
    expect((await former.get(users)).body).toMatchObject({ status: '403', detail: expect.stringContaining('no ADMIN') });
  });

  it('is not a session', async () => {
    const { admin } = await directory();
    const browser = new TestBrowser(() => service.url);
    const { body } = await admin.post('/api/v1/admin/sign-in-links', {});
    await browser.signInBy(body.url);
    expect((await browser.get(users)).status).toBe(401);
  });
});

describe('RFC 7644', () => {
  it('3.3: creates a user, and 3.4.1: reads it', async () => {
    const { provider } = await directory();
    const userName = address('bjensen');
    const created = await provider.post(
      users,
      {
        schemas: [userSchema],
        userName,
        externalId: 'bjensen',
        name: { formatted: 'Ms. Barbara J Jensen III', familyName: 'Jensen', givenName: 'Barbara' },
      },
      json,
    );
    expect(created.status).toBe(201);
    expect(created.headers.get('content-type')).toContain('application/scim+json');
    expect(created.body).toMatchObject({
      ...{ schemas: [userSchema], userName, externalId: 'bjensen', active: true, displayName: 'Ms. Barbara J Jensen III' },
      ...{
        name: { familyName: 'Jensen', givenName: 'Barbara' },
        emails: [{ value: userName, primary: true }],
        roles: [{ value: 'MEMBER' }],
      },
      meta: { resourceType: 'User', location: `${service.url}${users}/${created.body.id}` },
    });
    expect((await provider.get(`${users}/${created.body.id}`)).body).toEqual(created.body);
  });

  it('3.4.2: filters, pages, and selects attributes', async () => {
    const { provider, admin } = await directory();
    const people = [];
    for (let at = 0; at < 5; at += 1) people.push(await added(provider, address('page'), { externalId: `ext-${at}` }));
    const first = (await provider.get(`${users}?startIndex=2&count=2`)).body;
    expect(first).toMatchObject({ totalResults: 6, startIndex: 2, itemsPerPage: 2 });
    expect(first.Resources.map(({ id }: { id: string }) => id)).toEqual([people[0].id, people[1].id]);
    expect((await provider.get(`${users}?count=0`)).body).toMatchObject({ totalResults: 6, Resources: [] });
    expect((await provider.get(`${users}?startIndex=100`)).body).toMatchObject({ totalResults: 6, Resources: [] });
    const by = async (filter: string) => (await provider.get(`${users}?filter=${encodeURIComponent(filter)}`)).body.Resources;
    expect(await by(`userName eq "${people[2].userName.toUpperCase()}"`)).toMatchObject([{ id: people[2].id }]);
    expect(await by('externalId eq "ext-3"')).toMatchObject([{ id: people[3].id }]);
    expect(await by(`emails.value eq "${admin.email}"`)).toMatchObject([{ id: admin.userId }]);
    expect(await by(`emails[type eq "work"].value eq "${admin.email}"`)).toMatchObject([{ id: admin.userId }]);
    expect(await by('userName eq "nobody@example.com"')).toEqual([]);
    const few = (await provider.get(`${users}/${people[0].id}?attributes=userName`)).body;
    expect(few.userName).toBe(people[0].userName);
    expect(few.emails).toBeUndefined();
  });

  it.each([
    ['userName co "a"', 'invalidFilter'],
    ['userName eq', 'invalidFilter'],
    ['title eq "Boss"', 'invalidFilter'],
    ['userName eq "a" or userName eq "b"', 'invalidFilter'],
    [`userName eq "${'('.repeat(500)}`, 'invalidFilter'],
  ])('3.4.2.2: refuses the filter %s', async (filter, scimType) => {
    const { provider } = await directory();
    const { status, body } = await provider.get(`${users}?filter=${encodeURIComponent(filter)}`);
    expect({ status, ...body }).toMatchObject({ status: '400', schemas: [errorSchema], scimType });
  });

  it('3.5.1: replaces a user', async () => {
    const { provider, admin } = await directory();
    const ann = await added(provider);
    const userName = address('anna');
    const reply = await provider.put(
      `${users}/${ann.id}`,
      { schemas: [userSchema], id: ann.id, userName, displayName: 'Anna', active: true, roles: [{ value: 'AUDITOR' }] },
      json,
    );
    expect(reply).toMatchObject({ status: 200, body: { userName, displayName: 'Anna', roles: [{ value: 'AUDITOR' }] } });
    const { data } = (await admin.get(`/api/v1/admin/memberships?userId=${ann.id}`)).body;
    expect(data[0].role).toBe('AUDITOR');
  });

  it('3.6: deletes a user from the organization', async () => {
    const { provider } = await directory();
    const ann = await added(provider);
    const key = await keyOf(provider, ann);
    expect((await provider.delete(`${users}/${ann.id}`)).status).toBe(204);
    expect(await provider.get(`${users}/${ann.id}`)).toMatchObject({
      status: 404,
      body: { schemas: [errorSchema], status: '404' },
    });
    expect((await key.get('/api/v1/ais')).status).toBe(401);
    expect((await provider.delete(`${users}/${ann.id}`)).status).toBe(404);
  });

  it('4: says what it can do', async () => {
    const { provider } = await directory();
    expect((await provider.get('/scim/v2/ServiceProviderConfig')).body).toMatchObject({
      ...{
        patch: { supported: true },
        bulk: { supported: false },
        filter: { supported: true, maxResults: 200 },
        etag: { supported: false },
      },
    });
    const types = (await provider.get('/scim/v2/ResourceTypes')).body;
    expect(types.Resources.map(({ id }: { id: string }) => id).toSorted()).toEqual(['Group', 'User']);
    expect((await provider.get(`/scim/v2/Schemas/${userSchema}`)).body.id).toBe(userSchema);
    for (const path of ['/scim/v2/Bulk', '/scim/v2/.search', '/scim/v2/Me', '/scim/v2/Nothing']) {
      expect((await provider.post(path, {}, json)).status, path).toBe(404);
    }
  });
});

describe('bad input is one sentence', () => {
  it.each<[string, string, unknown, number, string]>([
    ['no address', 'POST', { schemas: [userSchema], userName: 'ann' }, 400, 'invalidValue'],
    ['no userName', 'POST', { schemas: [userSchema] }, 400, 'invalidValue'],
    ['a list', 'POST', [], 400, 'invalidSyntax'],
    ['another schema', 'POST', { schemas: ['urn:x'], userName: 'a@example.com' }, 400, 'invalidSyntax'],
    [
      'an unknown role',
      'POST',
      { schemas: [userSchema], userName: 'r@example.com', roles: [{ value: 'KING' }] },
      400,
      'invalidValue',
    ],
    ['broken JSON', 'POST', '{"userName":', 400, 'invalidSyntax'],
    [
      'an unknown path',
      'PATCH',
      { schemas: [patchSchema], Operations: [{ op: 'replace', path: 'shoeSize', value: 4 }] },
      400,
      'invalidPath',
    ],
    ['no operations', 'PATCH', { schemas: [patchSchema], Operations: [] }, 400, 'invalidValue'],
    [
      'an unknown op',
      'PATCH',
      { schemas: [patchSchema], Operations: [{ op: 'move', path: 'active', value: true }] },
      400,
      'invalidSyntax',
    ],
    ['a removal of everything', 'PATCH', { schemas: [patchSchema], Operations: [{ op: 'remove' }] }, 400, 'noTarget'],
    [
      'active that is no boolean',
      'PATCH',
      { schemas: [patchSchema], Operations: [{ op: 'replace', path: 'active', value: 'perhaps' }] },
      400,
      'invalidValue',
    ],
    [
      'a removed userName',
      'PATCH',
      { schemas: [patchSchema], Operations: [{ op: 'remove', path: 'userName' }] },
      400,
      'invalidValue',
    ],
    [
      'a long name',
      'POST',
      { schemas: [userSchema], userName: 'l@example.com', displayName: 'x'.repeat(300) },
      400,
      'invalidValue',
    ],
  ])('%s', async (_case, method, body, status, scimType) => {
    const { provider } = await directory();
    const ann = await added(provider);
    const path = method === 'POST' ? users : `${users}/${ann.id}`;
    const reply = await provider.call(method, path, body, json);
    expect(reply, JSON.stringify(reply.body)).toMatchObject({
      status,
      body: { schemas: [errorSchema], status: String(status), scimType },
    });
    expect(reply.body.detail.length).toBeGreaterThan(10);
  });

  it('takes a megabyte and no more, and bounded operations', async () => {
    const { provider } = await directory();
    expect((await provider.post(users, { userName: 'x'.repeat(1_100_000) }, json)).status).toBe(413);
    const operations = Array.from({ length: 1_001 }, () => ({ op: 'replace', path: 'active', value: true }));
    const path = `${users}/${(await added(provider)).id}`;
    expect((await patch(provider, path, ...operations)).status).toBe(400);
    const many = Array.from({ length: 1_001 }, (_, at) => ({ value: `user_${at}` }));
    expect((await patch(provider, `${groups}/grp`, { op: 'remove', path: 'members', value: many })).status).toBe(400);
    expect((await patch(provider, path, { op: 'remove', path: `emails[${'('.repeat(2_000)}]` })).status).toBe(400);
  });
});

describe('the request sequences of Entra', () => {
  it('looks for a user, creates, updates with dotted names and texts for booleans, disables and deletes', async () => {
    const { provider } = await directory();
    const userName = address('entra');
    const filter = encodeURIComponent(`userName eq "${userName}"`);
    expect((await provider.get(`${users}?filter=${filter}`)).body).toMatchObject({ totalResults: 0, Resources: [] });
    const created = await provider.post(
      users,
      {
        schemas: [userSchema, 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'],
        ...{ externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef', userName, active: true, meta: { resourceType: 'User' } },
        emails: [{ primary: true, type: 'work', value: userName }],
        ...{ name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' }, roles: [] },
      },
      json,
    );
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    const path = `${users}/${created.body.id}`;
    const renamed = address('entra');
    const updated = await patch(
      provider,
      path,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: renamed },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
      { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '+1 206 555' },
      { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'Sales' },
    );
    expect(updated.status, JSON.stringify(updated.body)).toBeLessThan(300);
    expect((await provider.get(path)).body.name).toMatchObject({ familyName: 'updatedFamilyName', givenName: 'givenName' });
    const whole = await patch(provider, path, {
      op: 'Replace',
      value: { displayName: 'Updated', 'name.givenName': 'newGiven', userName: renamed, active: 'True' },
    });
    expect(whole.status, JSON.stringify(whole.body)).toBeLessThan(300);
    expect((await provider.get(path)).body).toMatchObject({
      displayName: 'Updated',
      userName: renamed,
      name: { givenName: 'newGiven' },
      active: true,
    });
    expect((await patch(provider, path, { op: 'Replace', path: 'active', value: 'False' })).status).toBeLessThan(300);
    expect((await provider.get(path)).body.active).toBe(false);
    expect(
      (await patch(provider, path, { op: 'Replace', path: 'roles[primary eq "True"].value', value: 'ADMIN' })).status,
    ).toBeLessThan(300);
    expect((await provider.get(path)).body.roles).toMatchObject([{ value: 'ADMIN' }]);
    expect((await provider.delete(path)).status).toBe(204);
  });

  it('creates a group, adds and removes members, renames and deletes it', async () => {
    const { provider, admin } = await directory();
    const [ann, bob] = [await added(provider), await added(provider)];
    const filter = encodeURIComponent('displayName eq "Writers"');
    expect((await provider.get(`${groups}?excludedAttributes=members&filter=${filter}`)).body).toMatchObject({ totalResults: 0 });
    const created = await provider.post(
      groups,
      { schemas: [groupSchema], externalId: '8aa1a0c0', displayName: 'Writers', meta: { resourceType: 'Group' } },
      json,
    );
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    const path = `${groups}/${created.body.id}`;
    const add = (...ids: string[]) =>
      patch(provider, path, { op: 'Add', path: 'members', value: ids.map((value) => ({ $ref: null, value })) });
    expect((await add(ann.id, bob.id)).status).toBeLessThan(300);
    const inside = async () =>
      ((await provider.get(path)).body.members ?? []).map(({ value }: { value: string }) => value).toSorted();
    expect(await inside()).toEqual([ann.id, bob.id].toSorted());
    const found = (await provider.get(`${groups}?excludedAttributes=members&filter=${filter}`)).body;
    expect(found).toMatchObject({ totalResults: 1, Resources: [{ id: created.body.id, externalId: '8aa1a0c0' }] });
    expect(found.Resources[0].members).toBeUndefined();
    expect(
      (await patch(provider, path, { op: 'Remove', path: 'members', value: [{ $ref: null, value: ann.id }] })).status,
    ).toBeLessThan(300);
    expect(await inside()).toEqual([bob.id]);
    expect((await patch(provider, path, { op: 'Replace', path: 'displayName', value: 'Readers' })).status).toBeLessThan(300);
    const { data } = await admin.graphql('query ($id: ID!) { group(id: $id) { name members { nodes { email } } } }', {
      id: created.body.id,
    });
    expect(data.group).toEqual({ name: 'Readers', members: { nodes: [{ email: bob.userName }] } });
    expect((await provider.delete(path)).status).toBe(204);
    expect((await provider.get(path)).status).toBe(404);
  });
});

describe('the request sequences of Okta', () => {
  it('tests the connection, creates, reads, replaces, deactivates and reactivates a user', async () => {
    const { provider } = await directory();
    expect((await provider.get(`${users}?startIndex=1&count=2`)).body).toMatchObject({ startIndex: 1, itemsPerPage: 1 });
    const userName = address('okta');
    const filter = encodeURIComponent(`userName eq "${userName}"`);
    expect((await provider.get(`${users}?filter=${filter}&startIndex=1&count=100`)).body.totalResults).toBe(0);
    const created = await provider.post(
      users,
      {
        ...{
          schemas: [userSchema],
          userName,
          name: { givenName: 'Test', familyName: 'User' },
          displayName: 'Test User',
          locale: 'en-US',
        },
        ...{
          emails: [{ primary: true, value: userName, type: 'work' }],
          externalId: '00ujl29u0le5T6Aj10h7',
          groups: [],
          password: '1mz050nq',
          active: true,
        },
      },
      json,
    );
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    expect(JSON.stringify(created.body)).not.toContain('1mz050nq');
    const path = `${users}/${created.body.id}`;
    const replaced = await provider.put(
      path,
      { ...created.body, name: { givenName: 'Another', familyName: 'User' }, displayName: 'Another User' },
      json,
    );
    expect(replaced).toMatchObject({ status: 200, body: { displayName: 'Another User', name: { givenName: 'Another' } } });
    expect(await patch(provider, path, { op: 'replace', value: { active: false } })).toMatchObject({
      status: 200,
      body: { active: false },
    });
    expect(await patch(provider, path, { op: 'replace', value: { active: true } })).toMatchObject({
      status: 200,
      body: { active: true },
    });
  });

  it('creates a group, renames it with its id, adds and removes members by a filter', async () => {
    const { provider } = await directory();
    const ann = await added(provider);
    const { body } = await provider.post(groups, { schemas: [groupSchema], displayName: 'Test SCIMv2', members: [] }, json);
    const path = `${groups}/${body.id}`;
    expect((await patch(provider, path, { op: 'replace', value: { id: body.id, displayName: 'Test SCIMv0' } })).status).toBe(200);
    expect(
      (await patch(provider, path, { op: 'add', path: 'members', value: [{ value: ann.id, display: ann.userName }] })).status,
    ).toBe(200);
    expect((await patch(provider, path, { op: 'remove', path: `members[value eq "${ann.id}"]` })).status).toBe(200);
    expect((await provider.get(path)).body).toMatchObject({ displayName: 'Test SCIMv0' });
    expect((await provider.get(path)).body.members ?? []).toEqual([]);
    const replaced = await patch(provider, path, { op: 'replace', path: 'members', value: [{ value: ann.id }] });
    expect(replaced.body.members).toMatchObject([{ value: ann.id }]);
  });
});

describe('deactivation', () => {
  it('ends keys and sessions at once, open streams within five seconds, and reactivation brings none back', async () => {
    const { provider, admin } = await directory();
    const ann = await added(provider);
    const key = await keyOf(provider, ann);
    const browser = new TestBrowser(() => service.url);
    const { body } = await admin.post('/api/v1/admin/sign-in-links', { email: ann.userName });
    expect((await browser.signInBy(body.url)).status).toBe(200);
    const stream = await key.fetch(
      'POST',
      '/graphql',
      { query: 'subscription { agentsChanged { kind } }' },
      { accept: 'text/event-stream', 'content-type': 'application/json' },
    );
    const rest = stream.text();
    const path = `${users}/${ann.id}`;
    await patch(provider, path, { op: 'replace', value: { active: false } });
    const clock = startClock();
    await eventually(async () => expect((await key.get('/api/v1/ais')).status).toBe(401));
    await eventually(async () => expect((await browser.viewer()).status).toBe(401));
    expect(clock.elapsedMs()).toBeLessThan(1_000);
    await rest;
    expect(clock.elapsedMs()).toBeLessThan(5_000);
    clock.stop();
    expect((await provider.get(path)).body).toMatchObject({ active: false, userName: ann.userName });
    await patch(provider, path, { op: 'replace', value: { active: true } });
    expect((await provider.get(path)).body.active).toBe(true);
    expect((await key.get('/api/v1/ais')).status).toBe(401);
    expect((await browser.viewer()).status).toBe(401);
    expect((await (await keyOf(provider, ann)).get('/api/v1/ais')).status).toBe(200);
  });

  it('holds against administrators who add the person by hand', async () => {
    const { provider, admin } = await directory();
    const ann = await added(provider, address('ann'), { active: false });
    expect(ann.active).toBe(false);
    const reply = await admin.post('/api/v1/admin/users', { email: ann.userName });
    expect(reply).toMatchObject({ status: 409 });
    expect(JSON.stringify(reply.body)).toContain('identity provider');
  });

  it('spares the last administrator and the person of the key', async () => {
    const { organization, admin, provider } = await directory();
    const own = await patch(provider, `${users}/${admin.userId}`, { op: 'replace', value: { active: false } });
    expect(own).toMatchObject({ status: 409, body: { detail: expect.stringContaining('another administrator') } });
    const demoted = await patch(provider, `${users}/${admin.userId}`, {
      op: 'replace',
      path: 'roles',
      value: [{ value: 'MEMBER' }],
    });
    expect(demoted.status).toBe(409);
    expect((await provider.delete(`${users}/${admin.userId}`)).status).toBe(409);
    const other = await make.person({ organization, role: 'ADMIN' });
    expect((await patch(provider, `${users}/${other.userId}`, { op: 'replace', value: { active: false } })).body.active).toBe(
      false,
    );
    expect((await admin.get('/api/v1/admin/users')).status).toBe(200);
  });

  it('does not end a key above the level of the organization', async () => {
    const { organization, provider } = await directory();
    const operator = await make.person({ organization, role: 'ADMIN', level: 'INSTANCE' });
    const reply = await patch(provider, `${users}/${operator.userId}`, { op: 'replace', value: { active: false } });
    expect(reply).toMatchObject({ status: 403, body: { detail: expect.stringContaining('INSTANCE') } });
    expect((await operator.get('/api/v1/ais')).status).toBe(200);
  });
});

describe('another organization', () => {
  it('is invisible', async () => {
    const [one, two] = [await directory(), await directory()];
    const ann = await added(one.provider);
    const group = (await one.provider.post(groups, { schemas: [groupSchema], displayName: 'Writers' }, json)).body;
    expect((await two.provider.get(`${users}/${ann.id}`)).status).toBe(404);
    expect((await two.provider.get(`${groups}/${group.id}`)).status).toBe(404);
    expect((await patch(two.provider, `${users}/${ann.id}`, { op: 'replace', value: { active: false } })).status).toBe(404);
    expect((await two.provider.delete(`${groups}/${group.id}`)).status).toBe(404);
    expect(
      (await two.provider.get(`${users}?filter=${encodeURIComponent(`userName eq "${ann.userName}"`)}`)).body.totalResults,
    ).toBe(0);
    const made = await two.provider.post(
      groups,
      { schemas: [groupSchema], displayName: 'Theirs', members: [{ value: ann.id }] },
      json,
    );
    expect(made).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  });

  it('keeps its member, key, address and name when the person is of both', async () => {
    const { organization, provider } = await directory();
    const sister = await make.organization({ tenant: { id: organization.tenantId } });
    const ann = await make.person({ organization: sister, name: 'Ann' });
    const shared = await added(provider, ann.email, { displayName: 'Somebody else', externalId: 'x1' });
    expect(shared).toMatchObject({ id: ann.userId, displayName: 'Ann', externalId: 'x1' });
    const renamed = await provider.put(
      `${users}/${ann.userId}`,
      { schemas: [userSchema], userName: address('stolen'), displayName: 'Mallory' },
      json,
    );
    expect(renamed.body).toMatchObject({ userName: ann.email, displayName: 'Ann' });
    await patch(provider, `${users}/${ann.userId}`, { op: 'replace', value: { active: false } });
    expect((await ann.get('/api/v1/ais')).status).toBe(200);
    expect((await provider.delete(`${users}/${ann.userId}`)).status).toBe(204);
    expect((await ann.get('/api/v1/ais')).status).toBe(200);
  });
});

describe('calls at the same time', () => {
  it('create one user of a name', async () => {
    const { provider } = await directory();
    const userName = address('twin');
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => provider.post(users, { schemas: [userSchema], userName }, json)),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
    expect(replies.find(({ status }) => status === 409)?.body).toMatchObject({ scimType: 'uniqueness', schemas: [errorSchema] });
    expect((await provider.get(`${users}?filter=${encodeURIComponent(`userName eq "${userName}"`)}`)).body.totalResults).toBe(1);
  });

  it('keep each other’s members of a group', async () => {
    const { provider } = await directory();
    const people = [await added(provider), await added(provider), await added(provider)];
    const { body } = await provider.post(groups, { schemas: [groupSchema], displayName: 'Writers' }, json);
    const path = `${groups}/${body.id}`;
    const replies = await Promise.all(
      people.map(({ id }) => patch(provider, path, { op: 'add', path: 'members', value: [{ value: id }] })),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await provider.get(path)).body.members.map(({ value }: { value: string }) => value).toSorted()).toEqual(
      people.map(({ id }) => id).toSorted(),
    );
  });
});

it('every change is an entry of the audit log, which names the key', async () => {
  const { provider, admin } = await directory();
  const ann = await added(provider);
  await patch(provider, `${users}/${ann.id}`, { op: 'replace', value: { active: false } });
  await provider.delete(`${users}/${ann.id}`);
  const group = (await provider.post(groups, { schemas: [groupSchema], displayName: 'Writers' }, json)).body;
  await provider.delete(`${groups}/${group.id}`);
  const { data } = await admin.graphql('{ auditLog(first: 20) { nodes { action actorKeyId targetIds } } }');
  const entries = data.auditLog.nodes.filter(({ action }: { action: string }) => action.startsWith('Scim.'));
  expect(entries.map(({ action }: { action: string }) => action)).toEqual([
    ...['Scim.deleteGroup', 'Scim.createGroup', 'Scim.deleteUser', 'Scim.updateUser', 'Scim.createUser'],
  ]);
  expect(entries.every(({ actorKeyId }: { actorKeyId: string }) => actorKeyId === provider.keyId)).toBe(true);
  expect(entries[2].targetIds).toEqual([ann.id]);
});
