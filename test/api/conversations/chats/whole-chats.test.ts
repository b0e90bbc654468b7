import { describe, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model');

const organization = await make.organization();
const ann = await make.person({ organization });
const cleo = await make.person({ organization });
const admin = await make.person({ organization, role: 'ADMIN' });
const bob = await make.person();
const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION', instructions: 'Be brief.' });

const newChat = (owner: TestClient = ann, agentId = agent.id) => make.chat({ owner, agentId });
const pathOf = (chat: { id: string }) => `/api/v1/chats/${chat.id}`;
const say = async (who: TestClient, chat: { id: string }, prompt: string, more: object = {}) => {
  const reply = await who.post(`${pathOf(chat)}/messages`, { prompt, ...more });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body;
};
const messagesOf = async (who: TestClient, chat: { id: string }) => (await who.get(pathOf(chat))).body.messages;
const texts = (messages: readonly { role: string; content: string }[]) => messages.map(({ role, content }) => [role, content]);
const countOf = async (agentId: string) => (await ann.get(`/api/v1/ais/${agentId}`)).body.messageCount;
const tokensOf = async (who: Person) =>
  (
    await service.deps.storage.db.pool.query(
      'select coalesce(sum("inputTokens" + "outputTokens"), 0)::int as tokens, count(*)::int as calls from usage_entries where "userId" = $1',
      [who.userId],
    )
  ).rows[0];

describe('duplicating a chat', () => {
  it('copies messages, name and AI into a chat of its own', async () => {
    const own = await make.agent({ owner: ann });
    const chat = await newChat(ann, own.id);
    await say(ann, chat, 'What is up?');
    await ann.patch(pathOf(chat), { name: 'Sky', pinPosition: 3 });
    const { status, body } = await ann.post(`${pathOf(chat)}/duplicate`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'Sky', pinPosition: 0, userId: ann.userId, ai: { id: own.id } });
    const original = await messagesOf(ann, chat);
    expect(texts(body.messages)).toEqual(texts(original));
    expect(body.id).not.toBe(chat.id);
    expect(body.messages[0].id).not.toBe(original[0].id);
    const ids = body.messages.map(({ id }: { id: string }) => id);
    expect(ids.toSorted()).toEqual(ids);
    await eventually(async () => expect(await countOf(own.id)).toBe(4));
    await say(ann, body, 'And now?');
    expect(await messagesOf(ann, chat)).toHaveLength(2);
    expect(await messagesOf(ann, body)).toHaveLength(4);
  });
});

describe('resetting a chat', () => {
  it('takes away what was said and keeps the chat', async () => {
    const own = await make.agent({ owner: ann });
    const chat = await newChat(ann, own.id);
    const { runId } = await say(ann, chat, 'Remember 42');
    await ann.patch(pathOf(chat), { name: 'Kept', pinPosition: 1 });
    const { status, body } = await ann.post(`${pathOf(chat)}/reset`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: chat.id, name: 'Kept', pinPosition: 1, ai: { id: own.id }, messages: [] });
    await eventually(async () => expect(await countOf(own.id)).toBe(0));
    expect(await ann.get(`${pathOf(chat)}/runs/${runId}/events`)).toMatchObject({ status: 404 });
    await say(ann, chat, 'Hi again');
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('Remember 42');
  });

  it('is refused while a run answers', async () => {
    upstream.next({ hangAtByte: 150 });
    const chat = await newChat();
    const frames = ann.sse('POST', `${pathOf(chat)}/messages`, { prompt: 'Hi', stream: true });
    const first = await frames.next();
    const runId = JSON.parse(first.value.data).runId;
    await upstream.until(({ openStreams }) => openStreams === 1);
    expect(await ann.post(`${pathOf(chat)}/reset`)).toMatchObject({ status: 409, body: { error: { code: 'run_active' } } });
    await ann.post(`${pathOf(chat)}/runs/${runId}/cancel`);
    await frames.return(undefined);
    expect(await ann.post(`${pathOf(chat)}/reset`)).toMatchObject({ status: 200, body: { messages: [] } });
  });
});

