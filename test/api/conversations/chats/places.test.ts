import { describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', {});

const organization = await make.organization();
const ann = await make.person({ organization });
const admin = await make.person({ organization, role: 'ADMIN' });
const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION', chatLogsVisible: true });

const newChat = async (name: string, owner: Person = ann): Promise<string> => {
  const { id } = await make.chat({ owner, agentId: agent.id });
  await owner.patch(`/api/v1/chats/${id}`, { name });
  return id;
};
const list = async (query: string, who: Person = ann): Promise<readonly string[]> =>
  (await who.get(`/api/v1/chats${query}`)).body.data.map(({ id }: { id: string }) => id);
const change = async (input: object, who: Person = ann) => {
  const document =
    'mutation ($input: ChangeChatsInput!) { changeChats(input: $input) { results { chatId chat { isArchived tags } error { code message } } } }';
  const { data, errors } = await who.graphql(document, { input });
  return { results: data?.changeChats?.results, error: errors?.[0] };
};
const placeOf = async (id: string) => (await ann.get(`/api/v1/chats/${id}/place`)).body;

describe('an archived chat', () => {
  it('is out of the list and the searches, and keeps its place when it comes back', async () => {
    const older = await newChat('Heron older');
    const chat = await newChat('Heron');
    const newer = await newChat('Heron newer');
    expect((await ann.patch(`/api/v1/chats/${chat}`, { isArchived: true })).status).toBe(200);
    expect(await placeOf(chat)).toEqual({
      id: chat,
      isArchived: true,
      archivedAt: expect.any(String),
      projectId: null,
      tags: [],
    });
    expect(await list('?search=heron')).toEqual([newer, older]);
    expect(await list('?search=heron&archive=only')).toEqual([chat]);
    expect(await list('?search=heron&archive=with')).toEqual([newer, chat, older]);
    expect(await list('')).not.toContain(chat);
    expect(await list('?archive=only')).toEqual([chat]);
    const { data } = await ann.graphql('query { search(query: "Heron", kinds: [CHAT]) { title } }');
    expect(data.search.map(({ title }: { title: string }) => title)).toEqual(['Heron newer', 'Heron older']);
    expect((await ann.get(`/api/v1/chats/${chat}`)).status).toBe(200);
    await ann.patch(`/api/v1/chats/${chat}`, { isArchived: false });
    expect((await list('?archive=with')).slice(0, 3)).toEqual([newer, chat, older]);
  });

  it('stays in the logs that editors of the agent read', async () => {
    const chat = await newChat('Logged', await make.person({ organization }));
    const own = await newChat('Own');
    const { data } = await ann.graphql(
      'query ($id: ID!) { chats(agentId: $id, first: 100) { nodes { id } } tagged: chats(agentId: $id, tag: "x") { nodes { id } } }',
      { id: agent.id },
    );
    expect(data.chats.nodes.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining([chat, own]));
    expect(data.tagged.nodes).toEqual([]);
  });
});

describe('tags', () => {
  it('are cleaned, filter the list, and are counted', async () => {
    const [one, two] = [await newChat('One'), await newChat('Two')];
    await ann.patch(`/api/v1/chats/${one}`, { tags: [' travel ', 'work', 'travel'] });
    expect((await placeOf(one)).tags).toEqual(['travel', 'work']);
    await change({ chatIds: [one, two], addTags: ['rome'], removeTags: ['work'] });
    expect((await placeOf(one)).tags).toEqual(['travel', 'rome']);
    expect(await list('?tag=rome')).toEqual([two, one]);
    expect(await list('?tag=rome&search=two')).toEqual([two]);
    expect(await list('?tag=work')).toEqual([]);
    expect((await ann.get('/api/v1/chat-tags')).body.data).toEqual([
      { name: 'rome', chatCount: 2 },
      { name: 'travel', chatCount: 1 },
    ]);
    expect((await admin.get('/api/v1/chat-tags')).body.data).toEqual([]);
    expect((await ann.patch(`/api/v1/chats/${one}`, { tags: [] })).status).toBe(200);
    expect((await placeOf(one)).tags).toEqual([]);
  });

  it.each([
    [{ tags: ['x', ' '] }, 'tags[1]'],
    [{ tags: ['x'.repeat(51)] }, 'tags[0]'],
    [{ tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }, 'tags'],
  ])('refuses %j', async (body, param) => {
    const chat = await newChat('Refused');
    const reply = await ann.patch(`/api/v1/chats/${chat}`, body);
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 'invalid_value' } } });
    expect(JSON.stringify(reply.body)).toContain(param);
  });
});

