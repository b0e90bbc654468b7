import { describe, expect, it } from 'vitest';
import { zip } from '../../../support/knowledge/zip.ts';
import {
  chatGptConversation,
  claudeConversation,
  libreChatConversation,
  models,
  openWebUiChat,
  said,
} from '../../../support/operations/chat-exports.ts';
import { chatsOf, importFile } from '../../../support/operations/chat-imports.ts';
import { withService } from '../../../support/service.ts';

const { make, upstream } = await withService('model');
const organization = await make.organization();
const ann = await make.person({ organization });
const agentId = (await make.agent({ owner: ann, modelId: 'openai/test-model', visibility: 'ORGANIZATION' })).id;

const newcomer = () => make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });

const branched = (modelName: string) => [
  { role: 'USER', content: said[0], modelName: null },
  { role: 'ASSISTANT', content: said[2], modelName, siblingCount: 2, siblings: [{ content: said[1] }, { content: said[2] }] },
  { role: 'USER', content: said[3], modelName: null },
];

interface SentMessage {
  readonly role: string;
  readonly content: unknown;
}

describe('an export of', () => {
  it.each([
    [
      'ChatGPT, in its archive',
      'CHATGPT',
      zip({ 'user.json': '{}', 'conversations.json': JSON.stringify([chatGptConversation('c1')]) }),
      models.chatgpt,
    ],
    [
      'ChatGPT, in several files',
      'CHATGPT',
      zip({ 'conversations-000.json': JSON.stringify([chatGptConversation('c1')]), 'shared_conversations.json': '[{"id":"x"}]' }),
      models.chatgpt,
    ],
    ['LibreChat, recursive', 'LIBRECHAT', libreChatConversation('c2', { isRecursive: true }), models.libreChat],
    ['LibreChat, as a list', 'LIBRECHAT', libreChatConversation('c2', { isRecursive: false }), models.libreChat],
    ['Open WebUI', 'OPEN_WEBUI', [openWebUiChat('c3')], models.openWebUi],
  ])('%s keeps names, times, branches and models', async (_what, format, content, modelName) => {
    const person = await newcomer();
    expect(await importFile(person, agentId, content)).toMatchObject({
      status: 'DONE',
      format,
      totalCount: 1,
      readCount: 1,
      importedCount: 1,
      messageCount: 4,
    });
    const [chat] = await chatsOf(person);
    expect(chat).toMatchObject({ name: 'Deploying the cluster', agentId, messages: { nodes: branched(modelName) } });
    expect(chat.createdAt).toMatch(/^2025-08-24T01:46:40/);
    expect(chat.updatedAt).toMatch(/^2025-08-24T01:49:40/);
    expect(chat.messages.nodes[2].createdAt).toMatch(/^2025-08-24T01:49:40/);
  });

  it('Claude keeps names, times and what was said, and not the notes of its text', async () => {
    const person = await newcomer();
    const done = await importFile(person, agentId, [claudeConversation('c4')]);
    expect(done).toMatchObject({
      format: 'CLAUDE',
      importedCount: 1,
      omissions: [{ kind: 'THOUGHTS', count: 1, chatNames: ['Deploying the cluster'] }],
    });
    const [chat] = await chatsOf(person);
    expect(chat.messages.nodes).toMatchObject([
      { role: 'USER', content: said[0] },
      { role: 'ASSISTANT', content: said[1] },
    ]);
  });

  it('all of them in one list brings each', async () => {
    const person = await newcomer();
    const all = [
      chatGptConversation('a'),
      claudeConversation('a'),
      libreChatConversation('a', { isRecursive: true }),
      openWebUiChat('a'),
    ];
    expect(await importFile(person, agentId, all)).toMatchObject({ totalCount: 4, importedCount: 4, existingCount: 0 });
  });
});

