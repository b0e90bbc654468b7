import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { scriptedUpstream, withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

// A second model that is there from the start: a provider is asked for new models every five seconds only.
const file = join(mkdtempSync(join(tmpdir(), 'parley-models-')), 'models.json');
const lab = { id: 'lab', baseUrl: (await scriptedUpstream()).url, models: [{ name: 'other-model' }] };
writeFileSync(file, JSON.stringify({ providers: [lab] }));
const { service, make, upstream } = await withService('model', { env: { MODELS_FILE: file } });

const organization = await make.organization();
const ann = await make.person({ organization });
const cleo = await make.person({ organization });
const bob = await make.person();
const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION', instructions: 'Be brief.', chatLogsVisible: true });

interface Shown {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly runId: string;
}
const pathOf = (chatId: string) => `/api/v1/chats/${chatId}`;
const newChat = async (owner: TestClient = ann): Promise<string> => (await make.chat({ owner, agentId: agent.id })).id;
const messagesOf = async (chatId: string): Promise<Shown[]> => (await ann.get(pathOf(chatId))).body.messages;
const textsOf = async (chatId: string) => (await messagesOf(chatId)).map(({ content }) => content);

async function say(chatId: string, prompt: string, answer: string, more: object = {}): Promise<void> {
  upstream.next({ text: answer });
  expect((await ann.post(`${pathOf(chatId)}/messages`, { prompt, ...more })).body).toMatchObject({ status: 'completed' });
}
/** A chat with two exchanges: One, Yes one, Two, Yes two. */
async function twoTurns(): Promise<string> {
  const chatId = await newChat();
  await say(chatId, 'One', 'Yes one');
  await say(chatId, 'Two', 'Yes two');
  return chatId;
}
async function messageOf(chatId: string, content: string): Promise<Shown> {
  const found = (await messagesOf(chatId)).find((message) => message.content === content);
  if (found === undefined) throw new Error(`no message ${content}`);
  return found;
}
const act = async (chatId: string, messageId: string, what: string, body?: object, who: TestClient = ann) =>
  who.post(`${pathOf(chatId)}/messages/${messageId}/${what}`, body);
async function edit(chatId: string, content: string, prompt: string, answer: string): Promise<void> {
  upstream.next({ text: answer });
  const reply = await act(chatId, (await messageOf(chatId, content)).id, 'edit', { prompt });
  expect(reply.body).toMatchObject({ status: 'completed', message: { content: answer } });
}
/** What the model was given last, without instructions. */
const given = () =>
  ((upstream.requests.at(-1)?.body?.messages ?? []) as readonly { role: string; content: string }[]).flatMap(
    ({ role, content }) => (role === 'system' ? [] : [content]),
  );

describe('editing a message', () => {
  it('begins a branch in the middle of a chat, which every reader reads from then on', async () => {
    const chatId = await twoTurns();
    await say(chatId, 'Three', 'Yes three');
    const before = await messagesOf(chatId);
    await edit(chatId, 'Two', 'Two and a half', 'Yes half');
    expect(given()).toEqual(['One', 'Yes one', 'Two and a half']);
    const branch = ['One', 'Yes one', 'Two and a half', 'Yes half'];
    expect(await textsOf(chatId)).toEqual(branch);
    const { body: page } = await ann.get(`${pathOf(chatId)}/messages`);
    expect(page.data.map(({ content }: Shown) => content)).toEqual(branch.toReversed());
    const { body: items } = await ann.get(`/api/v1/conversations/${chatId}/items?order=asc`);
    expect(items.data.map((item: { content: { text: string }[] }) => item.content[0]?.text)).toEqual(branch);
    expect((await ann.get(`/api/v1/conversations/${chatId}/items/${before[2]?.id}`)).status).toBe(404);
    const exported = await (await ann.fetch('GET', `${pathOf(chatId)}/export`, undefined, {})).text();
    expect(exported).toContain('Two and a half');
    expect(exported).not.toContain('Yes two');
    const { body: copy } = await ann.post(`${pathOf(chatId)}/duplicate`);
    expect(copy.messages.map(({ content }: Shown) => content)).toEqual(branch);
    await say(chatId, 'And?', 'Indeed');
    expect(given()).toEqual([...branch, 'And?']);
    expect((await ann.get(`/api/v1/chats?search=${encodeURIComponent('Yes three')}`)).body.data).toEqual([]);
  });

  it('begins a chat anew from its first message', async () => {
    const chatId = await twoTurns();
    await edit(chatId, 'One', 'Uno', 'Si');
    expect(given()).toEqual(['Uno']);
    expect(await textsOf(chatId)).toEqual(['Uno', 'Si']);
  });

  it('streams like a message', async () => {
    const chatId = await twoTurns();
    upstream.next({ text: 'Other' });
    const { id } = await messageOf(chatId, 'Two');
    const events = [];
    const body = { prompt: 'Deux', stream: true };
    for await (const { event } of ann.sse('POST', `${pathOf(chatId)}/messages/${id}/edit`, body)) events.push(event);
    expect(events).toContain('message.delta');
    expect(events.at(-1)).toBe('done');
    expect(await textsOf(chatId)).toEqual(['One', 'Yes one', 'Deux', 'Other']);
  });

  it('happens once when two edit at once', async () => {
    const chatId = await twoTurns();
    const { script, goOn } = heldAnswer({ text: ['Held', ' answer'] });
    upstream.next(script);
    const { id } = await messageOf(chatId, 'Two');
    const both = ['a', 'b'].map((prompt) => act(chatId, id, 'edit', { prompt }));
    const refused = await Promise.race(both);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'run_active' } } });
    goOn();
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await messagesOf(chatId)).toHaveLength(4);
  });

  it('is refused while a run answers, like every change of the branch', async () => {
    const chatId = await twoTurns();
    const { script, goOn } = heldAnswer({ text: ['Held', ' answer'] });
    upstream.next(script);
    const running = ann.post(`${pathOf(chatId)}/messages`, { prompt: 'Three' });
    await upstream.until(({ openStreams }) => openStreams === 1);
    const { id } = await messageOf(chatId, 'Two');
    for (const [what, body] of [
      ['edit', { prompt: 'x' }],
      ['regenerate', {}],
      ['select', undefined],
    ] as const) {
      const reply = await act(chatId, id, what, body);
      expect(reply, what).toMatchObject({ status: 409, body: { error: { code: 'run_active' } } });
    }
    goOn();
    await running;
    expect(await textsOf(chatId)).toEqual(['One', 'Yes one', 'Two', 'Yes two', 'Three', 'Held answer']);
  });

  it('is refused while a response is paused on the chat', async () => {
    const chatId = await twoTurns();
    upstream.next(heldAnswer({ text: ['Held', ' answer'] }).script);
    const { body: response } = await ann.post('/api/v2/responses', { conversation: chatId, input: 'Go', background: true });
    await eventually(async () => {
      const { output } = (await ann.get(`/api/v2/responses/${response.id}`)).body;
      expect(output[0]?.content?.[0]?.text ?? '').not.toBe('');
    });
    expect((await ann.post(`/api/v2/responses/${response.id}/pause`)).body).toMatchObject({ status: 'incomplete' });
    const { id } = await messageOf(chatId, 'Two');
    expect(await act(chatId, id, 'edit', { prompt: 'x' })).toMatchObject({
      status: 409,
      body: { error: { code: 'run_active' } },
    });
    await ann.post(`/api/v2/responses/${response.id}/cancel`);
    expect((await act(chatId, id, 'select')).status).toBe(200);
  });

  it('takes files, and refuses a blank prompt and an answer', async () => {
    const chatId = await twoTurns();
    const form = new FormData();
    form.set('file', new File(['The code is 77'], 'note.txt', { type: 'text/plain' }));
    const { body: file } = await ann.call('POST', `${pathOf(chatId)}/files`, form);
    const asking = await messageOf(chatId, 'Two');
    const prompt = [
      { type: 'text', text: 'Read' },
      { type: 'id', id: file.id },
    ];
    expect((await act(chatId, asking.id, 'edit', { prompt })).status).toBe(200);
    expect(JSON.stringify(given())).toContain('The code is 77');
    expect(await act(chatId, asking.id, 'edit', { prompt: ' ' })).toMatchObject({
      status: 400,
      body: { error: { param: 'prompt' } },
    });
    const answer = await messageOf(chatId, 'Yes one');
    expect(await act(chatId, answer.id, 'edit', { prompt: 'x' })).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    });
  });
});