describe('searching chats', () => {
  it('finds own chats by name and by what was said, in any case, and takes signs literally', async () => {
    const dora = await make.person({ organization });
    const [named, said, other] = [await newChat(dora), await newChat(dora), await newChat(dora)];
    await dora.patch(pathOf(named), { name: 'Zebra 100%' });
    await say(dora, said, 'Tell me of zebras');
    await say(dora, other, 'Tell me of lions');
    const found = async (who: TestClient, search: string) =>
      (await who.get(`/api/v1/chats?search=${encodeURIComponent(search)}`)).body.data.map(({ id }: { id: string }) => id).sort();
    expect(await found(dora, 'zEBra')).toEqual([named.id, said.id].sort());
    expect(await found(dora, '100%')).toEqual([named.id]);
    expect(await found(dora, '1_0')).toEqual([]);
    expect(await found(dora, '  ')).toHaveLength(3);
    expect(await found(cleo, 'zebra')).toEqual([]);
    expect(await found(admin, 'zebra')).toEqual([]);
    const first = await dora.get('/api/v1/chats?search=Tell&limit=1');
    const second = await dora.get(`/api/v1/chats?search=Tell&limit=1&cursor=${first.body.nextCursor}`);
    expect([...first.body.data, ...second.body.data].map(({ id }) => id).sort()).toEqual([said.id, other.id].sort());
    expect(await dora.get(`/api/v1/chats?search=${'a'.repeat(201)}`)).toMatchObject({
      status: 400,
      body: { error: { param: 'search' } },
    });
  });
});

