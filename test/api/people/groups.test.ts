import { describe, expect, it } from 'vitest';
import { withService } from '../../support/service.ts';

const { make } = await withService();

const organization = await make.organization();
const owner = await make.person({ organization });
const member = await make.person({ organization });
const colleague = await make.person({ organization });
const admin = await make.person({ organization, role: 'ADMIN' });
const stranger = await make.person({ role: 'ADMIN' });

const path = '/api/v1/groups';
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

async function newGroup(availability: string, memberEmails = member.email) {
  const { status, body } = await owner.post(path, { name: 'Writers', availability, memberEmails });
  expect(status).toBe(200);
  return body;
}

describe('POST /api/v1/groups', () => {
  it('answers the contract; members are found by e-mail, whatever its case, each once', async () => {
    const emails = ` ${member.email.toUpperCase()}, later@example.com ,${member.email},`;
    const body = await newGroup('EVERYONE', emails);
    expect(body).toEqual({
      id: expect.stringMatching(/^grp_/),
      createdAt: time,
      updatedAt: time,
      orgId: organization.id,
      ownerUserId: owner.userId,
      name: 'Writers',
      availability: 'EVERYONE',
      users: expect.arrayContaining([
        { createdAt: time, updatedAt: time, userId: member.userId, email: member.email },
        { createdAt: time, updatedAt: time, userId: '', email: 'later@example.com' },
      ]),
    });
    expect(body.users).toHaveLength(2);
  });

  it('finds no users of other tenants', async () => {
    const body = await newGroup('EVERYONE', stranger.email);
    expect(body.users).toMatchObject([{ userId: '', email: stranger.email }]);
  });

  it.each([
    ['no name', { name: undefined }, 'name'],
    ['a blank name', { name: '' }, 'name'],
    ['no availability', { availability: undefined }, 'availability'],
    ['an unknown availability', { availability: 'SOME' }, 'availability'],
    ['no members member', { memberEmails: undefined }, 'memberEmails'],
    ['what is no e-mail', { memberEmails: 'ann@example.com, ann' }, 'memberEmails'],
    ['members as an array', { memberEmails: ['ann@example.com'] }, 'memberEmails'],
  ])('refuses %s, naming the member', async (_case, change, param) => {
    const { status, body } = await owner.post(path, { name: 'x', availability: 'EVERYONE', memberEmails: '', ...change });
    expect({ status, param: body.error?.param }).toEqual({ status: 400, param });
  });
});

it('faults of a group are all named in one reply, also beside a bad enum', async () => {
  const owner = await make.person();
  const bad = { name: ' ', availability: 'SOME', memberEmails: 'nobody', memberEmailsToAdd: 'nobody', memberEmailsToRemove: [7] };
  const { body: group } = await owner.post('/api/v1/groups', { name: 'G', availability: 'EVERYONE', memberEmails: '' });
  const paramsOf = (reply: { body: { error: { errors: { param: string }[] } } }) =>
    reply.body.error.errors.map(({ param }) => param).toSorted();
  const changed = await owner.patch(`/api/v1/groups/${group.id}`, bad);
  expect([changed.status, paramsOf(changed)]).toEqual([
    400,
    ['availability', 'memberEmailsToAdd', 'memberEmailsToRemove[0]', 'name'],
  ]);
  const made = await owner.post('/api/v1/groups', bad);
  expect([made.status, paramsOf(made)]).toEqual([400, ['availability', 'memberEmails', 'name']]);
});

describe('GET /api/v1/groups', () => {
  it("is a bare array of the caller's groups, without users", async () => {
    const { id } = await newGroup('RESTRICTED');
    for (const person of [owner, member]) {
      const { status, body } = await person.get(path);
      expect(status).toBe(200);
      const group = body.find((entry: { id: string }) => entry.id === id);
      expect(Object.keys(group).toSorted()).toEqual(
        ['availability', 'createdAt', 'id', 'name', 'orgId', 'ownerUserId', 'updatedAt'].toSorted(),
      );
    }
    for (const person of [colleague, stranger]) expect((await person.get(path)).body).toEqual([]);
  });
});

