import { describe, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model', { env: { CHAT_SHARES_MAX: '3' } });

const organization = await make.organization();
const people = await Promise.all(
  ['MEMBER', 'MEMBER', 'MEMBER', 'ADMIN'].map((role) => make.person({ organization, role } as object)),
);
const [ann, bob, cleo, boss] = people as [Person, Person, Person, Person];
const stranger = await make.person({ role: 'ADMIN' });
const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION', instructions: 'The secret word is quokka.' });

const shareDocument = `mutation ($chatId: ID!, $input: ShareChatInput!) {
  shareChat(chatId: $chatId, input: $input) { url share { id mode audience status expiresAt openCount readers { email } } }
}`;
const openDocument = `query ($secret: String!, $first: Int, $after: String) { sharedChat(secret: $secret) {
  name sharedBy mode audience isOwn canGoOn agentName chat { id } agent { id }
  messages(first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor }
    nodes { role content hiddenCitationCount citations { index name snippet } files { filename url } hiddenFileCount images } }
} }`;
const copyDocument = `mutation ($secret: String!, $input: CopySharedChatInput) {
  copySharedChat(secret: $secret, input: $input) { omittedFileCount omittedCitationCount
    chat { id name userId agentId userInputs { name } messages(first: 50) { nodes { role content citations { index } files { filename url } } } } }
}`;

async function newChat(...turns: readonly (readonly [string, string])[]): Promise<string> {
  const { id } = await make.chat({ owner: ann, agentId: agent.id });
  for (const [prompt, answer] of turns) await say(id, prompt, answer);
  return id;
}
async function say(chatId: string, prompt: unknown, answer: string): Promise<void> {
  upstream.next({ text: answer });
  expect((await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt })).body).toMatchObject({ status: 'completed' });
}
async function share(chatId: string, input: object, who: TestClient = ann) {
  const { data, errors } = await who.graphql(shareDocument, { chatId, input });
  if (errors !== undefined) throw new Error(JSON.stringify(errors[0]));
  const { url, share: made } = data.shareChat;
  return { ...made, url, secret: url.split('#')[1] as string };
}
async function open(secret: string, who: TestClient = bob, page: object = { first: 50 }) {
  const data = await who.ask(openDocument, { secret, ...page });
  return data.sharedChat;
}
const textsOf = (shared: { messages: { nodes: { content: string }[] } } | null) =>
  shared?.messages.nodes.map(({ content }) => content);
const refusal = async (who: TestClient, chatId: string, input: object) =>
  (await who.graphql(shareDocument, { chatId, input })).errors?.map(
    ({ message, extensions }: { message: string; extensions: { code: string } }) => `${extensions.code}: ${message}`,
  );

it('a link is made, listed and revoked over REST', async () => {
  const chatId = await newChat(['Hello', 'Hi']);
  const made = await ann.post(`/api/v1/chats/${chatId}/shares`, { audience: 'PEOPLE', emails: [bob.email] });
  expect(made.body).toMatchObject({ share: { chat: { id: chatId }, status: 'ACTIVE', readers: [{ email: bob.email }] } });
  const secret = made.body.url.split('#')[1];
  expect(textsOf(await open(secret))).toEqual(['Hello', 'Hi']);
  const { id } = made.body.share;
  expect((await ann.get(`/api/v1/chat-shares?chatId=${chatId}`)).body.data).toMatchObject([{ id, openCount: 1 }]);
  expect((await bob.get(`/api/v1/chat-shares/${id}`)).status).toBe(404);
  expect((await ann.delete(`/api/v1/chat-shares/${id}`)).body.status).toBe('REVOKED');
  expect(await open(secret)).toBeNull();
});

