import { describe, expect, it } from 'vitest';
import { follow } from '../../../support/apis/live.ts';
import { zip } from '../../../support/knowledge/zip.ts';
import type { Person } from '../../../support/make.ts';
import { chatGptConversation, claudeConversation, openWebUiChat } from '../../../support/operations/chat-exports.ts';
import { chatsOf, endedImport, importFile, sendImport } from '../../../support/operations/chat-imports.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { sampled } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('model');
const ann = await make.person();
const agentId = (await make.agent({ owner: ann, modelId: 'openai/test-model', visibility: 'ORGANIZATION' })).id;

const newcomer = () => make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
const codeOf = ({ errors }: { readonly errors?: readonly { readonly extensions: { readonly code: string } }[] | undefined }) =>
  errors?.[0]?.extensions.code;
const undo = (who: Person, id: string, includesContinued = false) =>
  who.graphql('mutation ($id: ID!, $all: Boolean!) { undoChatImport(id: $id, includesContinued: $all) { status } }', {
    id,
    all: includesContinued,
  });
const cancel = (who: Person, id: string) => who.graphql('mutation ($id: ID!) { cancelChatImport(id: $id) { status } }', { id });

it('a file is imported, followed and undone over REST', async () => {
  const person = await newcomer();
  const form = new FormData();
  form.append('aiId', agentId);
  form.append('file', new Blob([JSON.stringify([claudeConversation('a', 'Rome')])], { type: 'application/json' }), 'export.json');
  const made = await person.post('/api/v1/chat-imports', form);
  expect(made.body, JSON.stringify(made.body)).toMatchObject({ filename: 'export.json', agentId });
  const path = `/api/v1/chat-imports/${made.body.id}`;
  await eventually(async () => expect((await person.get(path)).body).toMatchObject({ status: 'DONE', importedCount: 1 }));
  expect((await person.get('/api/v1/chat-imports')).body.data).toMatchObject([{ id: made.body.id, format: 'CLAUDE' }]);
  expect((await ann.get(path)).status).toBe(404);
  expect((await person.post(`${path}/cancel`, {})).status).toBe(409);
  expect((await person.post(`${path}/undo`, {})).status).toBe(200);
  await eventually(async () => expect((await person.get(path)).body.status).toBe('UNDONE'));
  expect(await chatsOf(person)).toEqual([]);
});

describe('a file that is imported again', () => {
  it('brings no chat twice, and says so', async () => {
    const person = await newcomer();
    const file = [claudeConversation('a', 'A'), claudeConversation('b', 'B')];
    expect(await importFile(person, agentId, file)).toMatchObject({ importedCount: 2, existingCount: 0 });
    expect(await importFile(person, agentId, file)).toMatchObject({
      importedCount: 0,
      existingCount: 2,
      messageCount: 0,
      omissions: [],
    });
    expect(await chatsOf(person)).toHaveLength(2);
  });

  it('brings a chat anew that was deleted since', async () => {
    const person = await newcomer();
    await importFile(person, agentId, [claudeConversation('a')]);
    const [{ id }] = await chatsOf(person);
    await person.delete(`/api/v1/chats/${id}`);
    expect(await importFile(person, agentId, [claudeConversation('a')])).toMatchObject({ importedCount: 1, existingCount: 0 });
  });

  it('brings a chat once that is in it twice', async () => {
    const person = await newcomer();
    expect(await importFile(person, agentId, [claudeConversation('a'), claudeConversation('a')])).toMatchObject({
      importedCount: 1,
      existingCount: 1,
    });
  });

  it('brings the chats of one person beside those of another', async () => {
    const [one, other] = [await newcomer(), await newcomer()];
    await importFile(one, agentId, [claudeConversation('a')]);
    expect(await importFile(other, agentId, [claudeConversation('a')])).toMatchObject({ importedCount: 1 });
  });
});

