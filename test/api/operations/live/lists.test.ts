import { afterEach, describe, expect, it } from 'vitest';
import { type Followed, follow as followed } from '../../../support/apis/live.ts';
import { addFile } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { countStatements } from '../../../support/storage/statements.ts';

const { service, make, upstream } = await withService('model', {});
const open: Followed[] = [];

const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });
const admin = await make.person({ organization, role: 'ADMIN' });

afterEach(async () => {
  for (const stream of open.splice(0)) stream.stop();
  await eventually(() => expect(service.deps.live.followed).toEqual([]));
});

async function follow(who: Person, field: string, selected?: string): Promise<Followed> {
  const stream = await followed(who, field, selected);
  open.push(stream);
  return stream;
}
const patch = (agentId: string, body: object) => ann.patch(`/api/v1/ais/${agentId}`, body);
const of = (id: string) => (change: { id: string }) => change.id === id;

describe('agentsChanged', () => {
  it('tells what is created, changed and deleted, with the thing as it is now', async () => {
    const stream = await follow(ann, 'agentsChanged', 'kind id node { id name }');
    const { id } = await make.agent({ owner: ann, name: 'Ada' });
    expect(await stream.next()).toEqual({ kind: 'CREATED', id, node: { id, name: 'Ada' } });
    await patch(id, { name: 'Grace' });
    expect(await stream.next()).toEqual({ kind: 'UPDATED', id, node: { id, name: 'Grace' } });
    await ann.delete(`/api/v1/ais/${id}`);
    expect(await stream.next()).toEqual({ kind: 'DELETED', id, node: null });
  });

  it('tells many changes of a quarter of a second as one', async () => {
    const { id } = await make.agent({ owner: ann });
    const { id: last } = await make.agent({ owner: ann });
    const stream = await follow(ann, 'agentsChanged', 'kind id node { name }');
    for (let n = 0; n < 10; n += 1) service.deps.storage.signals.publish('agent-changed', id);
    await patch(last, { name: 'Last' });
    const told = await stream.until(of(last));
    expect(told.filter(of(id)).map(({ kind }) => kind)).toEqual(['UPDATED']);
  });

  it('tells changes of parts and ratings', async () => {
    const { id } = await make.agent({ owner: ann });
    const stream = await follow(ann, 'agentsChanged');
    await ann.post(`/api/v1/ais/${id}/skills`, { name: 'Tea', content: 'Ask first.' });
    expect(await stream.next()).toEqual({ kind: 'UPDATED', id });
    await ann.graphql('mutation ($id: ID!) { rateAgent(id: $id, input: { rating: 5 }) { id } }', { id });
    expect(await stream.next()).toEqual({ kind: 'UPDATED', id });
  });

  it('tells others only what they may see: an agent that becomes visible is created, one that does not stay so is deleted', async () => {
    const { id: hidden } = await make.agent({ owner: ann });
    const { id } = await make.agent({ owner: ann });
    const stream = await follow(bob, 'agentsChanged', 'kind id node { name }');
    await patch(hidden, { name: 'Hidden' });
    await patch(id, { name: 'Shown', visibility: 'ORGANIZATION' });
    expect(await stream.next()).toEqual({ kind: 'CREATED', id, node: { name: 'Shown' } });
    await patch(id, { visibility: 'PRIVATE' });
    expect(await stream.next()).toEqual({ kind: 'DELETED', id, node: null });
    await patch(id, { name: 'Hidden again' });
    await patch(hidden, { visibility: 'ORGANIZATION' });
    expect(await stream.next()).toMatchObject({ kind: 'CREATED', id: hidden });
    await ann.delete(`/api/v1/ais/${id}`);
    await ann.delete(`/api/v1/ais/${hidden}`);
    expect(await stream.next()).toMatchObject({ kind: 'DELETED', id: hidden });
  });

  it('follows who is in the groups of an agent', async () => {
    const { body: group } = await ann.post('/api/v1/groups', { name: 'Readers', availability: 'EVERYONE', memberEmails: '' });
    const { id } = await make.agent({ owner: ann, visibility: 'GROUP', groups: [group.id] });
    const stream = await follow(bob, 'agentsChanged');
    const members = async (body: object) =>
      expect((await ann.patch(`/api/v1/groups/${group.id}`, body)).body).toMatchObject({ id: group.id });
    await members({ memberEmailsToAdd: bob.email });
    expect(await stream.next()).toEqual({ kind: 'CREATED', id });
    await members({ memberEmailsToRemove: [bob.email] });
    expect(await stream.next()).toEqual({ kind: 'DELETED', id });
  });

  it('costs one statement for each batch, however many agents changed, and some for the nodes', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push((await make.agent({ owner: ann })).id);
    const stream = await follow(ann, 'agentsChanged', 'kind id node { name }');
    const { statements } = await countStatements(service, async () => {
      for (const id of ids) service.deps.storage.signals.publish('agent-changed', id);
      await stream.until(of(ids.at(-1) ?? ''));
    });
    expect(stream.told).toHaveLength(20);
    // Timers of the service have statements of their own meanwhile.
    const ofTimers = /^(?:BEGIN|COMMIT)$|^SET LOCAL|agent_message_counts|webhook_deliveries|schedule/;
    const caused = statements.filter((text) => !ofTimers.test(text));
    expect(caused.length, caused.join('\n')).toBeLessThanOrEqual(8);
  });
});