describe('a link to a chat', () => {
  it('shows a frozen copy up to the newest message, and nothing that is said later', async () => {
    const chatId = await newChat(['One', 'Yes one']);
    const { url, secret, id } = await share(chatId, { audience: 'ORGANIZATION' });
    expect(url).toMatch(/\/shared#[\w-]{43}$/);
    await say(chatId, 'Two', 'Yes two');
    const shared = await open(secret);
    expect(shared).toMatchObject({
      mode: 'FROZEN',
      isOwn: false,
      canGoOn: true,
      chat: null,
      agent: { id: agent.id },
      name: 'One',
    });
    expect(textsOf(shared)).toEqual(['One', 'Yes one']);
    expect(JSON.stringify(shared)).not.toContain('quokka');
    const { rows } = await service.deps.storage.db.pool.query('select * from chat_shares where id = $1', [id]);
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  it('grows with the chat when it is asked to, on the branch that its user reads', async () => {
    const chatId = await newChat(['One', 'Yes one']);
    const { secret } = await share(chatId, { audience: 'ORGANIZATION', mode: 'GROWING' });
    await say(chatId, 'Two', 'Yes two');
    expect(textsOf(await open(secret))).toEqual(['One', 'Yes one', 'Two', 'Yes two']);
    const { messages } = (await ann.get(`/api/v1/chats/${chatId}`)).body;
    upstream.next({ text: 'Si' });
    await ann.post(`/api/v1/chats/${chatId}/messages/${messages[0].id}/edit`, { prompt: 'Uno' });
    expect(textsOf(await open(secret))).toEqual(['Uno', 'Si']);
  });

  it('stays on the branch that was frozen, when its user reads another', async () => {
    const chatId = await newChat(['One', 'Yes one'], ['Two', 'Yes two']);
    const { secret } = await share(chatId, { audience: 'ORGANIZATION' });
    const { messages } = (await ann.get(`/api/v1/chats/${chatId}`)).body;
    const toSecond = await share(chatId, { audience: 'ORGANIZATION', messageId: messages[1].id });
    upstream.next({ text: 'Si' });
    await ann.post(`/api/v1/chats/${chatId}/messages/${messages[0].id}/edit`, { prompt: 'Uno' });
    expect(textsOf(await open(secret))).toEqual(['One', 'Yes one', 'Two', 'Yes two']);
    expect(textsOf(await open(toSecond.secret))).toEqual(['One', 'Yes one']);
    const first = await open(secret, bob, { first: 3 });
    expect([textsOf(first), first.messages.totalCount]).toEqual([['One', 'Yes one', 'Two'], 4]);
    const second = await open(secret, bob, { first: 3, after: first.messages.pageInfo.endCursor });
    expect([textsOf(second), second.messages.pageInfo.hasNextPage]).toEqual([['Yes two'], false]);
  });

  it('is for the people whom it names, or the organization', async () => {
    const chatId = await newChat(['One', 'Yes one']);
    const named = await share(chatId, { audience: 'PEOPLE', emails: [bob.email.toUpperCase()] });
    expect(named.readers).toEqual([{ email: bob.email }]);
    expect(await open(named.secret, bob)).not.toBeNull();
    for (const who of [cleo, boss, stranger]) expect(await open(named.secret, who)).toBeNull();
    const ours = await share(chatId, { audience: 'ORGANIZATION' });
    for (const who of [bob, cleo, boss]) expect(await open(ours.secret, who)).not.toBeNull();
    expect(await open(ours.secret, stranger)).toBeNull();
    expect(await open(ours.secret, ann)).toMatchObject({ isOwn: true, chat: { id: chatId } });
  });

  it('is for a frozen chat with something in it, of the caller, in words that name the member', async () => {
    const chatId = await newChat();
    expect(await refusal(ann, chatId, { audience: 'ORGANIZATION' })).toEqual(['CONFLICT: Nothing was said in this chat yet']);
    const past = '2020-01-01T00:00:00Z';
    const answers = await refusal(ann, chatId, {
      audience: 'ORGANIZATION',
      mode: 'GROWING',
      emails: [bob.email],
      expiresAt: past,
    });
    expect(answers?.join('\n')).toMatch(/emails is taken with the audience PEOPLE only/);
    const people = await refusal(ann, chatId, { audience: 'PEOPLE', emails: [stranger.email] });
    expect(people).toEqual(['INVALID_VALUE: input.emails.0 is the e-mail of no member of the organization']);
    expect(await refusal(ann, chatId, { audience: 'ANYONE', mode: 'GROWING' })).toEqual([
      expect.stringMatching(/^FORBIDDEN: .*SHARE_WITH_ANYONE/),
    ]);
    expect(await refusal(bob, chatId, { audience: 'ORGANIZATION' })).toEqual(['NOT_FOUND: There is no such chat']);
  });

  it('ends when it is revoked, by its maker or an administrator, and makes room for another', async () => {
    const chatId = await newChat(['One', 'Yes one']);
    const links = [];
    for (let count = 0; count < 3; count += 1) links.push(await share(chatId, { audience: 'ORGANIZATION' }));
    expect(await refusal(ann, chatId, { audience: 'ORGANIZATION' })).toEqual([
      'CONFLICT: A chat has at most 3 links: revoke one first',
    ]);
    const revoke = (who: TestClient, id: string) =>
      who.graphql('mutation ($id: ID!) { revokeChatShare(id: $id) { status } }', { id });
    expect((await revoke(bob, links[0].id)).errors?.[0].extensions.code).toBe('NOT_FOUND');
    expect((await revoke(ann, links[0].id)).data).toEqual({ revokeChatShare: { status: 'REVOKED' } });
    expect((await revoke(boss, links[1].id)).data).toEqual({ revokeChatShare: { status: 'REVOKED' } });
    expect([await open(links[0].secret), await open(links[1].secret, ann)]).toEqual([null, null]);
    expect(await open(links[2].secret)).not.toBeNull();
    await share(chatId, { audience: 'ORGANIZATION' });
  });

  it('ends by its time', async () => {
    const chatId = await newChat(['One', 'Yes one']);
    const link = await share(chatId, { audience: 'ORGANIZATION', expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
    expect(await open(link.secret)).not.toBeNull();
    const { pool } = service.deps.storage.db;
    await pool.query(`update chat_shares set "expiresAt" = now() - interval '1 second' where id = $1`, [link.id]);
    expect(await open(link.secret)).toBeNull();
    const { data } = await ann.graphql('query ($id: ID!) { chatShare(id: $id) { status } }', { id: link.id });
    expect(data.chatShare.status).toBe('EXPIRED');
  });

  it('for anyone opens nothing while the installation does not allow it', async () => {
    const { id, secret } = await share(await newChat(['One', 'Yes one']), { audience: 'ORGANIZATION' });
    await service.deps.storage.db.pool.query(`update chat_shares set audience = 'ANYONE' where id = $1`, [id]);
    expect(await open(secret)).toBeNull();
    const { data } = await ann.graphql('query ($id: ID!) { chatShare(id: $id) { status } viewer { mayShareWithAnyone } }', {
      id,
    });
    expect(data).toEqual({ chatShare: { status: 'SUSPENDED' }, viewer: { mayShareWithAnyone: false } });
  });

  it('ends with its chat, with the message it goes to, and with a reset', async () => {
    const [deleted, reset] = [await newChat(['One', 'Yes']), await newChat(['One', 'Yes'])];
    const links = [await share(deleted, { audience: 'ORGANIZATION' }), await share(reset, { audience: 'ORGANIZATION' })];
    await ann.delete(`/api/v1/chats/${deleted}`);
    await ann.post(`/api/v1/chats/${reset}/reset`);
    for (const { secret } of links) expect(await open(secret)).toBeNull();
    expect(
      (await ann.graphql('query ($id: ID!) { chatShares(chatId: $id) { nodes { id } } }', { id: reset })).data.chatShares.nodes,
    ).toEqual([]);
  });

  it('ends with the rights of who made it: the key, the role, the membership', async () => {
    const key = await make.withKey(ann, {});
    const { id: chatId } = await make.chat({ owner: ann, agentId: agent.id });
    await say(chatId, 'One', 'Yes');
    const byKey = await share(chatId, { audience: 'ORGANIZATION' }, key);
    expect(await open(byKey.secret)).not.toBeNull();
    await ann.delete(`/api/v1/api-keys/${key.keyId}`);
    expect(await open(byKey.secret)).toBeNull();

    const dora = await make.person({ organization });
    const hers = (await make.chat({ owner: dora, agentId: agent.id })).id;
    upstream.next({ text: 'Yes' });
    await dora.post(`/api/v1/chats/${hers}/messages`, { prompt: 'One' });
    const link = await share(hers, { audience: 'ORGANIZATION' }, dora);
    const { pool } = service.deps.storage.db;
    await pool.query(`update memberships set role = 'AUDITOR' where "userId" = $1`, [dora.userId]);
    expect(await open(link.secret)).toBeNull();
    await pool.query(`update memberships set role = 'MEMBER' where "userId" = $1`, [dora.userId]);
    expect(await open(link.secret)).not.toBeNull();
    await boss.graphql('mutation ($id: ID!) { deactivateUser(id: $id) { id } }', { id: dora.userId });
    expect(await open(link.secret)).toBeNull();
  });

  it('is listed for its maker, and for administrators of the organization, without the texts of the chat', async () => {
    const chatId = await newChat(['One', 'Yes one']);
    const { id, secret } = await share(chatId, { audience: 'ORGANIZATION' });
    await open(secret);
    const document = `query ($all: Boolean) { chatShares(ofOrganization: $all, first: 1) { nodes { id userId openCount chat { name } } } }`;
    const { data: own } = await ann.graphql(document);
    expect(own.chatShares.nodes).toEqual([{ id, userId: ann.userId, openCount: 1, chat: { name: 'One' } }]);
    const { data: all } = await boss.graphql(document, { all: true });
    expect(all.chatShares.nodes).toEqual([{ id, userId: ann.userId, openCount: 1, chat: null }]);
    expect((await bob.graphql(document)).data.chatShares.nodes).toEqual([]);
    expect((await bob.graphql(document, { all: true })).errors?.[0].extensions.code).toBe('FORBIDDEN');
  });

  it('leaves entries in the audit log: made, opened by another, revoked', async () => {
    const chatId = await newChat(['One', 'Yes one']);
    const { id, secret } = await share(chatId, { audience: 'PEOPLE', emails: [bob.email] });
    await open(secret, ann);
    await open(secret, bob);
    await ann.graphql('mutation ($id: ID!) { revokeChatShare(id: $id) { id } }', { id });
    await service.deps.audit.flush();
    const { data } = await boss.graphql(
      'query ($id: ID) { auditLog(filter: { targetId: $id }, first: 10) { nodes { action kind actorUserId targetIds changes { member values } } } }',
      { id },
    );
    expect(data.auditLog.nodes.toReversed()).toMatchObject([
      { action: 'shareChat', kind: 'CHANGE', actorUserId: ann.userId, targetIds: [id, chatId] },
      { action: 'sharedChat', kind: 'READ', actorUserId: bob.userId, targetIds: [id] },
      { action: 'revokeChatShare', kind: 'CHANGE', actorUserId: ann.userId },
    ]);
    expect(JSON.stringify(data)).not.toContain(bob.email);
  });
});

describe('what a reader sees', () => {
  it('hides the passages of documents that it may not open now, and says how many', async () => {
    const knowing = await make.agent({ owner: ann, visibility: 'PRIVATE', generateCitations: true });
    const source = await make.apiDataSource({
      owner: ann,
      agentId: knowing.id,
      data: { repair: 'A puncture repair costs 15 euro' },
    });
    await indexed(ann, source.id);
    const { id: chatId } = await make.chat({ owner: ann, agentId: knowing.id });
    await say(chatId, 'What does a puncture repair cost?', 'It costs 15 euro [1].');
    const { secret } = await share(chatId, { audience: 'ORGANIZATION' });
    const answer = async (who: Person) => (await open(secret, who)).messages.nodes[1];
    expect(await answer(bob)).toMatchObject({ content: 'It costs 15 euro [1].', citations: [], hiddenCitationCount: 1 });
    expect(await answer(ann)).toMatchObject({ citations: [{ index: 1 }], hiddenCitationCount: 0 });
    await ann.patch(`/api/v1/data-sources/${source.id}`, { orgVisible: true });
    await ann.patch(`/api/v1/ais/${knowing.id}`, { visibility: 'ORGANIZATION' });
    expect(await answer(bob)).toMatchObject({
      citations: [{ index: 1, snippet: expect.stringContaining('puncture') }],
      hiddenCitationCount: 0,
    });
  });

  it('gets no part that is for the model only', async () => {
    upstream.next({ text: 'Done' });
    const content = [
      { type: 'input_text', text: 'Read it' },
      { type: 'input_text', text: 'invisible-canary', invisible: true },
    ];
    const { body } = await ann.post('/api/v2/responses', { model: agent.id, input: [{ role: 'user', content }] });
    const { secret } = await share(body.conversation.id, { audience: 'ORGANIZATION' });
    const shared = await open(secret);
    expect(textsOf(shared)).toEqual(['Read it', 'Done']);
    const { data } = await bob.graphql(copyDocument, { secret });
    const { rows } = await service.deps.storage.db.pool.query('select * from messages where "chatId" = $1', [
      data.copySharedChat.chat.id,
    ]);
    expect(JSON.stringify([shared, rows])).not.toContain('canary');
  });

  it('gets no call of a function and no output, and the files by the right of the link', async () => {
    const chatId = await newChat();
    const form = new FormData();
    form.append('file', new Blob(['Hello'], { type: 'text/plain' }), 'note.txt');
    const { id: fileId } = (await ann.post(`/api/v1/chats/${chatId}/files`, form)).body;
    const prompt = [
      { type: 'text', text: 'Read it' },
      { type: 'id', id: fileId },
    ];
    const call = { id: 'call_1', name: 'lookUp', arguments: '{"key":"argument-canary"}' };
    upstream.next({ toolCalls: [call] });
    const tools = [{ type: 'function', function: { name: 'lookUp', parameters: { type: 'object', properties: {} } } }];
    const { body } = await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt, tools });
    upstream.next({ text: 'Done' });
    const { messages } = (await ann.get(`/api/v1/chats/${chatId}`)).body;
    const asking = messages.find(({ toolCalls = [] }: { toolCalls?: readonly unknown[] }) => toolCalls.length > 0);
    const outputs = [{ toolCallId: asking?.toolCalls[0].id, status: 'success', output: 'output-canary' }];
    const sent = await ann.post(`/api/v1/chats/${chatId}/tool-outputs`, { systemMessageId: asking?.id, outputs });
    expect([body.status, sent.status]).toEqual(['completed', 200]);
    const { secret } = await share(chatId, { audience: 'ORGANIZATION' });
    const shared = await open(secret);
    expect(JSON.stringify(shared)).not.toMatch(/canary/);
    expect(textsOf(shared)).toEqual(['Read it', 'Done']);
    const [{ files }] = shared.messages.nodes;
    expect(files).toMatchObject([{ filename: 'note.txt' }]);
    expect(await (await fetch(files[0].url)).text()).toBe('Hello');
    await ann.delete(`/api/v1/chats/${chatId}/files/${fileId}`);
    expect((await open(secret)).messages.nodes[0]).toMatchObject({ files: [], hiddenFileCount: 1 });
  });

  it('follows a growing chat, until the link ends', async () => {
    const chatId = await newChat(['One', 'Yes one']);
    const { id, secret } = await share(chatId, { audience: 'ORGANIZATION', mode: 'GROWING' });
    const document = `subscription ($secret: String!) { sharedChatUpdated(secret: $secret) { messages(first: 50) { nodes { content } } } }`;
    const seen: string[][] = [];
    let isSaid = false;
    for await (const { data } of bob.subscribe(document, { secret })) {
      seen.push(textsOf(data.sharedChatUpdated) ?? []);
      if (!isSaid) {
        isSaid = true;
        void say(chatId, 'Two', 'Yes two');
      } else if (seen.at(-1)?.at(-1) === 'Yes two') {
        void ann.graphql('mutation ($id: ID!) { revokeChatShare(id: $id) { id } }', { id });
      }
    }
    expect([seen[0], seen.at(-1)]).toEqual([
      ['One', 'Yes one'],
      ['One', 'Yes one', 'Two', 'Yes two'],
    ]);
  });
});

describe('going on from a shared chat', () => {
  it('copies it into a chat of the reader, who asks the agent with its own rights', async () => {
    const chatId = await newChat(['One', 'Yes one']);
    const form = new FormData();
    form.append('file', new Blob(['Hello'], { type: 'text/plain' }), 'note.txt');
    const { id: fileId } = (await ann.post(`/api/v1/chats/${chatId}/files`, form)).body;
    await say(
      chatId,
      [
        { type: 'text', text: 'Read it' },
        { type: 'id', id: fileId },
      ],
      'It says Hello',
    );
    const { secret } = await share(chatId, { audience: 'ORGANIZATION' });
    const data = await bob.ask(copyDocument, { secret });
    const { chat, omittedFileCount } = data.copySharedChat;
    expect(chat).toMatchObject({ name: 'One', userId: bob.userId, agentId: agent.id });
    expect(textsOf(chat)).toEqual(['One', 'Yes one', 'Read it', 'It says Hello']);
    const [file] = chat.messages.nodes[2].files;
    expect([file.filename, omittedFileCount]).toEqual(['note.txt', 0]);
    await ann.delete(`/api/v1/chats/${chatId}`);
    expect(await (await fetch(file.url)).text()).toBe('Hello');
    upstream.next({ text: 'Yes three' });
    expect((await bob.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Three' })).body.status).toBe('completed');
    // The model is told that there is a file; it reads the file when it is sent again.
    const asked = JSON.stringify(upstream.requests.at(-1)?.body?.messages);
    for (const text of ['Yes one', 'Read it', 'It says Hello', 'Three']) expect(asked).toContain(text);
  });

  it('needs an agent that the reader may use, and takes another one', async () => {
    const own = await make.agent({ owner: ann, visibility: 'PRIVATE' });
    const { id: chatId } = await make.chat({ owner: ann, agentId: own.id });
    await say(chatId, 'One', 'Yes one');
    const { secret } = await share(chatId, { audience: 'ORGANIZATION' });
    expect(await open(secret)).toMatchObject({ canGoOn: false, agent: null });
    const refused = await bob.graphql(copyDocument, { secret });
    expect(refused.errors?.[0]).toMatchObject({ message: expect.stringContaining('name another one in agentId') });
    const { data } = await bob.graphql(copyDocument, { secret, input: { agentId: agent.id } });
    expect(data.copySharedChat.chat).toMatchObject({ agentId: agent.id, userId: bob.userId });
  });

  it('copies no user inputs of the other person, and asks for those that the agent needs', async () => {
    const asking = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const input = {
      variableName: 'city',
      type: 'SHORT_TEXT',
      label: 'City',
      configuration: { required: true },
      showOnChatCreate: true,
    };
    await ann.post(`/api/v1/ais/${asking.id}/user-inputs`, input);
    const { body: chat } = await ann.post(`/api/v1/ais/${asking.id}/chats`, { userInputs: { city: 'Rome' } });
    await say(chat.id, 'One', 'Yes one');
    const { secret } = await share(chat.id, { audience: 'ORGANIZATION' });
    expect((await bob.graphql(copyDocument, { secret })).errors?.[0].extensions.code).toBe('MISSING_REQUIRED_PARAMETER');
    const named = { userInputs: [{ name: 'city', value: 'Oslo' }] };
    const { data } = await bob.graphql(copyDocument, { secret, input: named });
    expect(data.copySharedChat.chat.userInputs).toEqual([{ name: 'city' }]);
  });
});
