import { beforeEach, describe, expect, it } from 'vitest';
import type { Organization, Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
let organization: Organization;
let admin: Person;

beforeEach(async () => {
  organization = await make.organization();
  admin = await make.person({ organization, role: 'ADMIN' });
});

interface Change {
  readonly member: string;
  readonly values: readonly unknown[] | null;
  readonly before: readonly unknown[] | null;
}
/** The changes of the last entry about a thing, by their members. */
async function changesOf(targetId: string): Promise<ReadonlyMap<string, Change>> {
  const query = `query ($filter: AuditFilter) {
    auditLog(filter: $filter, first: 1) { nodes { changes { member values before } } }
  }`;
  const filter = { targetId, kind: 'CHANGE', orgId: organization.id };
  const { data } = await service.client().graphql(query, { filter });
  return new Map(data.auditLog.nodes[0].changes.map((change: Change) => [change.member, change]));
}
async function run(document: string, variables: Readonly<Record<string, unknown>>) {
  const { data, errors } = await service.client().graphql(document, variables);
  expect(errors).toBeUndefined();
  return data;
}
const update = (mutation: string, input: string, id: string, members: object) =>
  run(`mutation ($id: ID!, $input: ${input}!) { ${mutation}(id: $id, input: $input) { id } }`, { id, input: members });

describe('the values before a change', () => {
  it('are told of an agent: texts that are recorded, choices, options and lists', async () => {
    const group = (await admin.post('/api/v1/groups', { name: 'Writers', availability: 'EVERYONE', memberEmails: '' })).body;
    const members = { visibility: 'PRIVATE', options: { temperature: [0.25] } };
    const agent = await make.agent({ owner: admin, name: 'Ada', ...members });
    const input = {
      name: 'Grace',
      visibility: 'GROUP',
      options: { temperature: 0.5 },
      groups: [group.id],
      catalogs: ['ORGANIZATION'],
    };
    await update('updateAgent', 'UpdateAgentInput', agent.id, input);
    const changes = await changesOf(agent.id);
    expect(changes.get('name')).toEqual({ member: 'name', values: ['Grace'], before: ['Ada'] });
    expect(changes.get('visibility')).toMatchObject({ values: ['GROUP'], before: ['PRIVATE'] });
    expect(changes.get('options.temperature')).toMatchObject({ values: [0.5], before: [0.25] });
    expect(changes.get('groups')).toMatchObject({ values: [group.id], before: [] });
    expect(changes.get('listInOrgCatalog')).toMatchObject({ values: [true], before: [false] });
    await update('updateAgent', 'UpdateAgentInput', agent.id, { groups: [] });
    expect((await changesOf(agent.id)).get('groups')).toMatchObject({ values: [], before: [group.id] });
  });

  it('are never told of texts that are not recorded, also where they are cleared', async () => {
    const agent = await make.agent({ owner: admin, instructions: 'canary-7', introduction: 'canary-7' });
    await update('updateAgent', 'UpdateAgentInput', agent.id, { introduction: null, instructions: 'canary-8' });
    const changes = await changesOf(agent.id);
    expect(changes.get('introduction')).toEqual({ member: 'introduction', values: null, before: null });
    expect(changes.get('instructions')).toEqual({ member: 'instructions', values: null, before: null });
    const rows = await service.deps.storage.db.prisma.auditEntry.findMany({ where: { targetId: agent.id } });
    expect(JSON.stringify(rows, (_name, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain('canary');
  });

  it('are null for a new thing', async () => {
    const agent = await make.agent({ owner: admin, name: 'Ada' });
    expect((await changesOf(agent.id)).get('name')).toEqual({ member: 'name', values: ['Ada'], before: null });
  });

  it('are not those of the thing that holds a new one', async () => {
    const agent = await make.agent({ owner: admin, name: 'Ada' });
    const input = { name: 'Tone', description: 'How to write', content: 'Briefly.' };
    const document = 'mutation ($id: ID!, $input: CreateSkillInput!) { createSkill(agentId: $id, input: $input) { id } }';
    const { data } = await admin.graphql(document, { id: agent.id, input });
    expect((await changesOf(data.createSkill.id)).get('name')).toMatchObject({ values: ['Tone'], before: null });
  });

  it('are null in entries of versions that did not record them', async () => {
    const agent = await make.agent({ owner: admin, name: 'Ada' });
    const changes = [{ member: 'name', value: 'Ada' }];
    await service.deps.storage.db.prisma.auditEntry.updateMany({ where: { targetId: agent.id }, data: { changes } });
    expect((await changesOf(agent.id)).get('name')).toEqual({ member: 'name', values: ['Ada'], before: null });
  });

  it('are told of an organization: limits, and how long it keeps what', async () => {
    const { id } = organization;
    await update('updateOrganization', 'UpdateOrganizationInput', id, { apiUsageTokenLimit: 5_000_000_000 });
    expect((await changesOf(id)).get('apiUsageTokenLimit')).toMatchObject({ values: [5_000_000_000], before: null });
    await update('updateOrganization', 'UpdateOrganizationInput', id, { apiUsageTokenLimit: null, name: 'Research' });
    const changes = await changesOf(id);
    expect(changes.get('apiUsageTokenLimit')).toMatchObject({ values: null, before: [5_000_000_000] });
    expect(changes.get('name')).toMatchObject({ values: ['Research'], before: [expect.any(String)] });
    const retain = 'mutation ($input: UpdateDataRetentionInput!) { updateDataRetention(input: $input) { __typename } }';
    await run(retain, { input: { orgId: id, chatDays: 30 } });
    await run(retain, { input: { orgId: id, chatDays: 60 } });
    expect((await changesOf(id)).get('chatDays')).toMatchObject({ values: [60], before: [30] });
  });

  it('are told of people: name, e-mail, role', async () => {
    const ann = await make.person({ organization });
    const email = `new.${ann.email}`;
    expect((await admin.patch(`/api/v1/admin/users/${ann.userId}`, { email })).status).toBe(200);
    expect((await changesOf(ann.userId)).get('email')).toMatchObject({ values: [email], before: [ann.email] });
    const path = `/api/v1/admin/memberships?userId=${ann.userId}`;
    const [membership] = (await admin.get(path)).body.data;
    await update('updateMembership', 'UpdateMembershipInput', membership.id, { role: 'ADMIN' });
    expect((await changesOf(membership.id)).get('role')).toMatchObject({ values: ['ADMIN'], before: ['MEMBER'] });
  });

  it('are told of a webhook, without its address', async () => {
    const input = { url: 'https://hooks.example.com/canary-9', events: ['RUN_ENDED'] };
    const create = 'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }';
    const made = await admin.graphql(create, { input });
    expect(made.errors).toBeUndefined();
    const { id } = made.data.createWebhook.webhook;
    const document = 'mutation ($id: ID!, $input: UpdateWebhookInput!) { updateWebhook(id: $id, input: $input) { id } }';
    const changed = { isEnabled: false, url: 'https://hooks.example.com/canary-10', events: ['SOURCE_FAILED'] };
    expect((await admin.graphql(document, { id, input: changed })).errors).toBeUndefined();
    const changes = await changesOf(id);
    expect(changes.get('isEnabled')).toMatchObject({ values: [false], before: [true] });
    expect(changes.get('events')).toMatchObject({ values: ['source.failed'], before: ['run.ended'] });
    expect(changes.get('url')).toMatchObject({ values: null, before: null });
  });
});