describe('regenerating an answer', () => {
  it('asks the same again, of another model where one is named, and keeps the old answer', async () => {
    const chatId = await newChat();
    const tools = [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } }];
    await say(chatId, 'One', 'Yes one', { tools });
    await say(chatId, 'Two', 'Yes two');
    const { id } = await messageOf(chatId, 'Yes one');
    upstream.next({ text: 'Other one' });
    const reply = await act(chatId, id, 'regenerate', { modelId: 'lab/other-model' });
    expect(reply.body).toMatchObject({ status: 'completed', message: { content: 'Other one' } });
    expect(upstream.requests.at(-1)?.body).toMatchObject({ model: 'other-model', tools: [{ function: { name: 'look' } }] });
    expect(given()).toEqual(['One']);
    expect(await textsOf(chatId)).toEqual(['One', 'Other one']);
    upstream.next({ text: 'Third one' });
    await act(chatId, (await messageOf(chatId, 'Other one')).id, 'regenerate');
    expect(await textsOf(chatId)).toEqual(['One', 'Third one']);
    const { data } = await ann.graphql(
      'query ($id: ID!) { node(id: $id) { ... on Message { isActive siblingIndex siblingCount siblings { content isActive } replies { content } parent { content replies { id } } } } }',
      { id },
    );
    expect(data.node).toMatchObject({
      ...{ isActive: false, siblingIndex: 0, siblingCount: 3, replies: [{ content: 'Two' }] },
      siblings: [
        { content: 'Yes one', isActive: false },
        { content: 'Other one', isActive: false },
        { content: 'Third one', isActive: true },
      ],
      parent: { content: 'One', replies: [{ id }, {}, {}] },
    });
  });

  it('begins below the question, whichever message of an answer is named, and repeats no call of a tool', async () => {
    const chatId = await newChat();
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'look', arguments: '{}' }] });
    const tools = [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } }];
    const { body: asking } = await ann.post(`${pathOf(chatId)}/messages`, { prompt: 'Look', tools });
    upstream.next({ text: 'A tree' });
    const outputs = [{ toolCallId: 'call_1', status: 'success', output: 'tree' }];
    await ann.post(`${pathOf(chatId)}/tool-outputs`, { systemMessageId: asking.systemMessageId, outputs });
    upstream.next({ text: 'An oak' });
    expect((await act(chatId, (await messageOf(chatId, 'A tree')).id, 'regenerate')).status).toBe(200);
    // The output stays where it was: the answer follows it.
    expect((await messagesOf(chatId)).map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Look'],
      ['assistant', ''],
      ['tool', 'tree'],
      ['assistant', 'An oak'],
    ]);
    expect(given()).toEqual(['Look', null, 'tree']);
    upstream.next({ text: 'Nothing' });
    await act(chatId, asking.systemMessageId, 'regenerate');
    expect(await textsOf(chatId)).toEqual(['Look', 'Nothing']);
  });

  it('answers a message whose run failed, and shows the failure of the branch that is read', async () => {
    const chatId = await newChat();
    upstream.next({ status: 400, body: '{"error":{"message":"no"}}' });
    await ann.post(`${pathOf(chatId)}/messages`, { prompt: 'Hi' });
    const [question] = await messagesOf(chatId);
    expect(question).toMatchObject({ content: 'Hi', error: { message: expect.any(String) } });
    upstream.next({ text: 'Hello' });
    await act(chatId, question?.id ?? '', 'regenerate');
    expect(await messagesOf(chatId)).toEqual([
      expect.not.objectContaining({ error: expect.anything() }),
      expect.objectContaining({ content: 'Hello' }),
    ]);
    const hello = await messageOf(chatId, 'Hello');
    upstream.next({ status: 400, body: '{"error":{"message":"no"}}' });
    const { body: failed } = await act(chatId, hello.id, 'regenerate');
    expect(failed).toMatchObject({ status: 'failed' });
    expect(await messagesOf(chatId)).toEqual([expect.objectContaining({ content: 'Hi', error: expect.anything() })]);
    // The failed run is the last of the chat: it may be asked again too.
    upstream.next({ text: 'At last' });
    const retried = await ann.post(`${pathOf(chatId)}/runs/${failed.runId}/retry`, {});
    expect(retried.status).toBe(200);
    await eventually(async () => expect(await textsOf(chatId)).toEqual(['Hi', 'At last']));
    expect((await act(chatId, hello.id, 'select')).body.messages).toMatchObject([{ content: 'Hi' }, { content: 'Hello' }]);
  });

  it('plans a message of a copied chat anew', async () => {
    const chatId = await twoTurns();
    const { body: copy } = await ann.post(`${pathOf(chatId)}/duplicate`);
    upstream.next({ text: 'Again' });
    expect((await act(copy.id, copy.messages[1].id, 'regenerate')).body).toMatchObject({ message: { content: 'Again' } });
    expect(upstream.requests.at(-1)?.body?.messages).toMatchObject([
      { role: 'system', content: expect.stringContaining('Be brief.') },
      { role: 'user', content: 'One' },
    ]);
  });

  it('needs the secrets of its request again', async () => {
    const chatId = await newChat();
    await say(chatId, 'One', 'Yes one', { secrets: { TOKEN: 'x' } });
    const { id } = await messageOf(chatId, 'Yes one');
    const refused = await act(chatId, id, 'regenerate');
    expect(refused).toMatchObject({ status: 400, body: { error: { param: 'secrets' } } });
    upstream.next({ text: 'Two' });
    expect((await act(chatId, id, 'regenerate', { secrets: { TOKEN: 'x' } })).status).toBe(200);
  });

  it('refuses what the agent begins a chat with', async () => {
    const greeting = await make.agent({ owner: ann, introduction: 'Welcome' });
    const { id: chatId } = await make.chat({ owner: ann, agentId: greeting.id });
    const { id } = await messageOf(chatId, 'Welcome');
    expect(await act(chatId, id, 'regenerate')).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
  });
});