describe('dataSourcesChanged', () => {
  it('tells a source that is added, indexed and deleted', async () => {
    const { id: agentId } = await make.agent({ owner: ann });
    const stream = await follow(ann, 'dataSourcesChanged', 'kind id node { name indexStatus }');
    const { body } = await addFile(ann, agentId, 'hours.md', 'The workshop opens at nine.');
    const created = await stream.next();
    expect(created).toMatchObject({ kind: 'CREATED', id: body.id, node: { name: 'hours.md' } });
    // A small document may be indexed before the first event shows it.
    if (created.node.indexStatus !== 'INDEXED') await stream.until(({ node }) => node?.indexStatus === 'INDEXED');
    await ann.delete(`/api/v1/data-sources/${body.id}`);
    // The end of its indexing may be told once more before.
    const told = await stream.until(({ kind }) => kind === 'DELETED');
    expect(told.at(-1)).toMatchObject({ id: body.id, node: null });
    expect(told.slice(0, -1).every(({ kind }) => kind === 'UPDATED')).toBe(true);
  });

  it('follows who sees a source: by its own visibility, and by who edits an agent that has it', async () => {
    const { id: agentId } = await make.agent({ owner: ann });
    const { id } = await make.apiDataSource({ owner: ann, agentId, data: { a: 1 } });
    const stream = await follow(bob, 'dataSourcesChanged');
    const source = (body: object) => ann.patch(`/api/v1/data-sources/${id}`, body);
    const isOf = (kind: string) => (change: { kind: string; id: string }) => change.kind === kind && change.id === id;
    await source({ orgVisible: true });
    expect((await stream.until(isOf('CREATED'))).every(of(id))).toBe(true);
    await source({ orgVisible: false });
    await stream.until(isOf('DELETED'));
    await patch(agentId, { editors: [{ id: bob.userId }] });
    await stream.until(isOf('CREATED'));
    await patch(agentId, { editors: [] });
    await stream.until(isOf('DELETED'));
  });
});

