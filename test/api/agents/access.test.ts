import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentForRun } from '../../../src/domain/agents/agents.ts';
import { authenticateKey } from '../../../src/domain/people/api-keys.ts';
import { agentListScopes, agentVisibilities } from '../../../src/entities/agents/agent.ts';
import type { Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';

const { service, make } = await withService();
const people: Partial<Record<Principal, Person>> = {};

/** The callers: all but the last three belong to the owner's organization. */
const principals = [
  'owner',
  'editor',
  'groupMember',
  'colleague',
  'orgAdmin',
  'tenantKeyElsewhere',
  'otherOrg',
  'otherTenant',
] as const;
type Principal = (typeof principals)[number];

const organization = await make.organization();
const sister = await make.organization({ tenant: { id: organization.tenantId } });
people.owner = await make.person({ organization });
people.editor = await make.person({ organization });
people.groupMember = await make.person({ organization });
people.colleague = await make.person({ organization });
people.orgAdmin = await make.person({ organization, role: 'ADMIN' });
people.tenantKeyElsewhere = await make.person({ organization: sister, role: 'ADMIN', level: 'TENANT' });
people.otherOrg = await make.person({ organization: sister, role: 'ADMIN' });
people.otherTenant = await make.person({ role: 'ADMIN' });
const operator = service.client();
const group = { name: 'Readers', availability: 'RESTRICTED', memberEmails: who('groupMember').email };
const groupId = (await who('owner').post('/api/v1/groups', group)).body.id;

function who(name: Principal): Person {
  const person = people[name];
  if (person === undefined) throw new Error(`nobody is ${name}`);
  return person;
}

function agentOf(visibility: string, members: Readonly<Record<string, unknown>> = {}) {
  const editors = [{ email: who('editor').email }];
  return make.agent({ owner: who('owner'), instructions: 'SECRET-PLAN', visibility, groups: [groupId], editors, ...members });
}

const family = ['owner', 'editor', 'orgAdmin'] as const;
const seenBy: Record<(typeof agentVisibilities)[number], readonly Principal[]> = {
  PRIVATE: family,
  GROUP: [...family, 'groupMember'],
  ORGANIZATION: [...family, 'groupMember', 'colleague'],
  ANYONE_WITH_LINK: principals,
};
const editedBy: readonly Principal[] = family;
const managedBy: readonly Principal[] = ['owner', 'orgAdmin'];

describe.each(agentVisibilities)('an agent of visibility %s', (visibility) => {
  it.each(principals)('is seen, edited, managed and run as it should be by: %s', async (name) => {
    const agent = await agentOf(visibility);
    const path = `/api/v1/ais/${agent.id}`;
    const sees = seenBy[visibility].includes(name);
    const edits = editedBy.includes(name);
    const manages = managedBy.includes(name);
    const refused = sees ? 403 : 404;

    const rest = await who(name).get(path);
    expect(rest.status).toBe(sees ? 200 : 404);
    if (sees) expect(rest.body.instructions).toBe(edits ? 'SECRET-PLAN' : null);
    else expect(JSON.stringify(rest.body)).not.toContain('SECRET-PLAN');

    const query = 'query ($id: ID!) { agent(id: $id) { instructions canEdit canManage } node(id: $id) { id } }';
    const graph = await who(name).graphql(query, { id: agent.id });
    const shown = { instructions: edits ? 'SECRET-PLAN' : null, canEdit: edits, canManage: manages };
    expect(graph.errors).toBeUndefined();
    expect(graph.data).toEqual(sees ? { agent: shown, node: { id: agent.id } } : { agent: null, node: null });

    expect(await runs(who(name), agent.id)).toBe(sees);
    expect((await who(name).patch(path, { description: `by ${name}` })).status).toBe(edits ? 200 : refused);
    expect((await who(name).patch(path, { visibility, groups: [groupId] })).status).toBe(edits ? 200 : refused);
    const other = visibility === 'PRIVATE' ? 'ORGANIZATION' : 'PRIVATE';
    expect((await who(name).patch(path, { visibility: other })).status).toBe(manages ? 200 : refused);
    expect((await who(name).patch(path, { editors: [] })).status).toBe(manages ? 200 : refused);
    expect((await who(name).delete(path)).status).toBe(manages ? 200 : refused);
  });

  it('is seen and managed by an INSTANCE key of another tenant', async () => {
    const agent = await agentOf(visibility);
    expect(await operator.get(`/api/v1/ais/${agent.id}`)).toMatchObject({ status: 200, body: { instructions: 'SECRET-PLAN' } });
    expect((await operator.delete(`/api/v1/ais/${agent.id}`)).status).toBe(200);
  });
});

async function runs(person: Person, agentId: string): Promise<boolean> {
  const caller = await authenticateKey(service.deps, person.key);
  if (caller === undefined) throw new Error('the key is not known');
  return Promise.try(() => agentForRun(service.deps, caller, agentId)).then(
    (agent) => agent.id === agentId,
    (error) => {
      expect(error).toMatchObject({ code: 'NOT_FOUND' });
      return false;
    },
  );
}

describe('a missing agent', () => {
  it('answers as an invisible one, whatever its id looks like', async () => {
    const { id } = await agentOf('PRIVATE');
    const invisible = await who('colleague').get(`/api/v1/ais/${id}`);
    for (const missing of ['ai_01jd0000000000000000000000', 'ai_x', 'nonsense', '%00', who('owner').userId]) {
      const reply = await who('colleague').get(`/api/v1/ais/${missing}`);
      expect(reply.status, missing).toBe(missing === '%00' ? 400 : 404);
      if (reply.status === 404) expect(reply.body).toEqual(invisible.body);
    }
  });
});

describe('what a run reads of an agent', () => {
  it('follows changes of agent, group and deletion at once', async () => {
    const member = await make.person({ organization: { id: who('owner').orgId, tenantId: who('owner').tenantId } });
    const group = await who('owner').post('/api/v1/groups', { name: 'G', availability: 'EVERYONE', memberEmails: '' });
    const agent = await make.agent({ owner: who('owner'), visibility: 'GROUP', groups: [group.body.id] });
    expect(await runs(member, agent.id)).toBe(false);
    await who('owner').patch(`/api/v1/groups/${group.body.id}`, { memberEmailsToAdd: member.email });
    expect(await runs(member, agent.id)).toBe(true);
    await who('owner').patch(`/api/v1/groups/${group.body.id}`, { memberEmailsToRemove: [member.email] });
    expect(await runs(member, agent.id)).toBe(false);
    await who('owner').patch(`/api/v1/ais/${agent.id}`, { visibility: 'ORGANIZATION' });
    expect(await runs(member, agent.id)).toBe(true);
    await who('owner').delete(`/api/v1/ais/${agent.id}`);
    expect(await runs(member, agent.id)).toBe(false);
  });

  it('costs no statement and no promise once it is cached', async () => {
    const agent = await agentOf('ORGANIZATION');
    // The signal of the creation may arrive late and empty the cache once more.
    await eventually(async () => {
      const caller = await authenticateKey(service.deps, who('colleague').key);
      if (caller === undefined) throw new Error('the key is not known');
      await agentForRun(service.deps, caller, agent.id);
      expect(authenticateKey(service.deps, who('colleague').key)).toBe(caller);
      expect(agentForRun(service.deps, caller, agent.id)).toMatchObject({ id: agent.id, dataSourceIds: [] });
    });
  });
});

describe('list scopes', () => {
  const kinds = {
    mine: { visibility: 'PRIVATE' },
    mineOpen: { visibility: 'ORGANIZATION' },
    edited: { visibility: 'PRIVATE' },
    grouped: { visibility: 'GROUP' },
    organization: { visibility: 'ORGANIZATION' },
    link: { visibility: 'ANYONE_WITH_LINK' },
    linkInOrgCatalog: { visibility: 'ANYONE_WITH_LINK', listInOrgCatalog: true },
    hidden: { visibility: 'PRIVATE', listInOrgCatalog: true, listInPublicCatalog: true, listInTenantCatalog: true },
    sisterInTenantCatalog: { visibility: 'ANYONE_WITH_LINK', listInTenantCatalog: true },
    sisterOpen: { visibility: 'ORGANIZATION', listInTenantCatalog: true },
    strangerInPublicCatalog: { visibility: 'ANYONE_WITH_LINK', listInPublicCatalog: true },
    strangerInTenantCatalog: { visibility: 'ANYONE_WITH_LINK', listInTenantCatalog: true },
    strangerOpen: { visibility: 'ORGANIZATION', listInPublicCatalog: true },
  } as const;
  type Kind = keyof typeof kinds;
  const expected: Record<(typeof agentListScopes)[number], readonly Kind[]> = {
    PRIVATE: ['mine'],
    OWNED: ['mine', 'mineOpen'],
    GROUP: ['grouped'],
    SHARED: ['edited', 'grouped'],
    ORGANIZATION: ['mineOpen', 'organization', 'linkInOrgCatalog'],
    TENANT: ['sisterInTenantCatalog'],
    PUBLIC: ['strangerInPublicCatalog'],
    ALL: [
      'mine',
      'mineOpen',
      'edited',
      'grouped',
      'organization',
      'linkInOrgCatalog',
      'sisterInTenantCatalog',
      'strangerInPublicCatalog',
    ],
  };
  let me: Person;
  let namesOf: (query: string) => Promise<string[]>;
  let hideFromOthers: () => Promise<{ readonly status: number }>;

  beforeAll(async () => {
    const organization = await make.organization();
    me = await make.person({ organization });
    const other = await make.person({ organization });
    const sister = await make.person({ organization: await make.organization({ tenant: { id: organization.tenantId } }) });
    const stranger = await make.person();
    const group = { name: 'G', availability: 'RESTRICTED', memberEmails: me.email };
    const myGroup = (await other.post('/api/v1/groups', group)).body.id;
    for (const [name, members] of Object.entries(kinds)) {
      const owner = name.startsWith('mine')
        ? me
        : name.startsWith('sister')
          ? sister
          : name.startsWith('stranger')
            ? stranger
            : other;
      const editors = name === 'edited' ? [{ id: me.userId }] : [];
      const agent = await make.agent({ owner, name, ...members, editors, groups: name === 'grouped' ? [myGroup] : [] });
      if (name === 'strangerInPublicCatalog') hideFromOthers = () => owner.delete(`/api/v1/ais/${agent.id}`);
    }
    namesOf = async (query) => (await me.get(`/api/v1/ais${query}`)).body.data.map(({ name }: { name: string }) => name);
  });

  // Everyone's lists show this agent, and other files use this service.
  afterAll(async () => expect((await hideFromOthers()).status).toBe(200));

  it.each(agentListScopes)('%s shows what it says, newest first', async (scope) => {
    expect((await namesOf(`?scope=${scope}`)).toSorted()).toEqual([...expected[scope]].toSorted());
  });

  it('is ALL when none is named', async () => {
    expect(await namesOf('')).toEqual(await namesOf('?scope=ALL'));
  });

  it('is a list of agents that can all be opened, and counts what it holds', async () => {
    const query = 'query ($scope: AgentListScope) { agents(filter: { scope: $scope }, first: 100) { totalCount nodes { id } } }';
    for (const scope of agentListScopes) {
      const { data } = await me.graphql(query, { scope });
      expect(data.agents.totalCount, scope).toBe(expected[scope].length);
      for (const { id } of data.agents.nodes) expect((await me.get(`/api/v1/ais/${id}`)).status).toBe(200);
    }
  });
});