describe('several chats', () => {
  it('change together, and each says what became of it', async () => {
    const bob = await make.person({ organization });
    const [own, foreign] = [await newChat('Mine'), await newChat('Theirs', bob)];
    const missing = 'chat_00000000000000000000000000';
    const { results } = await change({ chatIds: [own, foreign, missing, own], isArchived: true, addTags: ['done'] });
    expect(results).toEqual([
      { chatId: own, chat: { isArchived: true, tags: ['done'] }, error: null },
      // An editor of the agent reads it, and does not change it.
      { chatId: foreign, chat: null, error: { code: 'FORBIDDEN', message: expect.any(String) } },
      { chatId: missing, chat: null, error: { code: 'NOT_FOUND', message: 'There is no such chat' } },
    ]);
    const reply = await ann.post('/api/v1/chats/changes', { chatIds: [own, missing], isArchived: false });
    expect(reply).toEqual(
      expect.objectContaining({
        status: 200,
        body: { results: [{ chatId: own, error: null }, expect.objectContaining({ chatId: missing })] },
      }),
    );
  });

  it('are deleted one by one, and the audit log names them', async () => {
    const chats = [await newChat('A'), await newChat('B')];
    const foreign = await newChat('C', await make.person({ organization }));
    const { results } = await change({ chatIds: [...chats, foreign], isDeleted: true });
    expect(results.map(({ error }: { error: { code: string } | null }) => error?.code ?? null)).toEqual([
      null,
      null,
      'FORBIDDEN',
    ]);
    for (const id of chats) expect((await ann.get(`/api/v1/chats/${id}`)).status).toBe(404);
    const { data } = await admin.graphql(
      'query { auditLog(filter: { action: "changeChats" }, first: 1) { nodes { targetIds outcome changes { member values } } } }',
    );
    expect(data.auditLog.nodes[0]).toMatchObject({ targetIds: expect.arrayContaining(chats), outcome: 'SUCCEEDED' });
  });

  it('keep to 20 tags each', async () => {
    const chat = await newChat('Full');
    await ann.patch(`/api/v1/chats/${chat}`, { tags: Array.from({ length: 20 }, (_, index) => `tag ${index}`) });
    const { results } = await change({ chatIds: [chat], addTags: ['one more'] });
    expect(results[0]).toMatchObject({ chat: null, error: { code: 'INVALID_VALUE' } });
    expect((await change({ chatIds: [chat], addTags: ['one more'], removeTags: ['tag 0'] })).results[0].error).toBeNull();
  });

  it.each([
    ['none', { chatIds: [], isArchived: true }, 'chatIds'],
    ['too many', { chatIds: Array.from({ length: 101 }, (_, index) => `chat_${index}`), isArchived: true }, 'chatIds'],
    ['no change', { chatIds: ['chat_1'] }, 'isArchived'],
    ['a deletion beside a change', { chatIds: ['chat_1'], isDeleted: true, addTags: ['x'] }, 'isDeleted'],
  ])('are refused: %s', async (_case, input, named) => {
    const { error } = await change(input);
    expect(JSON.stringify(error)).toContain(named);
  });
});

it('reads lists by their indexes', async () => {
  const { pool } = service.deps.storage.db;
  const other = await make.person({ organization });
  await pool.query(
    `insert into chats (id, "updatedAt", "orgId", "userId", name, "archivedAt", tags)
     select 'chat_' || lpad(i::text, 26, '0'), now() - interval '1 second' * i, $1, $2, 'Chat ' || i,
       case when i <= 19000 then now() end, case when i % 1000 = 0 then array['rare'] else '{}' end
     from generate_series(1, 20000) i`,
    [other.orgId, other.userId],
  );
  await pool.query('vacuum analyze chats');
  const buffers = async (condition: string) => {
    const { rows } = await pool.query(
      `explain (analyze, buffers, format json) select id from chats where "userId" = $1 and "orgId" = $2 and "deletedAt" is null and ${condition}
       order by "updatedAt" desc, id desc limit 21`,
      [other.userId, other.orgId],
    );
    return rows[0]['QUERY PLAN'][0].Plan['Shared Hit Blocks'] + rows[0]['QUERY PLAN'][0].Plan['Shared Read Blocks'];
  };
  expect(await buffers('"archivedAt" is null')).toBeLessThan(100);
  expect(await buffers('"archivedAt" is not null')).toBeLessThan(100);
  expect(await buffers(`tags @> array['rare']`)).toBeLessThan(100);
});