it('says what was left out, by kind and with the names of chats', async () => {
  const person = await newcomer();
  const empty = { uuid: 'e', name: 'Nothing said', chat_messages: [] };
  const { omissions, ...done } = await importFile(person, agentId, [chatGptConversation('c1'), empty, 7, { title: 'no chat' }]);
  expect(done).toMatchObject({ totalCount: 4, readCount: 4, importedCount: 1 });
  const named = { chatNames: ['Deploying the cluster'] };
  expect(omissions).toEqual(
    expect.arrayContaining([
      { kind: 'IMAGES', count: 1, ...named },
      { kind: 'TOOL_CALLS', count: 1, ...named },
      { kind: 'THOUGHTS', count: 1, ...named },
      { kind: 'INSTRUCTIONS', count: 1, ...named },
      { kind: 'EMPTY_CHATS', count: 1, chatNames: [] },
      { kind: 'UNREADABLE_CHATS', count: 2, chatNames: [] },
    ]),
  );
});

it('cuts a message that is too long, and says so', async () => {
  const person = await newcomer();
  const { chat_messages: messages, ...chat } = claudeConversation('long');
  const long = { ...messages[0], content: [{ type: 'text', text: 'x'.repeat(200_005) }] };
  const { omissions } = await importFile(person, agentId, [{ ...chat, chat_messages: [long] }]);
  expect(omissions).toContainEqual({ kind: 'CUT_MESSAGES', count: 1, chatNames: ['Deploying the cluster'] });
  const [{ messages: shown }] = await chatsOf(person);
  expect(shown.nodes[0].content).toHaveLength(200_001);
});

it('replaces the marks of citations of ChatGPT by the links that the file has for them', async () => {
  const person = await newcomer();
  const chat = chatGptConversation('marks');
  const mark = '\ue200cite\ue202turn0search0\ue201';
  const { message } = chat.mapping.m3;
  Object.assign(message ?? {}, {
    content: { content_type: 'text', parts: [`See this ${mark}, not \ue200cite\ue202gone\ue201that.`] },
    metadata: { content_references: [{ matched_text: mark, alt: '([Helm](https://helm.sh))' }] },
  });
  await importFile(person, agentId, [chat]);
  const [{ messages }] = await chatsOf(person);
  expect(messages.nodes[1].content).toBe('See this ([Helm](https://helm.sh)), not that.');
});

it('can be gone on with: the model gets what was said before', async () => {
  const person = await newcomer();
  await importFile(person, agentId, [openWebUiChat('go-on')]);
  const [{ id }] = await chatsOf(person);
  upstream.next({ text: 'Call somebody.' });
  const sent = await person.post(`/api/v1/chats/${id}/messages`, { prompt: 'Still broken' });
  expect(sent.status).toBe(200);
  const body = upstream.requests.at(-1)?.body as { readonly messages: readonly SentMessage[] } | undefined;
  const messages = body?.messages ?? [];
  expect(messages.filter(({ role }) => role !== 'system').map(({ content }) => content)).toEqual([
    said[0],
    said[2],
    said[3],
    'Still broken',
  ]);
  const [{ messages: shown }] = await chatsOf(person);
  expect(shown.nodes.at(-1)).toMatchObject({ role: 'ASSISTANT', content: 'Call somebody.' });
});

it('gives messages ids that sort as the messages do, like those of here', async () => {
  const person = await newcomer();
  const messages = Array.from({ length: 40 }, (_, index) => ({
    uuid: `m${index}`,
    sender: index % 2 === 0 ? 'human' : 'assistant',
    text: `${index}`,
  }));
  await importFile(person, agentId, [{ uuid: 'ordered', name: 'Ordered', chat_messages: messages }]);
  const { data } = await person.graphql('{ chats(first: 1) { nodes { messages(first: 50) { nodes { id content } } } } }');
  const { nodes } = data.chats.nodes[0].messages;
  expect(nodes.map(({ content }: { content: string }) => content)).toEqual(messages.map(({ text }) => text));
  expect(nodes.toSorted((one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1))).toEqual(nodes);
});

it('takes 5,000 messages that are nested in each other', async () => {
  const person = await newcomer();
  const open = (index: number) => `{"messageId":"m${index}","isCreatedByUser":${index % 2 === 0},"text":"t${index}","children":[`;
  const text = `{"conversationId":"deep","title":"Deep","recursive":true,"messages":[${Array.from({ length: 5_000 }, (_, index) => open(index)).join('')}${']}'.repeat(5_000)}]}`;
  expect(await importFile(person, agentId, text)).toMatchObject({ status: 'DONE', importedCount: 1, messageCount: 5_000 });
});
