import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Followed, follow as followed } from '../../../support/apis/live.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', {});
let organization: Organization;
let admin: Person;
const open: Followed[] = [];

beforeEach(async () => {
  organization = await make.organization();
  admin = await make.person({ organization, role: 'ADMIN' });
});
afterEach(async () => {
  for (const stream of open.splice(0)) stream.stop();
  await eventually(() => expect(service.deps.live.followed).toEqual([]));
});

const selected = `kind id node {
  __typename ... on Membership { role user { name } } ... on Invitation { status } ... on Group { name members { nodes { email } } }
}`;
async function follow(who: Person, selection = selected): Promise<Followed> {
  const stream = await followed(who, 'peopleChanged', selection);
  open.push(stream);
  return stream;
}
const membershipOf = async ({ userId }: Person) =>
  (await admin.get(`/api/v1/admin/memberships?userId=${userId}`)).body.data[0].id as string;
const run = async (document: string, variables: Readonly<Record<string, unknown>>) => {
  return admin.ask(document, variables);
};

describe('peopleChanged', () => {
  it('tells members who come, change and go, also by deactivation', async () => {
    const stream = await follow(admin);
    const ann = await make.person({ organization, name: 'Ann' });
    const id = await membershipOf(ann);
    expect(await stream.next()).toEqual({
      kind: 'CREATED',
      id,
      node: { __typename: 'Membership', role: 'MEMBER', user: { name: 'Ann' } },
    });
    await admin.patch(`/api/v1/admin/memberships/${id}`, { role: 'ADMIN' });
    expect(await stream.next()).toMatchObject({ kind: 'UPDATED', id, node: { role: 'ADMIN' } });
    await admin.patch(`/api/v1/admin/users/${ann.userId}`, { name: 'Anna' });
    expect(await stream.next()).toMatchObject({ kind: 'UPDATED', id, node: { user: { name: 'Anna' } } });
    await run('mutation ($id: ID!) { deactivateUser(id: $id) { id } }', { id: ann.userId });
    expect(await stream.next()).toEqual({ kind: 'DELETED', id, node: null });
    await run('mutation ($id: ID!) { reactivateUser(id: $id) { id } }', { id: ann.userId });
    expect(await stream.next()).toMatchObject({ kind: 'CREATED', node: { role: 'ADMIN' } });
  });

  it('tells invitations and their ends', async () => {
    const stream = await follow(admin);
    const inviting = 'mutation ($input: InviteInput!) { invite(input: $input) { invitation { id } } }';
    const { invite } = await run(inviting, { input: { email: 'new@example.com' } });
    const { id } = invite.invitation;
    expect(await stream.next()).toEqual({ kind: 'CREATED', id, node: { __typename: 'Invitation', status: 'PENDING' } });
    await run('mutation ($id: ID!) { revokeInvitation(id: $id) { id } }', { id });
    expect(await stream.next()).toEqual({ kind: 'UPDATED', id, node: { __typename: 'Invitation', status: 'REVOKED' } });
  });

  it('tells groups and who is in them', async () => {
    const stream = await follow(admin);
    const members = { name: 'Writers', availability: 'EVERYONE', memberEmails: '' };
    const { id } = (await admin.post('/api/v1/groups', members)).body;
    expect(await stream.next()).toEqual({
      kind: 'CREATED',
      id,
      node: { __typename: 'Group', name: 'Writers', members: { nodes: [] } },
    });
    await admin.patch(`/api/v1/groups/${id}`, { memberEmailsToAdd: admin.email });
    expect(await stream.next()).toMatchObject({ kind: 'UPDATED', id, node: { members: { nodes: [{ email: admin.email }] } } });
    await admin.delete(`/api/v1/groups/${id}`);
    expect(await stream.next()).toEqual({ kind: 'DELETED', id, node: null });
  });

  it('tells groups to no key without GROUPS:READ, and nothing of other organizations', async () => {
    const stream = await follow(await make.withKey(admin, { scopes: ['ADMIN:READ'] }), 'kind id');
    const stranger = await make.person({ role: 'ADMIN' });
    await stranger.post('/api/v1/groups', { name: 'Theirs', availability: 'EVERYONE', memberEmails: '' });
    await admin.post('/api/v1/groups', { name: 'Writers', availability: 'EVERYONE', memberEmails: '' });
    const ann = await make.person({ organization });
    expect(await stream.next()).toEqual({ kind: 'CREATED', id: await membershipOf(ann) });
  });

  it('goes on after a break with what is new since', async () => {
    const stream = await follow(admin, 'id cursor');
    await make.person({ organization });
    const { cursor } = await stream.next();
    stream.stop();
    const ann = await make.person({ organization });
    const again = await followed(admin, `peopleChanged(after: "${cursor}")`);
    open.push(again);
    const id = await membershipOf(ann);
    expect(await again.until((change) => change.id === id)).toContainEqual({ kind: 'CREATED', id });
  });

  it('is for administrators only, and ends with that role', async () => {
    const ann = await make.person({ organization });
    const refused = await follow(ann);
    await refused.over();
    expect(refused.code).toBe('FORBIDDEN');
    const boss = await make.person({ organization, role: 'ADMIN' });
    const stream = await follow(boss, 'kind id');
    await admin.patch(`/api/v1/admin/memberships/${await membershipOf(boss)}`, { role: 'MEMBER' });
    await stream.over();
    expect(stream.code).toBe('RIGHTS_CHANGED');
  });
});