describe('selecting a branch', () => {
  it('shows it to people and models, and the newest branch below it', async () => {
    const chatId = await twoTurns();
    const two = await messageOf(chatId, 'Two');
    await edit(chatId, 'Two', 'Zwei', 'Ja zwei');
    const zwei = await messageOf(chatId, 'Zwei');
    const { body } = await act(chatId, two.id, 'select');
    expect(body.messages.map(({ content }: Shown) => content)).toEqual(['One', 'Yes one', 'Two', 'Yes two']);
    await say(chatId, 'Three', 'Yes three');
    expect(given()).toEqual(['One', 'Yes one', 'Two', 'Yes two', 'Three']);
    await act(chatId, zwei.id, 'select');
    await say(chatId, 'Drei', 'Ja drei');
    expect(given()).toEqual(['One', 'Yes one', 'Zwei', 'Ja zwei', 'Drei']);
    // The newest leaf below the first message is that of the last answer.
    await act(chatId, two.id, 'select');
    const one = await messageOf(chatId, 'One');
    await act(chatId, one.id, 'select');
    expect(await textsOf(chatId)).toEqual(['One', 'Yes one', 'Zwei', 'Ja zwei', 'Drei', 'Ja drei']);
    const { data } = await ann.graphql(
      'query ($id: ID!) { chat(id: $id) { activeLeaf { content } messages(first: 3) { nodes { content siblingIndex siblingCount } pageInfo { hasNextPage } } } }',
      { id: chatId },
    );
    expect(data.chat).toEqual({
      activeLeaf: { content: 'Ja drei' },
      messages: {
        nodes: [
          { content: 'One', siblingIndex: 0, siblingCount: 1 },
          { content: 'Yes one', siblingIndex: 0, siblingCount: 1 },
          { content: 'Zwei', siblingIndex: 1, siblingCount: 2 },
        ],
        pageInfo: { hasNextPage: true },
      },
    });
  });

  it('takes along the summary that models get, and answers the calls that wait on it', async () => {
    const chatId = await twoTurns();
    await say(chatId, 'Three', 'Yes three');
    upstream.next({ text: 'They counted.' });
    expect((await ann.post(`${pathOf(chatId)}/compress`)).body).toMatchObject({ summary: 'They counted.', compressedCount: 2 });
    const two = await messageOf(chatId, 'Two');
    await edit(chatId, 'One', 'Uno', 'Si');
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('They counted.');
    upstream.next({ text: 'Fresh summary' });
    await say(chatId, 'Due', 'Si due');
    await act(chatId, two.id, 'select');
    await say(chatId, 'Four', 'Yes four');
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('They counted.');
    expect(given()).not.toContain('One');
  });

  it('lets tool outputs and retries continue the branch that is read only', async () => {
    const chatId = await newChat();
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'look', arguments: '{}' }] });
    const tools = [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } }];
    const { body: asking } = await ann.post(`${pathOf(chatId)}/messages`, { prompt: 'Look', tools });
    await edit(chatId, 'Look', 'Do not look', 'Fine');
    const body = {
      systemMessageId: asking.systemMessageId,
      outputs: [{ toolCallId: 'call_1', status: 'success', output: 'tree' }],
    };
    expect(await ann.post(`${pathOf(chatId)}/tool-outputs`, body)).toMatchObject({
      status: 409,
      body: { error: { code: 'tool_output_conflict' } },
    });
    await act(chatId, asking.systemMessageId, 'select');
    upstream.next({ text: 'A tree' });
    expect((await ann.post(`${pathOf(chatId)}/tool-outputs`, body)).status).toBe(200);
    expect(await textsOf(chatId)).toEqual(['Look', '', 'tree', 'A tree']);
  });

  it('keeps branches whole when an item of a conversation is removed', async () => {
    const chatId = await twoTurns();
    await edit(chatId, 'Two', 'Zwei', 'Ja zwei');
    const yes = await messageOf(chatId, 'Yes one');
    const zwei = await messageOf(chatId, 'Zwei');
    expect((await ann.delete(`/api/v1/conversations/${chatId}/items/${yes.id}`)).status).toBe(200);
    const { data } = await ann.graphql(
      'query ($id: ID!) { node(id: $id) { ... on Message { parent { content } siblings { content } } } }',
      {
        id: zwei.id,
      },
    );
    expect(data.node).toEqual({ parent: { content: 'One' }, siblings: [{ content: 'Two' }, { content: 'Zwei' }] });
    await edit(chatId, 'Zwei', 'Drei', 'Ja drei');
    expect(given()).toEqual(['One', 'Drei']);
  });
});

