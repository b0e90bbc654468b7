import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GraphQLReply, TestClient } from '../../../../support/client.ts';
import { eventually } from '../../../../support/processes/eventually.ts';
import { scriptedUpstream, withService } from '../../../../support/service.ts';
import { heldAnswer } from '../../../../support/upstream.ts';

/** Answers of several agents and models to one message, each on a branch, at the same time. */
const other = await scriptedUpstream();
const file = join(mkdtempSync(join(tmpdir(), 'parley-models-')), 'models.json');
writeFileSync(file, JSON.stringify({ providers: [{ id: 'lab', baseUrl: other.url, models: [{ name: 'other-model' }] }] }));
const { make, upstream } = await withService('model', { env: { MODELS_FILE: file } });
const otherModel = 'lab/other-model';

const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });
const agentId = (await make.agent({ owner: ann, name: 'Clerk', instructions: 'Be brief.', chatLogsVisible: true })).id;
const poetId = (await make.agent({ owner: ann, name: 'Poet', instructions: 'Rhyme.' })).id;

const newChat = async () => (await make.chat({ owner: ann, agentId })).id as string;
async function ask(chatId: string, prompt: string, answer: string): Promise<{ question: string; answer: string }> {
  upstream.next({ text: answer });
  expect((await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt })).body).toMatchObject({ status: 'completed' });
  const { messages } = (await ann.get(`/api/v1/chats/${chatId}`)).body;
  return { question: messages.at(-2).id, answer: messages.at(-1).id };
}
const compare = (messageId: string, input: object, who: TestClient = ann) =>
  who.graphql(
    'mutation ($messageId: ID!, $input: CompareAnswersInput) { compareAnswers(messageId: $messageId, input: $input) { id agentId modelId } }',
    { messageId, input },
  );
const codeOf = ({ errors }: GraphQLReply): unknown => errors?.[0]?.extensions?.code;
interface ShownRun {
  readonly id: string;
  readonly status: string;
  readonly agentId: string | null;
  readonly modelId: string;
  readonly messages: readonly { readonly id: string; readonly role: string; readonly content: string }[];
}
const read = async (chatId: string, who: TestClient = ann) =>
  (
    await who.graphql(
      'query ($id: ID!) { chat(id: $id) { agentId activeRunId isVisibleToEditors comparison { messageId runs { id status agentId modelId messages { id role content } } } } }',
      { id: chatId },
    )
  ).data.chat as {
    readonly agentId: string;
    readonly activeRunId: string | null;
    readonly isVisibleToEditors: boolean;
    readonly comparison: { readonly messageId: string; readonly runs: readonly ShownRun[] } | null;
  };
const textsOf = async (chatId: string): Promise<readonly string[]> =>
  (await ann.get(`/api/v1/chats/${chatId}`)).body.messages.map(({ content }: { content: string }) => content);
const select = (messageId: string) =>
  ann.graphql('mutation ($messageId: ID!) { selectBranch(messageId: $messageId) { agentId comparison { messageId } } }', {
    messageId,
  });
async function endOf(chatId: string): Promise<ShownRun> {
  return eventually(async () => {
    const run = (await read(chatId)).comparison?.runs.at(-1);
    if (run === undefined || run.status === 'IN_PROGRESS') throw new Error('it goes on');
    return run;
  });
}

it('answers beside an answer are begun over REST', async () => {
  const [chatId, elsewhere] = [await newChat(), await newChat()];
  const { answer } = await ask(chatId, 'Hello', 'Hi');
  const path = (id: string) => `/api/v1/chats/${id}/messages/${answer}/compare`;
  expect((await ann.post(path(elsewhere), {})).status).toBe(404);
  expect((await bob.post(path(chatId), {})).status).toBe(404);
  other.next({ text: 'Good day' });
  const { body } = await ann.post(path(chatId), { modelId: otherModel });
  expect(body).toMatchObject({ id: expect.any(String), chatId, status: 'in_progress', modelId: otherModel });
  await eventually(async () => expect((await ann.get(`/api/v1/runs/${body.id}`)).body.status).toBe('completed'));
  expect((await read(chatId)).comparison?.runs).toMatchObject([{ id: body.id, modelId: otherModel }]);
});

