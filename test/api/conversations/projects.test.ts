import { beforeAll, describe, expect, it } from 'vitest';
import { indexed } from '../../support/knowledge/knowledge.ts';
import type { Organization, Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';

const { service, make, upstream } = await withService('model');
let organization: Organization;
let ann: Person;
let bob: Person;
let admin: Person;
let group: string;
let agent: { id: string };

beforeAll(async () => {
  organization = await make.organization();
  ann = await make.person({ organization });
  bob = await make.person({ organization });
  admin = await make.person({ organization, role: 'ADMIN' });
  agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION', instructions: 'Be brief.' });
  group = await newGroup(bob);
});

const newGroup = async (member: Person): Promise<string> =>
  (await ann.post('/api/v1/groups', { name: 'Movers', availability: 'RESTRICTED', memberEmails: member.email })).body.id;
const newProject = async (members: object = {}, who: Person = ann): Promise<string> => {
  const reply = await who.post('/api/v1/projects', { name: 'Move to Rome', ...members });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body.id;
};
const newChat = async (projectId: string | null, who: Person = ann): Promise<string> => {
  const reply = await who.post(`/api/v1/ais/${agent.id}/chats`, { projectId });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body.id;
};
const say = (chatId: string, prompt: string, who: Person = ann) => who.post(`/api/v1/chats/${chatId}/messages`, { prompt });
/** What the model was asked last. */
const prompt = () => upstream.requests.at(-1)?.body?.messages as readonly { readonly role: string; readonly content: string }[];
const chatsOf = async (projectId: string, who: Person = ann): Promise<readonly string[]> =>
  (await who.get(`/api/v1/chats?projectId=${projectId}`)).body.data.map(({ id }: { id: string }) => id);

/** A source that only its owner reads, unless it is open to the organization. */
async function newSource(name: string, text: string, members: object = {}): Promise<string> {
  const own = await make.agent({ owner: ann });
  const { id } = await make.apiDataSource({ owner: ann, agentId: own.id, name, data: { note: text } });
  await indexed(ann, id);
  await ann.patch(`/api/v1/data-sources/${id}`, members);
  return id;
}

describe('a project', () => {
  it('has a name, instructions, groups, sources and agents', async () => {
    const source = await newSource('Prices', 'A van costs 90 euro.');
    const id = await newProject({
      instructions: ' Answer in Italian. ',
      groupIds: [group],
      dataSourceIds: [source],
      agentIds: [agent.id],
    });
    const { body } = await ann.get(`/api/v1/projects/${id}`);
    expect(body).toMatchObject({ name: 'Move to Rome', instructions: 'Answer in Italian.', userId: ann.userId, canEdit: true });
    expect([body.groups, body.dataSources, body.ais].map(([thing]) => thing.id)).toEqual([group, source, agent.id]);
    const changed = await ann.patch(`/api/v1/projects/${id}`, { name: 'Rome', dataSourceIds: [] });
    expect(changed.body).toMatchObject({ name: 'Rome', instructions: 'Answer in Italian.', dataSources: [] });
    expect(changed.body.groups).toHaveLength(1);
    expect((await ann.delete(`/api/v1/projects/${id}`)).status).toBe(200);
    expect((await ann.get(`/api/v1/projects/${id}`)).status).toBe(404);
  });

  it('is seen by members of its groups, and changed by its owner', async () => {
    const source = await newSource('Secret prices', 'A van costs 70 euro.');
    const id = await newProject({ groupIds: [group], dataSourceIds: [source], agentIds: [agent.id] });
    const own = await newProject();
    const { body } = await bob.get(`/api/v1/projects/${id}`);
    // He may not read the source.
    expect(body).toMatchObject({ canEdit: false, dataSources: [], ais: [{ id: agent.id }] });
    expect((await bob.patch(`/api/v1/projects/${id}`, { name: 'Mine' })).status).toBe(403);
    expect((await bob.delete(`/api/v1/projects/${id}`)).status).toBe(403);
    for (const who of [admin, await make.person()]) expect((await who.get(`/api/v1/projects/${id}`)).status).toBe(404);
    expect((await bob.get(`/api/v1/projects/${own}`)).status).toBe(404);
    const listed = async (who: Person) =>
      (await who.get('/api/v1/projects?limit=100')).body.data.map((one: { id: string }) => one.id);
    expect(await listed(bob)).toContain(id);
    expect(await listed(bob)).not.toContain(own);
    expect((await listed(ann)).slice(0, 2)).toEqual([own, id]);
  });

  it.each([
    [{ name: ' ' }, 'name'],
    [{ name: 'x', instructions: 'x'.repeat(20_001) }, 'instructions'],
    [{ name: 'x', groupIds: ['grp_00000000000000000000000000'] }, 'groupIds[0]'],
    [{ name: 'x', dataSourceIds: ['ds_00000000000000000000000000'] }, 'dataSourceIds[0]'],
    [{ name: 'x', agentIds: ['ai_00000000000000000000000000'] }, 'agentIds[0]'],
    [{ name: 'x', agentIds: Array.from({ length: 51 }, (_, index) => `ai_${index}`) }, 'agentIds'],
  ])('is refused with %j', async (body, param) => {
    expect(await ann.post('/api/v1/projects', body)).toMatchObject({ status: 400, body: { error: { param } } });
  });
});

describe('chats of a project', () => {
  it('are each person’s own', async () => {
    const id = await newProject({ groupIds: [group] });
    const [anns, bobs] = [await newChat(id), await newChat(id, bob)];
    expect(await chatsOf(id)).toEqual([anns]);
    expect(await chatsOf(id, bob)).toEqual([bobs]);
    expect((await bob.get(`/api/v1/chats/${anns}`)).status).toBe(404);
    const { data } = await ann.graphql('query ($id: ID!) { project(id: $id) { chats { nodes { id project { name } } } } }', {
      id,
    });
    expect(data.project.chats.nodes).toEqual([{ id: anns, project: { name: 'Move to Rome' } }]);
  });

  it('are moved, also several at once, and stay when it is deleted', async () => {
    const id = await newProject();
    const [one, two] = [await newChat(null), await newChat(null)];
    await ann.post('/api/v1/chats/changes', { chatIds: [one, two], projectId: id });
    expect((await chatsOf(id)).toSorted()).toEqual([one, two].toSorted());
    await ann.patch(`/api/v1/chats/${one}`, { projectId: null });
    expect(await chatsOf(id)).toEqual([two]);
    expect((await ann.patch(`/api/v1/chats/${two}`, { name: 'Stays' })).status).toBe(200);
    expect(await chatsOf(id)).toEqual([two]);
    await ann.delete(`/api/v1/projects/${id}`);
    expect((await ann.get(`/api/v1/chats/${two}/place`)).body.projectId).toBeNull();
    const foreign = await newProject({}, bob);
    for (const call of [
      ann.patch(`/api/v1/chats/${two}`, { projectId: foreign }),
      ann.post('/api/v1/chats/changes', { chatIds: [two], projectId: foreign }),
      ann.post(`/api/v1/ais/${agent.id}/chats`, { projectId: foreign }),
    ])
      expect(await call).toMatchObject({ status: 404, body: { error: { param: 'projectId' } } });
  });

  it('are told its instructions behind those of the agent, in the part of a request that stays', async () => {
    const id = await newProject({ instructions: 'Answer in Italian.' });
    const chat = await newChat(id);
    await say(chat, 'Hello');
    const [first] = prompt();
    expect(first?.content).toMatch(
      /^Be brief\.\n\nInstructions of the project "Move to Rome":\nAnswer in Italian\.\n\nCurrent date: /,
    );
    await say(chat, 'Again');
    expect(prompt()[0]).toEqual(first);
    await ann.patch(`/api/v1/projects/${id}`, { instructions: 'Answer in Latin.' });
    const { messages } = (await ann.get(`/api/v1/chats/${chat}`)).body;
    await ann.post(`/api/v1/chats/${chat}/messages/${messages[2].id}/edit`, { prompt: 'Once more' });
    expect(prompt()[0]?.content).toContain('Answer in Latin.');
  });

  it('search its sources with the rights of the person who asks', async () => {
    const secret = await newSource('Van prices', 'The van costs seventy euro.');
    const open = await newSource('Opening hours', 'The van desk opens at nine.', { orgVisible: true });
    const id = await newProject({ groupIds: [group], dataSourceIds: [secret, open] });
    const ask = async (who: Person) => {
      await say(await newChat(id, who), 'When does the van desk open, and what does the van cost?', who);
      return JSON.stringify(prompt());
    };
    const toAnn = await ask(ann);
    expect(toAnn).toContain('seventy euro');
    expect(toAnn).toContain('opens at nine');
    const toBob = await ask(bob);
    expect(toBob).not.toContain('seventy euro');
    expect(toBob).toContain('opens at nine');
  });

  it('get nothing of it once their user sees it no more', async () => {
    const id = await newProject({ instructions: 'Answer in Italian.', groupIds: [group] });
    const chat = await newChat(id, bob);
    await ann.patch(`/api/v1/projects/${id}`, { groupIds: [] });
    expect((await say(chat, 'Hello', bob)).status).toBe(200);
    expect(prompt()[0]?.content).not.toContain('Italian');
    const { data } = await bob.graphql('query ($id: ID!) { chat(id: $id) { project { id } } }', { id: chat });
    expect(data.chat.project).toBeNull();
  });
});

describe('what an erased person leaves', () => {
  it('are projects that others use; its own go', async () => {
    const cleo = await make.person({ organization });
    const ownGroup = (await cleo.post('/api/v1/groups', { name: 'Hers', availability: 'RESTRICTED', memberEmails: bob.email }))
      .body.id;
    const shared = await newProject({ groupIds: [ownGroup] }, cleo);
    const own = await newProject({}, cleo);
    const input = { userId: cleo.userId, transferToUserId: ann.userId };
    await admin.graphql('mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { id } }', { input });
    const ids = async () =>
      (await service.deps.storage.db.pool.query('select id, "userId" from projects where id = any($1)', [[shared, own]])).rows;
    await eventually(async () => expect(await ids()).toEqual([{ id: shared, userId: ann.userId }]));
    expect((await bob.get(`/api/v1/projects/${shared}`)).status).toBe(200);
  });
});

it('is handed over with all that its owner has', async () => {
  const dan = await make.person({ organization });
  const danGroup = (await dan.post('/api/v1/groups', { name: 'His', availability: 'RESTRICTED', memberEmails: bob.email })).body
    .id;
  const id = await newProject({ groupIds: [danGroup] }, dan);
  const document =
    'mutation ($input: TransferOwnershipInput!, $to: ID!) { transferOwnership(input: $input, toUserId: $to) { projects } }';
  const { data } = await admin.graphql(document, { input: { allOf: { userId: dan.userId } }, to: bob.userId });
  expect(data.transferOwnership).toEqual({ projects: 1 });
  expect((await bob.get(`/api/v1/projects/${id}`)).body.canEdit).toBe(true);
});