describe('responses on a chat with branches', () => {
  it('go on from the response that they name, on its own branch', async () => {
    upstream.next({ text: 'Yes one' }, { text: 'Yes two' });
    const { body: first } = await ann.post('/api/v2/responses', { model: agent.id, input: 'One' });
    const { body: second } = await ann.post('/api/v2/responses', { previous_response_id: first.id, input: 'Two' });
    const chatId = second.conversation.id;
    await edit(chatId, 'Two', 'Zwei', 'Ja zwei');
    // The response of the old branch is no longer the newest: the request forks off behind it.
    upstream.next({ text: 'Yes three' });
    const { body: third } = await ann.post('/api/v2/responses', { previous_response_id: second.id, input: 'Three' });
    expect(given()).toEqual(['One', 'Yes one', 'Two', 'Yes two', 'Three']);
    expect(third.conversation.id).not.toBe(chatId);
    const old = (
      await ann.graphql('query ($id: ID!) { node(id: $id) { ... on Message { siblings { id content } } } }', {
        id: (await messageOf(chatId, 'Zwei')).id,
      })
    ).data.node.siblings[0];
    await act(chatId, old.id, 'select');
    // Now it is the newest again.
    upstream.next({ text: 'Yes four' });
    const { body: fourth } = await ann.post('/api/v2/responses', { previous_response_id: second.id, input: 'Four' });
    expect(fourth.conversation.id).toBe(chatId);
    expect(await textsOf(chatId)).toEqual(['One', 'Yes one', 'Two', 'Yes two', 'Four', 'Yes four']);
    expect((await ann.delete(`/api/v2/responses/${second.id}`)).status).toBe(200);
    expect(await textsOf(chatId)).toEqual(['One', 'Yes one', 'Four', 'Yes four']);
  });
});