describe('answers beside each other', () => {
  it('another model answers beside an answer, on a branch, until one is chosen', async () => {
    const chatId = await newChat();
    const { question, answer } = await ask(chatId, 'One', 'Yes one');
    other.next({ text: 'One, said otherwise' });
    const { data } = await compare(answer, { modelId: otherModel });
    expect(data.compareAnswers).toMatchObject({ agentId, modelId: otherModel });
    const run = await endOf(chatId);
    expect(run.messages.map(({ content }) => content)).toEqual(['One, said otherwise']);
    expect((await read(chatId)).comparison?.messageId).toBe(question);
    // Nothing else has changed: the branch that people read, and what the next message goes on from.
    expect(await textsOf(chatId)).toEqual(['One', 'Yes one']);
    expect((await select(run.messages[0]?.id ?? '')).data.selectBranch).toEqual({ agentId, comparison: null });
    expect(await textsOf(chatId)).toEqual(['One', 'One, said otherwise']);
    await ask(chatId, 'Two', 'Yes two');
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('One, said otherwise');
  });

  it('two runs answer at the same time, and each is stopped alone', async () => {
    const chatId = await newChat();
    const first = heldAnswer({ text: ['one ', 'two ', 'three'] });
    upstream.next(first.script);
    const sent = await ann.graphql(
      'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id messages { id } } }',
      { chatId, input: { prompt: { text: 'Count' } } },
    );
    const second = heldAnswer({ text: ['eins ', 'zwei ', 'drei'] });
    other.next(second.script);
    await compare(sent.data.sendMessage.messages[0].id, { modelId: otherModel });
    await eventually(async () => {
      const chat = await read(chatId);
      expect(chat.activeRunId).toBe(sent.data.sendMessage.id);
      expect(chat.comparison?.runs.map(({ status }) => status)).toEqual(['IN_PROGRESS']);
      expect(other.requests.length).toBeGreaterThan(0);
    });
    const [beside] = (await read(chatId)).comparison?.runs ?? [];
    const cancelled = await ann.graphql('mutation ($id: ID!) { cancelRun(id: $id) { status } }', { id: beside?.id });
    expect(cancelled.data.cancelRun.status).toBe('CANCELLED');
    expect((await read(chatId)).activeRunId).toBe(sent.data.sendMessage.id);
    first.goOn();
    second.goOn();
    await eventually(async () => expect(await textsOf(chatId)).toEqual(['Count', 'one two three']));
  });

  it('a message can be sent while a run stands beside, and both end on their branches', async () => {
    const chatId = await newChat();
    const { answer } = await ask(chatId, 'One', 'Yes one');
    const { script, goOn } = heldAnswer({ text: ['late ', 'answer'] });
    other.next(script);
    const before = other.requests.length;
    await compare(answer, { modelId: otherModel });
    await eventually(async () => expect(other.requests).toHaveLength(before + 1));
    const asked = JSON.stringify(other.requests.at(-1)?.body);
    await ask(chatId, 'Two', 'Yes two');
    goOn();
    const run = await endOf(chatId);
    expect(run.messages.map(({ content }) => content)).toEqual(['late answer']);
    expect(await textsOf(chatId)).toEqual(['One', 'Yes one', 'Two', 'Yes two']);
    expect(asked).toContain('One');
    expect(asked).not.toContain('Yes one');
  });

  it('another agent answers with its own instructions, and goes on in the chat when it is chosen', async () => {
    const chatId = await newChat();
    const { answer } = await ask(chatId, 'Roses?', 'Red.');
    expect((await read(chatId)).isVisibleToEditors).toBe(true);
    upstream.next({ text: 'Red, they said' });
    expect((await compare(answer, { agentId: poetId })).data.compareAnswers.agentId).toBe(poetId);
    const run = await endOf(chatId);
    const asked = JSON.stringify(upstream.requests.at(-1)?.body);
    expect(asked).toContain('Rhyme.');
    expect(asked).not.toContain('Be brief.');
    // That agent does not show its chats.
    expect(await read(chatId)).toMatchObject({ agentId, isVisibleToEditors: false });
    expect((await select(run.messages[0]?.id ?? '')).data.selectBranch.agentId).toBe(poetId);
    const rating = 'mutation ($id: ID!) { rateMessage(id: $id, input: { rating: UP, tags: ["better"] }) { agent { id } } }';
    const rated = await ann.graphql(rating, { id: run.messages[0]?.id });
    expect(rated.data.rateMessage.agent.id).toBe(poetId);
    const { data: told } = await ann.graphql('query ($id: ID) { feedback(agentId: $id) { nodes { tags agentId } } }', {
      id: poetId,
    });
    expect(told.feedback.nodes).toEqual([{ tags: ['better'], agentId: poetId }]);
    await ask(chatId, 'Violets?', 'Blue.');
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('Rhyme.');
    expect((await select(answer)).data.selectBranch.agentId).toBe(agentId);
    await ask(chatId, 'And lilies?', 'White.');
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('Be brief.');
  });

  it('refuses agents that the caller may not use, other people, and a fifth answer', async () => {
    const chatId = await newChat();
    const { question, answer } = await ask(chatId, 'One', 'Yes one');
    const foreign = (await make.agent({ owner: bob })).id;
    expect(codeOf(await compare(answer, { agentId: foreign }))).toBe('NOT_FOUND');
    expect(codeOf(await compare(answer, { modelId: 'lab/none' }))).toBe('MODEL_NOT_FOUND');
    expect(codeOf(await compare(answer, {}, bob))).toBe('NOT_FOUND');
    for (const id of [answer, question, answer]) {
      upstream.next({ text: 'Again' });
      expect(codeOf(await compare(id, {}))).toBeUndefined();
    }
    expect(codeOf(await compare(answer, {}))).toBe('CONFLICT');
    await eventually(async () =>
      expect((await read(chatId)).comparison?.runs.map(({ status }) => status)).toEqual(Array(3).fill('COMPLETED')),
    );
  });

  it('names the inputs of an agent that the chat has no values for', async () => {
    const asking = await make.agent({ owner: ann });
    const added = await ann.post(`/api/v1/ais/${asking.id}/user-inputs`, {
      ...{ label: 'Town', variableName: 'town', type: 'SHORT_TEXT', showOnChatCreate: true },
      configuration: { required: true },
    });
    expect(added.status, JSON.stringify(added.body)).toBeLessThan(300);
    const { answer } = await ask(await newChat(), 'One', 'Yes one');
    const refusal = await compare(answer, { agentId: asking.id });
    expect(JSON.stringify(refusal.errors?.[0]?.extensions)).toContain('town');
  });

  it('is deleted with its chat, also while it goes on', async () => {
    const chatId = await newChat();
    const { answer } = await ask(chatId, 'One', 'Yes one');
    const { script, goOn } = heldAnswer({ text: ['late ', 'answer'] });
    other.next(script);
    const { data } = await compare(answer, { modelId: otherModel });
    expect((await ann.delete(`/api/v1/chats/${chatId}`)).status).toBeLessThan(300);
    goOn();
    const run = await ann.graphql('query ($id: ID!) { run(id: $id) { id } }', { id: data.compareAnswers.id });
    expect(run.data.run).toBeNull();
  });
});