describe('a group', () => {
  it.each([
    ['EVERYONE', 'owner', 200, 200],
    ['EVERYONE', 'admin', 200, 200],
    ['EVERYONE', 'member', 200, 403],
    ['EVERYONE', 'colleague', 200, 403],
    ['EVERYONE', 'stranger', 404, 404],
    ['RESTRICTED', 'owner', 200, 200],
    ['RESTRICTED', 'admin', 200, 200],
    ['RESTRICTED', 'member', 200, 403],
    ['RESTRICTED', 'colleague', 404, 404],
    ['RESTRICTED', 'stranger', 404, 404],
  ])('%s, to %s: reading answers %i, changing and deleting %i', async (availability, name, seen, changed) => {
    const { id } = await newGroup(availability);
    const person = { owner, admin, member, colleague, stranger }[name as 'owner'];
    expect((await person.get(`${path}/${id}`)).status).toBe(seen);
    expect((await person.patch(`${path}/${id}`, { name: 'Renamed' })).status).toBe(changed);
    expect((await person.delete(`${path}/${id}`)).status).toBe(changed);
    expect((await owner.get(`${path}/${id}`)).status).toBe(changed === 200 ? 404 : 200);
  });

  it('takes and loses members, and keeps everything else', async () => {
    const before = await newGroup('RESTRICTED', `${member.email},gone@example.com`);
    const change = {
      memberEmailsToAdd: `${colleague.email}, new@example.com`,
      memberEmailsToRemove: ['GONE@example.com', 'never@example.com'],
    };
    const { status, body } = await owner.patch(`${path}/${before.id}`, change);
    expect(status).toBe(200);
    const emails = body.users.map(({ email }: { email: string }) => email).toSorted();
    expect(emails).toEqual([member.email, colleague.email, 'new@example.com'].toSorted());
    expect(body).toMatchObject({ id: before.id, name: before.name, availability: 'RESTRICTED', createdAt: before.createdAt });
    expect((await colleague.get(`${path}/${before.id}`)).status).toBe(200);
  });

  it('names members by a list of e-mails on GraphQL', async () => {
    const members = '{ id members { nodes { email } } }';
    const input = { name: 'Team', availability: 'RESTRICTED', memberEmails: [member.email, 'gone@example.com'] };
    const made = await owner.graphql(`mutation ($input: CreateGroupInput!) { group: createGroup(input: $input) ${members} }`, {
      input,
    });
    const emailsOf = ({ data }: { data: { group: { members: { nodes: { email: string }[] } } } }) =>
      data.group.members.nodes.map(({ email }) => email).toSorted();
    expect(emailsOf(made)).toEqual([member.email, 'gone@example.com'].toSorted());
    const change = `mutation ($id: ID!, $input: UpdateGroupInput!) { group: updateGroup(id: $id, input: $input) ${members} }`;
    const { id } = made.data.group;
    const more = { memberEmailsToAdd: [colleague.email, 'new@example.com'], memberEmailsToRemove: ['gone@example.com'] };
    expect(emailsOf(await owner.graphql(change, { id, input: more }))).toEqual(
      [member.email, colleague.email, 'new@example.com'].toSorted(),
    );
    const { errors } = await owner.graphql(change, { id, input: { memberEmailsToAdd: ['nobody'] } });
    expect(errors?.[0].extensions.faults).toMatchObject([{ path: 'input.memberEmailsToAdd' }]);
  });

  it('has a member as soon as there is a user of that e-mail in the tenant', async () => {
    const email = 'Newcomer@Example.com';
    const { id } = await newGroup('RESTRICTED', email);
    const agent = await make.agent({ owner, visibility: 'GROUP', groups: [id] });
    await make.person({ email });
    const newcomer = await make.person({ organization, email });
    expect((await newcomer.get(`${path}/${id}`)).body.users).toMatchObject([{ userId: newcomer.userId }]);
    expect((await newcomer.get(`/api/v1/ais/${agent.id}`)).status).toBe(200);
  });

  it('cannot be given to an agent by somebody who does not see it', async () => {
    const { id } = await newGroup('RESTRICTED');
    const agent = await make.agent({ owner: colleague });
    const reply = await colleague.patch(`/api/v1/ais/${agent.id}`, { groups: [id] });
    expect(reply).toMatchObject({ status: 400, body: { error: { param: 'groups[0]' } } });
  });
});