describe('chatsChanged', () => {
  it("tells the caller's own chats, through a turn to the end", async () => {
    const { id: agentId } = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const stream = await follow(ann, 'chatsChanged', 'kind id node { name activeRunId }');
    await make.chat({ owner: bob, agentId, name: 'Of Bob' });
    const { id } = await make.chat({ owner: ann, agentId, name: 'Tea' });
    expect(await stream.next()).toMatchObject({ kind: 'CREATED', id, node: { name: 'Tea' } });
    upstream.next({ text: ['Hello'] });
    await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'Hi' });
    expect((await stream.until(({ node }) => node?.activeRunId === null)).every(({ kind }) => kind === 'UPDATED')).toBe(true);
    await ann.delete(`/api/v1/chats/${id}`);
    await stream.until(({ kind }) => kind === 'DELETED');
    const { id: next } = await make.chat({ owner: ann, agentId });
    expect(await stream.until(of(next))).toHaveLength(1);
  });

  it('tells editors of an agent the chats that it shows', async () => {
    const { id: agentId } = await make.agent({ owner: ann, visibility: 'ORGANIZATION', chatLogsVisible: true });
    const { id: other } = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const stream = await follow(ann, `chatsChanged(agentId: "${agentId}")`);
    await make.chat({ owner: bob, agentId: other });
    const { id } = await make.chat({ owner: bob, agentId });
    expect(await stream.next()).toEqual({ kind: 'CREATED', id });
    await patch(agentId, { chatLogsVisible: false });
    await bob.patch(`/api/v1/chats/${id}`, { name: 'Hidden' });
    expect(await stream.next()).toEqual({ kind: 'DELETED', id });
  });
});

describe('messagesChanged', () => {
  it('tells the messages of a turn, and those that are taken away, until the chat is deleted', async () => {
    const { id: agentId } = await make.agent({ owner: ann });
    const { id } = await make.chat({ owner: ann, agentId });
    const stream = await follow(ann, `messagesChanged(chatId: "${id}")`);
    upstream.next({ text: ['Hello'] });
    await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'Hi' });
    const [question, answer] = (await ann.get(`/api/v1/chats/${id}`)).body.messages;
    await stream.until(of(answer.id));
    expect(stream.told).toEqual([
      { kind: 'CREATED', id: question.id },
      { kind: 'CREATED', id: answer.id },
    ]);
    await ann.graphql('mutation ($id: ID!) { resetChat(id: $id) { id } }', { id });
    expect((await stream.until(of(question.id))).map(({ kind }) => kind)).toEqual(['DELETED', 'DELETED']);
    await ann.delete(`/api/v1/chats/${id}`);
    await stream.over();
    expect(stream.code).toBeUndefined();
  });
});

describe('runsChanged', () => {
  it('tells the beginning and the end of runs to their user and to administrators', async () => {
    const { id: agentId } = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const { id: chatId } = await make.chat({ owner: ann, agentId });
    const [own, all, others] = await Promise.all([
      follow(ann, 'runsChanged', 'kind id node { status }'),
      follow(admin, 'runsChanged'),
      follow(bob, 'runsChanged'),
    ]);
    upstream.next({ text: ['Hello'] }, { text: ['Hello'] });
    await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi' });
    const told = await own.until(({ node }) => node?.status === 'COMPLETED');
    const runId = told[0]?.id;
    expect(told[0]).toMatchObject({ kind: 'CREATED', id: expect.stringMatching(/^run_/) });
    expect(told.slice(1).every(({ kind }) => kind === 'UPDATED')).toBe(true);
    expect((await all.next()).id).toBe(runId);
    const { id: ofBob } = await make.chat({ owner: bob, agentId });
    await bob.post(`/api/v1/chats/${ofBob}/messages`, { prompt: 'Hi' });
    expect((await others.next()).kind).toBe('CREATED');
    expect(others.told.map(({ id }) => id)).not.toContain(runId);
  });
});