describe('the branches of a chat', () => {
  it('are changed by its user only', async () => {
    const chatId = await newChat(cleo);
    upstream.next({ text: 'Yes one' });
    await cleo.post(`${pathOf(chatId)}/messages`, { prompt: 'One' });
    const [question] = (await cleo.get(pathOf(chatId))).body.messages;
    const other = await newChat(cleo);
    for (const [what, body] of [
      ['edit', { prompt: 'x' }],
      ['regenerate', {}],
      ['select', undefined],
    ] as const) {
      // The editor of the agent reads the chat, and changes nothing.
      expect(await act(chatId, question.id, what, body, ann), what).toMatchObject({ status: 403 });
      expect(await act(chatId, question.id, what, body, bob), what).toMatchObject({ status: 404 });
      expect(await act(other, question.id, what, body, cleo), what).toMatchObject({ status: 404 });
    }
    const nodes = 'query ($id: ID!) { node(id: $id) { ... on Message { content siblings { id } chat { id } } } }';
    expect((await ann.graphql(nodes, { id: question.id })).data.node).toMatchObject({ content: 'One', chat: { id: chatId } });
    expect((await bob.graphql(nodes, { id: question.id })).data.node).toBeNull();
  });

  it('are one for the messages from before there were branches', async () => {
    const chatId = await twoTurns();
    const { pool } = service.deps.storage.db;
    const { rows } = await pool.query<{ parent: string | null; before: string | null }>(
      `select "parentId" as parent, lag(id) over (order by ordinal) as before from messages where "chatId" = $1`,
      [chatId],
    );
    expect(rows.map(({ parent }) => parent)).toEqual(rows.map(({ before }) => before));
  });
});

describe('unread answers', () => {
  it('are those since the reader last read the chat', async () => {
    const chatId = await newChat();
    const query = 'query ($id: ID!) { chat(id: $id) { isUnread } }';
    const isUnread = async (who: TestClient) => (await who.graphql(query, { id: chatId })).data.chat.isUnread;
    const read = 'mutation ($id: ID!) { markChatRead(id: $id) { isUnread } }';
    expect(await isUnread(ann)).toBe(false);
    await say(chatId, 'One', 'Yes one');
    expect(await isUnread(ann)).toBe(true);
    expect((await ann.graphql(read, { id: chatId })).data.markChatRead).toEqual({ isUnread: false });
    await ann.patch(pathOf(chatId), { name: 'Renamed' });
    expect(await isUnread(ann)).toBe(false);
    await say(chatId, 'Two', 'Yes two');
    expect(await isUnread(ann)).toBe(true);
    expect((await bob.graphql(read, { id: chatId })).errors?.[0]).toMatchObject({ extensions: { code: 'NOT_FOUND' } });
  });
});
