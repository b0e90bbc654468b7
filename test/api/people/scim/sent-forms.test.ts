import { describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

// What identity providers send beside what this service keeps, as Microsoft and Okta publish it and as their customers report it.

const { service, make } = await withService('plain', { env: { LOG_LEVEL: 'fatal' } });
const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const json = { 'content-type': 'application/scim+json' };
const [users, groups] = ['/scim/v2/Users', '/scim/v2/Groups'];
let made = 0;
const address = () => `sent${++made}@example.com`;

async function directory() {
  const organization = await make.organization();
  const admin = await make.person({ organization, role: 'ADMIN' });
  return make.withKey(admin, { scopes: ['SCIM:WRITE'] });
}
async function added(provider: Person, members: object = {}) {
  const { status, body } = await provider.post(users, { schemas: [userSchema], userName: address(), ...members }, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}
const patch = (provider: Person, path: string, ...operations: object[]) =>
  provider.patch(path, { schemas: [patchSchema], Operations: operations }, json);

describe('a PATCH of attributes that are dropped', () => {
  it.each<[string, object[]]>([
    ['title', [{ op: 'Replace', path: 'title', value: 'Engineer' }]],
    ['the manager of Entra', [{ op: 'Add', path: `${enterprise}:manager`, value: '2819c223' }]],
    ['the department', [{ op: 'Replace', path: `${enterprise}:department`, value: 'Sales' }]],
    [
      'an extension without a path',
      [{ op: 'replace', value: { [enterprise]: { department: 'Sales', manager: { value: 'x' } } } }],
    ],
    ['the password of Okta', [{ op: 'replace', value: { password: 'Xk7!' } }]],
    ['an address', [{ op: 'Add', path: 'addresses[type eq "work"].streetAddress', value: '1 Main' }]],
    ['an e-mail of a type of its own', [{ op: 'Replace', path: 'emails[type eq "primary"].value', value: 'x@example.com' }]],
    ['telephone numbers of a type of their own', [{ op: 'add', path: 'phoneNumbers', value: [{ type: 'desk', value: 5 }] }]],
    ['a middle name', [{ op: 'Replace', path: 'name.middleName', value: 'Q' }]],
    ['one of the provider beside one of the standard', [{ op: 'replace', value: { title: 'x', shoeSize: 44 } }]],
    ['a custom extension', [{ op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:acme:2.0:User:badge', value: '1' }]],
  ])('succeeds: %s', async (_name, operations) => {
    const provider = await directory();
    const { meta, ...before } = await added(provider, { displayName: 'Ann' });
    const reply = await patch(provider, `${users}/${before.id}`, ...operations);
    expect(reply).toMatchObject({ status: 200, body: before });
    expect(meta.resourceType).toBe('User');
  });

  it.each<[string, object[]]>([
    [
      'a title',
      [
        { op: 'Replace', path: 'title', value: 'Engineer' },
        { op: 'Replace', path: 'active', value: 'False' },
      ],
    ],
    [
      'an attribute that there is not',
      [
        { op: 'replace', path: 'shoeSize', value: 4 },
        { op: 'replace', path: 'active', value: false },
      ],
    ],
    ['one without a path', [{ op: 'replace', value: { shoeSize: 4, costCenter: { value: 1 }, active: false } }]],
    ['others in other letters', [{ op: 'Replace', value: { Title: 'x', Active: 'false' } }]],
    ['a full name of the attribute', [{ op: 'replace', path: `${userSchema}:active`, value: false }]],
    ['an empty value', [{ op: 'replace', value: { displayName: null, title: null, active: false } }]],
  ])('deactivates all the same: %s', async (_name, operations) => {
    const provider = await directory();
    const { id } = await added(provider, { displayName: 'Ann' });
    const reply = await patch(provider, `${users}/${id}`, ...operations);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect((await provider.get(`${users}/${id}`)).body.active).toBe(false);
  });

  it('is 404 for somebody who is not there, and 400 for nothing but an attribute that there is not', async () => {
    const provider = await directory();
    const { id } = await added(provider);
    expect((await patch(provider, `${users}/user_0`, { op: 'replace', path: 'title', value: 'x' })).status).toBe(404);
    const reply = await patch(provider, `${users}/${id}`, { op: 'replace', path: 'shoeSize', value: 4 });
    expect(reply).toMatchObject({ status: 400, body: { scimType: 'invalidPath' } });
  });
});

describe('a POST and a PUT', () => {
  const whole = {
    ...{ title: 5, nickName: null, userType: 'Employee', preferredLanguage: 'x', shoeSize: 44, 'urn:acme:badge': { id: 1 } },
    emails: [{ type: 'primary', value: 'not an address', primary: 'True' }, 'x@example.com'],
    phoneNumbers: [{ type: 'desk', value: { of: 5 } }],
    addresses: [{ type: 'untyped', country: 'Germany' }],
    photos: [{ type: 'avatar', value: 'no url' }],
    ims: 'x',
    entitlements: 'all',
    [enterprise]: { department: 'Sales', manager: { displayName: 'Bob' } },
    schemas: [userSchema, enterprise, 'urn:acme:badge'],
  };
  it('takes attributes that are dropped in any form', async () => {
    const provider = await directory();
    const { id, userName } = await added(provider, { ...whole, displayName: 'Ann' });
    const roles = [{ value: 'AUDITOR', type: 'assigned', display: 'Auditor', primary: 'True' }];
    const reply = await provider.put(`${users}/${id}`, { ...whole, id, userName, displayName: 'Anna', roles }, json);
    expect(reply).toMatchObject({ status: 200, body: { displayName: 'Anna', roles: [{ value: 'AUDITOR' }] } });
  });
});

describe('a name', () => {
  it.each<[string, object, object[], string]>([
    [
      'made of parts',
      { name: { givenName: 'Ann', familyName: 'Smith' } },
      [{ op: 'Replace', path: 'name.familyName', value: 'Jones' }],
      'Ann Jones',
    ],
    [
      'made of parts, without a path',
      { name: { givenName: 'Ann', familyName: 'Smith' } },
      [{ op: 'replace', value: { name: { familyName: 'Jones' } } }],
      'Ann Jones',
    ],
    [
      'made of the address',
      {},
      [
        { op: 'Add', path: 'name.givenName', value: 'Ann' },
        { op: 'Add', path: 'name.familyName', value: 'Jones' },
      ],
      'Ann Jones',
    ],
    [
      'given as a whole',
      { displayName: 'Annie', name: { givenName: 'Ann', familyName: 'Smith' } },
      [{ op: 'Replace', path: 'name.familyName', value: 'Jones' }],
      'Annie',
    ],
    [
      'given with the change',
      { name: { givenName: 'Ann', familyName: 'Smith' } },
      [{ op: 'replace', value: { displayName: 'A. J.', 'name.familyName': 'Jones' } }],
      'A. J.',
    ],
    [
      'formatted with the change',
      { name: { givenName: 'Ann', familyName: 'Smith' } },
      [{ op: 'replace', value: { 'name.formatted': 'Jones, Ann', 'name.familyName': 'Jones' } }],
      'Jones, Ann',
    ],
  ])('%s: the new family name', async (_name, before, operations, shown) => {
    const provider = await directory();
    const { id } = await added(provider, before);
    const reply = await patch(provider, `${users}/${id}`, ...operations);
    expect(reply, JSON.stringify(reply.body)).toMatchObject({
      status: 200,
      body: { displayName: shown, name: { familyName: 'Jones', formatted: shown } },
    });
  });
});

describe('members of a group', () => {
  async function group(provider: Person, ids: readonly string[]) {
    const members = ids.map((value) => ({ value, type: 'person', display: 'x', $ref: '../Users/x' }));
    const { status, body } = await provider.post(groups, { schemas: [groupSchema], displayName: 'Writers', members }, json);
    expect(status, JSON.stringify(body)).toBe(201);
    return `${groups}/${body.id}`;
  }
  const ref = (id: string) => `${service.url}/scim/v2/Users/${id}`;
  it.each<[string, (id: string) => object]>([
    ['an object with $ref', (id) => ({ path: 'members', value: [{ value: id, $ref: ref(id) }] })],
    ['an object with display and type', (id) => ({ path: 'members', value: [{ value: id, display: 'Somebody', type: 'User' }] })],
    ['an object with null', (id) => ({ path: 'members', value: [{ $ref: null, value: id }] })],
    ['one object without a list', (id) => ({ path: 'members', value: { value: id, display: 'Somebody' } })],
    ['a plain id', (id) => ({ path: 'members', value: id })],
    ['a list of plain ids', (id) => ({ path: 'members', value: [id] })],
    ['a filter', (id) => ({ path: `members[value eq "${id}"]` })],
    ['no path', (id) => ({ value: { members: [{ value: id, $ref: ref(id) }] } })],
    ['the full name of the attribute', (id) => ({ path: `${groupSchema}:members`, value: [{ value: id, type: 'User' }] })],
  ])('are removed by %s', async (_name, operation) => {
    const provider = await directory();
    const [ann, bob] = [await added(provider), await added(provider)];
    const path = await group(provider, [ann.id, bob.id]);
    const reply = await patch(provider, path, { op: 'Remove', ...operation(ann.id) });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect((await provider.get(path)).body.members).toMatchObject([{ value: bob.id }]);
  });

  it('are added by their value, whatever stands beside it; a removal without one is 400', async () => {
    const provider = await directory();
    const [ann, bob] = [await added(provider), await added(provider)];
    const path = await group(provider, [ann.id]);
    const value = [{ value: bob.id, $ref: ref(bob.id), display: 'Bob', type: 'Person' }];
    expect((await patch(provider, path, { op: 'Add', path: 'members', value })).body.members).toHaveLength(2);
    const reply = await patch(provider, path, { op: 'remove', path: 'members', value: [{ display: 'Bob' }] });
    expect(reply).toMatchObject({ status: 400, body: { detail: 'The members to remove are named by value, the id of a user' } });
  });

  it('and its name are found in any case, letter by letter', async () => {
    const provider = await directory();
    const named = async (displayName: string) =>
      (await provider.post(groups, { schemas: [groupSchema], displayName }, json)).body.id as string;
    const [writers, percent] = [await named('Writers_1'), await named('100%')];
    await named('Writersx1');
    await named('100 people');
    const by = async (name: string) =>
      (await provider.get(`${groups}?filter=${encodeURIComponent(`displayName eq ${JSON.stringify(name)}`)}`)).body.Resources.map(
        ({ id }: { id: string }) => id,
      );
    expect(await by('wRITERS_1')).toEqual([writers]);
    expect(await by('100%')).toEqual([percent]);
    expect(await by('Writers')).toEqual([]);
    expect(await by('Writers\\_1')).toEqual([]);
  });
});