describe('runsChanged of others', () => {
  const ask = async (who: Person, agentId: string): Promise<string> => {
    upstream.next({ text: ['Hello'] });
    const { id: chatId } = await make.chat({ owner: who, agentId });
    return (await who.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi' })).body.runId;
  };

  it('finds the runs of more agents than a statement takes, each once and in order', async () => {
    const { id: agentId } = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const ids = [await ask(ann, agentId), await ask(bob, agentId), await ask(ann, agentId)];
    const { live } = service.deps.storage.operations;
    const agentIds = [...Array.from({ length: 40_000 }, (_, n) => `ai_${n}`), agentId];
    const rule = { kind: 'run', reach: { orgId: organization.id, userId: ann.userId, agentIds } } as const;
    const asked = ({ id }: { readonly id: string }) => ids.includes(id);
    expect((await live.find(rule, ids)).map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect((await live.newest(rule, 1_000)).filter(asked)).toHaveLength(3);
    const changed = await live.changedSince(rule, new Date(0), 1_000);
    expect(changed.filter(asked)).toHaveLength(3);
    expect(changed.map(({ updatedAt }) => updatedAt.getTime())).toEqual(
      changed.map(({ updatedAt }) => updatedAt.getTime()).sort((a, b) => a - b),
    );
    expect(await live.changedSince(rule, new Date(0), 2)).toEqual(changed.slice(0, 2));
  });

  it('tells the runs of an agent to those who edit it, for as long as they do', async () => {
    const carl = await make.person({ organization });
    const { id: agentId } = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const stream = await follow(carl, 'runsChanged', 'kind id node { agentId userId }');
    const before = await ask(bob, agentId);
    // Changes of a quarter of a second are looked at together, under the rights of that moment.
    await stream.until(of(await ask(carl, agentId)));
    await patch(agentId, { editors: [{ id: carl.userId }] });
    const during = await ask(bob, agentId);
    const node = { agentId, userId: bob.userId };
    expect((await stream.until(of(during))).at(-1)).toEqual({ kind: 'CREATED', id: during, node });
    await patch(agentId, { editors: [] });
    const after = await ask(bob, agentId);
    const own = await ask(carl, agentId);
    await stream.until(of(own));
    expect(stream.told.map(({ id }) => id)).not.toContain(before);
    expect(stream.told.map(({ id }) => id)).not.toContain(after);
  });

  it('tells a run that is not stored once it is over, to the same people', async () => {
    const { id: agentId } = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const [own, edited, all, others] = await Promise.all([
      follow(bob, 'runsChanged', 'kind id node { isStored status kind }'),
      follow(ann, 'runsChanged'),
      follow(admin, 'runsChanged'),
      follow(await make.person({ organization }), 'runsChanged'),
    ]);
    upstream.next({ text: ['Hello'] });
    const { body } = await bob.post('/api/v1/chat/completions', { model: agentId, messages: [{ role: 'user', content: 'Hi' }] });
    const isIt = of(body.id);
    const node = { isStored: false, status: 'COMPLETED', kind: 'COMPLETION' };
    expect((await own.until(isIt)).at(-1)).toMatchObject({ id: body.id, node });
    await Promise.all([edited.until(isIt), all.until(isIt)]);
    expect(others.told).toEqual([]);
  });
});

describe('memoriesChanged', () => {
  it('tells what is remembered, replaced and forgotten of the caller', async () => {
    const stream = await follow(ann, 'memoriesChanged', 'kind id node { text }');
    const { body } = await ann.post('/api/v1/memories', { text: 'Likes tea', key: 'drink' });
    expect(await stream.next()).toEqual({ kind: 'CREATED', id: body.id, node: { text: 'Likes tea' } });
    await bob.post('/api/v1/memories', { text: 'Likes coffee' });
    await ann.post('/api/v1/memories', { text: 'Likes milk', key: 'drink' });
    expect(await stream.next()).toMatchObject({ kind: 'UPDATED', id: body.id, node: { text: 'Likes milk' } });
    await ann.delete('/api/v1/memories');
    expect(await stream.next()).toEqual({ kind: 'DELETED', id: body.id, node: null });
  });
});

describe('connectionsChanged', () => {
  it("tells the caller's own, and for administrators those of the organization", async () => {
    const own = await follow(ann, 'connectionsChanged');
    const all = await follow(admin, 'connectionsChanged(ofOrganization: true)');
    const others = await follow(bob, 'connectionsChanged(ofOrganization: true)');
    await others.over();
    expect(others.code).toBe('FORBIDDEN');
    const body = { provider: 'WIKI', accountName: 'Wiki', accessToken: 'token-of-the-wiki' };
    const { body: made } = await ann.post('/api/v1/connections', body);
    expect(await own.next()).toEqual({ kind: 'CREATED', id: made.id });
    expect(await all.next()).toEqual({ kind: 'CREATED', id: made.id });
    await ann.patch(`/api/v1/connections/${made.id}`, { accountName: 'The wiki' });
    expect(await own.next()).toEqual({ kind: 'UPDATED', id: made.id });
    await ann.delete(`/api/v1/connections/${made.id}`);
    expect(await own.next()).toEqual({ kind: 'DELETED', id: made.id });
  });
});

describe('rights that end', () => {
  it('a change of the role ends the stream, and so does the end of the key', async () => {
    const carl = await make.person({ organization, role: 'ADMIN' });
    const dora = await make.person({ organization });
    const [demoted, ended] = await Promise.all([follow(carl, 'runsChanged'), follow(dora, 'agentsChanged')]);
    const membershipOf = async ({ userId }: Person) =>
      (await admin.get(`/api/v1/admin/memberships?userId=${userId}`)).body.data[0].id;
    const reply = await admin.patch(`/api/v1/admin/memberships/${await membershipOf(carl)}`, { role: 'MEMBER' });
    expect(reply.status).toBe(200);
    await demoted.over();
    expect(demoted.code).toBe('RIGHTS_CHANGED');
    await admin.delete(`/api/v1/admin/memberships/${await membershipOf(dora)}`);
    await ended.over();
    expect(ended.code).toBe('INVALID_API_KEY');
    await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    expect(ended.told).toEqual([]);
  });
});

describe('after a break', () => {
  it('a new subscription begins with what changed since the cursor', async () => {
    const { id } = await make.agent({ owner: ann });
    const { id: other } = await make.agent({ owner: ann });
    const first = await follow(ann, 'agentsChanged', 'kind id cursor');
    await patch(other, { name: 'Seen' });
    const { cursor } = await first.next();
    first.stop();
    await patch(id, { name: 'Missed' });
    const { id: made } = await make.agent({ owner: ann });
    await ann.delete(`/api/v1/ais/${other}`);
    const again = await follow(ann, `agentsChanged(after: "${cursor}")`);
    await again.until(of(made));
    await eventually(() => {
      const kinds = new Map(again.told.map((change) => [change.id, change.kind]));
      expect(kinds.get(id)).toMatch(/UPDATED|CREATED/);
      expect(kinds.get(made)).toBe('CREATED');
      expect(kinds.get(other)).toBe('DELETED');
    });
  });

  it('chats and messages are told again too', async () => {
    const { id: agentId } = await make.agent({ owner: ann });
    const { id: chatId } = await make.chat({ owner: ann, agentId });
    const first = await follow(ann, 'chatsChanged', 'kind id cursor');
    await ann.patch(`/api/v1/chats/${chatId}`, { name: 'Seen' });
    const { cursor } = await first.next();
    first.stop();
    upstream.next({ text: ['Hello'] });
    await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi' });
    const chats = await follow(ann, `chatsChanged(after: "${cursor}")`);
    await chats.until(of(chatId));
    const messages = await follow(ann, `messagesChanged(chatId: "${chatId}", after: "${cursor}")`);
    await eventually(() => expect(messages.told).toHaveLength(2));
  });

  it('refuses what is no cursor', async () => {
    const stream = await follow(ann, 'agentsChanged(after: "x")');
    await stream.over();
    expect(stream.code).toBe('INVALID_VALUE');
  });
});