describe('undo', () => {
  it('deletes the chats that the import brought, and no others', async () => {
    const person = await newcomer();
    await importFile(person, agentId, [claudeConversation('before', 'Before')]);
    const { id } = await importFile(person, agentId, [claudeConversation('before'), claudeConversation('a')]);
    expect((await undo(person, id)).data.undoChatImport.status).toBe('UNDOING');
    expect(await endedImport(person, id)).toMatchObject({ status: 'UNDONE', retainedCount: 0 });
    expect((await chatsOf(person)).map(({ name }: { name: string }) => name)).toEqual(['Before']);
  });

  it('leaves chats that were gone on with, unless they are included', async () => {
    const person = await newcomer();
    const { id } = await importFile(person, agentId, [claudeConversation('a', 'Gone on'), claudeConversation('b')]);
    const chat = (await chatsOf(person)).find(({ name }: { name: string }) => name === 'Gone on');
    expect((await person.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'More' })).status).toBe(200);
    await undo(person, id);
    expect(await endedImport(person, id)).toMatchObject({ status: 'UNDONE', retainedCount: 1 });
    expect(await chatsOf(person)).toMatchObject([{ name: 'Gone on' }]);
    await undo(person, id, true);
    expect(await endedImport(person, id)).toMatchObject({ status: 'UNDONE', retainedCount: 0 });
    expect(await chatsOf(person)).toEqual([]);
  });

  it('is refused while a legal hold keeps the chats', async () => {
    const organization = await make.organization();
    const [admin, person] = [await make.person({ organization, role: 'ADMIN' }), await make.person({ organization })];
    const { id: ownAgent } = await make.agent({ owner: person, modelId: 'openai/test-model' });
    const { id } = await importFile(person, ownAgent, [claudeConversation('a')]);
    const holding = 'mutation ($input: SetLegalHoldInput!) { setLegalHold(input: $input) { id } }';
    await admin.graphql(holding, { input: { userId: person.userId, reason: 'A claim' } });
    expect(codeOf(await undo(person, id))).toBe('CONFLICT');
    expect(await chatsOf(person)).toHaveLength(1);
  });
});

it('is cancelled between two chats; what it brought stays', async () => {
  const person = await newcomer();
  const many = Array.from({ length: 400 }, (_, index) => claudeConversation(`c${index}`, `Chat ${index}`));
  const { data } = await sendImport(person, agentId, many);
  const { id } = data.importChats;
  expect((await cancel(person, id)).data.cancelChatImport.status).toBe('CANCELLED');
  const cancelled = await endedImport(person, id);
  expect(cancelled.importedCount).toBeLessThan(400);
  expect(codeOf(await cancel(person, id))).toBe('CONFLICT');
  await undo(person, id);
  await endedImport(person, id);
  expect(await chatsOf(person)).toEqual([]);
});

it('tells how far it is to who follows it', async () => {
  const person = await newcomer();
  const stream = await follow(person, 'chatImportsChanged', 'kind id node { status importedCount }');
  const { id } = await importFile(person, agentId, [claudeConversation('a'), claudeConversation('b')]);
  const changes = await stream.until((change) => change.id === id && change.node?.status === 'DONE');
  expect(changes.at(-1)).toMatchObject({ node: { status: 'DONE', importedCount: 2 } });
  stream.stop();
});

it('is seen by its person only', async () => {
  const [person, other] = [await newcomer(), await newcomer()];
  const { id } = await importFile(person, agentId, [claudeConversation('a')]);
  const query = 'query ($id: ID!) { chatImport(id: $id) { id } chatImports { nodes { id } } }';
  expect((await other.graphql(query, { id })).data).toEqual({ chatImport: null, chatImports: { nodes: [] } });
  expect((await person.graphql(query, { id })).data).toEqual({ chatImport: { id }, chatImports: { nodes: [{ id }] } });
  expect(codeOf(await undo(other, id))).toBe('NOT_FOUND');
  expect(codeOf(await cancel(other, id))).toBe('NOT_FOUND');
});

it('leaves out chats that the organization would delete at once for their age', async () => {
  const organization = await make.organization();
  const [admin, person] = [await make.person({ organization, role: 'ADMIN' }), await make.person({ organization })];
  const { id: ownAgent } = await make.agent({ owner: person, modelId: 'openai/test-model' });
  await admin.graphql('mutation { updateDataRetention(input: { chatDays: 30 }) { chats { days } } }');
  const done = await importFile(person, ownAgent, [claudeConversation('old', 'An old one')]);
  expect(done).toMatchObject({
    status: 'DONE',
    importedCount: 0,
    readCount: 1,
    omissions: [{ kind: 'OLD_CHATS', count: 1, chatNames: ['An old one'] }],
  });
});

describe('a file that is no export', () => {
  const broken = [
    ['no JSON', 'Hello', /not JSON/],
    ['a list of nothing', [], /no chat in the file/],
    ['other JSON', { a: 1 }, /No chat in the file could be read.*ChatGPT, Claude, LibreChat, Open WebUI/],
    ['cut short', JSON.stringify([claudeConversation('a')]).slice(0, -20), /not downloaded to its end/],
    ['a damaged archive', Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(100)]), /archive is damaged/],
    ['an archive without JSON', zip({ 'a.txt': 'x' }), /no chat in the file/],
    [
      'an archive that expands a thousandfold',
      zip({ 'conversations.json': `[${' '.repeat(40_000_000)}]` }),
      /200 times its size/,
    ],
  ] as const;
  it.each(sampled(broken))('fails with a sentence: %s', async (_what, content, sentence) => {
    const person = await newcomer();
    expect(await importFile(person, agentId, content)).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(sentence),
      importedCount: 0,
    });
  });

  it('is refused at once when it is empty, or larger than the service takes', async () => {
    const small = await withService('plain', { env: { UPLOAD_MAX_BYTES: '2000000' } });
    const person = await small.make.person();
    const { id } = await small.make.agent({ owner: person });
    expect(codeOf(await sendImport(person, id, ''))).toBe('INVALID_VALUE');
    expect(codeOf(await sendImport(person, id, new Uint8Array(2_000_001)))).toBe('REQUEST_TOO_LARGE');
  });
});