describe('summarizing a chat', () => {
  it('asks the model of the AI, charges the ledger and keeps the summary with the chat', async () => {
    const dora = await make.person({ organization });
    const chat = await newChat(dora);
    expect(await dora.post(`${pathOf(chat)}/summarize`)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    await say(dora, chat, 'Paris is nice');
    const { status, body } = await dora.post(`${pathOf(chat)}/summarize`);
    expect([status, body]).toEqual([200, { summary: 'Hello from upstream' }]);
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('Paris is nice');
    const { data } = await dora.graphql('query ($id: ID!) { chat(id: $id) { summary } }', { id: chat.id });
    expect(data.chat.summary).toBe('Hello from upstream');
    await eventually(async () => expect((await tokensOf(dora)).calls).toBe(2));
  });

  it('works on the built-in model', async () => {
    const own = await make.agent({ owner: ann, modelId: 'parley/offline' });
    const chat = await newChat(ann, own.id);
    await say(ann, chat, 'The launch is on 5 March in Lisbon. Anton brings the keys.');
    const { status, body } = await ann.post(`${pathOf(chat)}/summarize`);
    expect(status).toBe(200);
    expect(body.summary).toMatch(/launch is on 5 March|Anton brings the keys/);
  });
});

it.each(['summarize', 'compress'])('%s says so where the model of the AI is there no more', async (what) => {
  const own = await make.agent({ owner: ann, modelId: 'parley/offline' });
  const chat = await newChat(ann, own.id);
  for (const prompt of ['One', 'Two', 'Three']) await say(ann, chat, prompt);
  await service.deps.storage.db.pool.query(`update agents set "modelId" = 'gone/model' where id = $1`, [own.id]);
  service.deps.storage.signals.publish('agent-changed', own.id);
  expect(await ann.post(`${pathOf(chat)}/${what}`)).toMatchObject({
    status: 404,
    body: { error: { code: 'model_not_found', message: 'The model of this AI is not available' } },
  });
});

describe('compressing a chat', () => {
  it('gives models a summary in place of older turns, keeps the transcript, and is done once', async () => {
    const chat = await newChat();
    for (const prompt of ['First: the code is 4711', 'Second thing', 'Third thing', 'Fourth thing']) await say(ann, chat, prompt);
    upstream.reset();
    const { status, body } = await ann.post(`${pathOf(chat)}/compress`);
    expect(status).toBe(200);
    expect(body).toEqual({ summary: 'Hello from upstream', compressedCount: 4, keptCount: 4 });
    expect(upstream.requests).toHaveLength(1);
    expect(JSON.stringify(upstream.requests[0]?.body)).toContain('4711');
    expect((await ann.post(`${pathOf(chat)}/compress`)).body).toEqual(body);
    expect(upstream.requests).toHaveLength(1);
    await say(ann, chat, 'Fifth thing');
    const sent = JSON.stringify(upstream.requests.at(-1)?.body);
    expect(sent).not.toContain('4711');
    expect(sent).toContain('Summary of the earlier turns');
    expect(sent).toContain('Third thing');
    expect(await messagesOf(ann, chat)).toHaveLength(10);
    const copy = (await ann.post(`${pathOf(chat)}/duplicate`)).body;
    await say(ann, copy, 'Sixth thing');
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('4711');
  });

  it('works on the built-in model, which then answers from the summary', async () => {
    const own = await make.agent({ owner: ann, modelId: 'parley/offline' });
    const chat = await newChat(ann, own.id);
    for (const prompt of [
      'The keeper of the lighthouse is called Ingrid.',
      'Good to know.',
      'It rains today.',
      'And tomorrow too.',
    ])
      await say(ann, chat, prompt);
    const { body } = await ann.post(`${pathOf(chat)}/compress`);
    expect(body.summary).toContain('Ingrid');
    expect((await say(ann, chat, 'What is the keeper of the lighthouse called?')).message.content).toContain('Ingrid');
  });

  it('does nothing to a short chat', async () => {
    const chat = await newChat();
    await say(ann, chat, 'Only one');
    upstream.reset();
    expect((await ann.post(`${pathOf(chat)}/compress`)).body).toEqual({ summary: null, compressedCount: 0, keptCount: 2 });
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('exporting a chat', () => {
  it('is a file to save, in both formats, without what only models are given', async () => {
    const chat = await newChat();
    await say(ann, chat, 'Hello <b>there</b>');
    await ann.patch(pathOf(chat), { name: 'A/B "test"' });
    await service.deps.storage.db.pool.query(
      `insert into messages (id, "updatedAt", "chatId", ordinal, role, content, "isHidden") values ('msg_hidden', now(), $1, 99, 'system', 'HIDDEN WORDS', true)`,
      [chat.id],
    );
    const markdown = await ann.get(`${pathOf(chat)}/export`);
    expect(markdown.status).toBe(200);
    expect(markdown.headers.get('content-disposition')).toMatch(/^attachment; filename="A B test.*\.md"/);
    expect(markdown.headers.get('x-content-type-options')).toBe('nosniff');
    expect(markdown.headers.get('content-type')).toMatch(/^text\/markdown/);
    expect(markdown.body).toContain('Hello <b>there</b>');
    expect(markdown.body).toContain('Hello from upstream');
    const json = await ann.get(`${pathOf(chat)}/export?format=json`);
    expect(json.body).toMatchObject({ id: chat.id, messages: [{ role: 'user' }, { role: 'assistant' }] });
    expect(JSON.stringify([markdown.body, json.body])).not.toMatch(/HIDDEN WORDS|Be brief/);
    expect(await ann.get(`${pathOf(chat)}/export?format=pdf`)).toMatchObject({
      status: 400,
      body: { error: { param: 'format' } },
    });
    const { data } = await ann.graphql('query ($id: ID!) { chatExport(chatId: $id, format: JSON) { filename content } }', {
      id: chat.id,
    });
    expect(JSON.parse(data.chatExport.content).id).toBe(chat.id);
  });
});

describe('who may do it', () => {
  it.each([
    ['post', 'duplicate'],
    ['post', 'reset'],
    ['post', 'summarize'],
    ['post', 'compress'],
  ])('%s %s: the user of the chat alone; readers of its log are refused, others find nothing', async (method, action) => {
    const shown = await make.agent({ owner: ann, visibility: 'ORGANIZATION', chatLogsVisible: true });
    const [hidden, open] = [await newChat(cleo), await newChat(cleo, shown.id)];
    for (const chat of [hidden, open]) await say(cleo, chat, 'Hi');
    for (const [who, chat, status] of [
      [bob, open, 404],
      [ann, hidden, 404],
      [admin, hidden, 404],
      [ann, open, 403],
      [admin, open, 403],
      [cleo, open, 200],
    ] as const) {
      expect((await who.call(method, `${pathOf(chat)}/${action}`)).status).toBe(status);
    }
  });

  it('get export: the user of the chat and readers of its log', async () => {
    const shown = await make.agent({ owner: ann, visibility: 'ORGANIZATION', chatLogsVisible: true });
    const [hidden, open] = [await newChat(cleo), await newChat(cleo, shown.id)];
    const statuses = await Promise.all(
      (
        [
          [bob, open],
          [ann, hidden],
          [ann, open],
          [cleo, hidden],
        ] as const
      ).map(async ([who, chat]) => (await who.get(`${pathOf(chat)}/export`)).status),
    );
    expect(statuses).toEqual([404, 404, 200, 200]);
  });
});