it('fails when its agent is deleted, and comes with another agent once it is undone', async () => {
  const person = await newcomer();
  const { id: goneId } = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
  const many = Array.from({ length: 400 }, (_, index) => claudeConversation(`g${index}`, `Chat ${index}`));
  const { data } = await sendImport(person, goneId, many);
  const { id } = data.importChats;
  await ann.delete(`/api/v1/ais/${goneId}`);
  const failed = await endedImport(person, id);
  expect(failed).toMatchObject({ status: 'FAILED', error: expect.stringMatching(/^The agent was deleted/) });
  expect(failed.importedCount).toBeLessThan(400);
  await undo(person, id);
  await endedImport(person, id);
  expect(await importFile(person, agentId, many.slice(0, 2))).toMatchObject({ importedCount: 2, existingCount: 0 });
});

it('ends when its person leaves the organization, so that an erasure leaves nothing', async () => {
  const person = await newcomer();
  const many = Array.from({ length: 400 }, (_, index) => claudeConversation(`l${index}`, `Chat ${index}`));
  const { data } = await sendImport(person, agentId, many);
  const { prisma } = service.deps.storage.db;
  await prisma.membership.deleteMany({ where: { userId: person.userId } });
  await eventually(async () => {
    const row = await prisma.chatImport.findUnique({ where: { id: data.importChats.id } });
    expect(row).toMatchObject({ status: 'FAILED', error: expect.stringMatching(/^You were no member/) });
  });
  expect(await prisma.chat.count({ where: { userId: person.userId } })).toBeLessThan(400);
});

it('names an agent that its person may use', async () => {
  const hidden = await make.agent({ owner: ann });
  expect(codeOf(await sendImport(await newcomer(), hidden.id, [claudeConversation('a')]))).toBe('NOT_FOUND');
});

it('keeps the file no longer than it is read', async () => {
  const person = await newcomer();
  const { id } = await importFile(person, agentId, [claudeConversation('a')]);
  const read = () => service.deps.storage.blobs.read(`${person.orgId}/chat-imports/${id}`);
  await eventually(() => expect(read()).rejects.toThrow());
});

describe('a chat that was exported as a tree', () => {
  const tree = (who: Person, chatId: string) =>
    who.graphql('query ($id: ID!) { chatTree(chatId: $id) { filename contentType content } }', { id: chatId });
  /** Without ids, which are new in each chat. */
  const withoutIds = (text: string) => {
    const { id: _id, agent: _agent, messages, ...chat } = JSON.parse(text);
    const places = new Map(messages.map(({ id }: { id: string }, index: number) => [id, index]));
    return {
      ...chat,
      messages: messages.map(({ id: _message, parentId, ...rest }: { id: string; parentId: string }) => ({
        ...rest,
        parent: places.get(parentId) ?? null,
      })),
    };
  };

  it.each([
    ['ChatGPT', chatGptConversation('t')],
    ['Open WebUI', openWebUiChat('t')],
  ])('is the same chat when it is imported: one of %s', async (_product, chat) => {
    const [person, other] = [await newcomer(), await newcomer()];
    await importFile(person, agentId, [chat]);
    const [{ id }] = await chatsOf(person);
    const { data } = await tree(person, id);
    expect(data.chatTree).toMatchObject({
      filename: 'Deploying the cluster.chat.json',
      contentType: 'application/json; charset=utf-8',
    });
    expect(await importFile(other, agentId, data.chatTree.content)).toMatchObject({
      format: 'PARLEY',
      importedCount: 1,
      messageCount: 4,
      omissions: [],
    });
    const [copy] = await chatsOf(other);
    expect(withoutIds((await tree(other, copy.id)).data.chatTree.content)).toEqual(withoutIds(data.chatTree.content));
    expect(await importFile(person, agentId, data.chatTree.content)).toMatchObject({ importedCount: 0, existingCount: 1 });
  });

  it('is read also in the form of the REST API, without branches', async () => {
    const [person, other] = [await newcomer(), await newcomer()];
    await importFile(person, agentId, [chatGptConversation('r')]);
    const [{ id }] = await chatsOf(person);
    const { body } = await person.get(`/api/v1/chats/${id}/export?format=json`);
    expect(await importFile(other, agentId, body)).toMatchObject({ format: 'PARLEY', importedCount: 1, messageCount: 3 });
  });

  it('is not shown to others', async () => {
    const person = await newcomer();
    await importFile(person, agentId, [chatGptConversation('r')]);
    const [{ id }] = await chatsOf(person);
    expect(codeOf(await tree(await newcomer(), id))).toBe('NOT_FOUND');
  });
});
