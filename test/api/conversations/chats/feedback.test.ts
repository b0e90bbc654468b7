import { describe, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { withService } from '../../../support/service.ts';

const { make } = await withService('model');

const organization = await make.organization();
const [ann, cleo, dan] = [
  await make.person({ organization, name: 'Ann' }),
  await make.person({ organization, name: 'Cleo' }),
  await make.person({ organization }),
];
const admin = await make.person({ organization, role: 'ADMIN' });
const bob = await make.person();
const open = await make.agent({ owner: ann, visibility: 'ORGANIZATION', chatLogsVisible: true });
const hidden = await make.agent({ owner: ann, visibility: 'ANYONE_WITH_LINK' });

/** An answer of an agent to somebody. */
async function answered(who: TestClient, agent: { id: string }) {
  const { id: chatId } = await make.chat({ owner: who, agentId: agent.id });
  await who.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi' });
  const [question, answer] = (await who.get(`/api/v1/chats/${chatId}`)).body.messages;
  return { chatId, question, answer, path: `/api/v1/chats/${chatId}/messages/${answer.id}/feedback` };
}
const rate = `mutation ($id: ID!, $input: RateMessageInput!) {
  rateMessage(id: $id, input: $input) { id feedback { id rating tags comment createdAt updatedAt runId } }
}`;
const list = `query ($agentId: ID, $rating: FeedbackRating, $first: Int) {
  feedback(agentId: $agentId, rating: $rating, first: $first) {
    nodes { id rating tags comment messageId message { content } chat { id } agent { id } } totalCount pageInfo { hasNextPage }
  }
}`;
const listOf = async (who: TestClient, agent: { id: string }, more: object = {}) =>
  (await who.graphql(list, { agentId: agent.id, ...more })).data.feedback;

describe('rating an answer', () => {
  it('keeps what its user says of it, and replaces and takes it away', async () => {
    const { answer, path } = await answered(cleo, open);
    const input = { rating: 'DOWN', tags: [' wrong ', 'too long', 'wrong'], comment: ' No. ' };
    const { data } = await cleo.graphql(rate, { id: answer.id, input });
    const { feedback } = data.rateMessage;
    expect(feedback).toMatchObject({ rating: 'DOWN', tags: ['wrong', 'too long'], comment: 'No.', runId: answer.runId });
    const replaced = await cleo.put(path, { rating: 'UP' });
    expect(replaced).toMatchObject({
      status: 200,
      body: { id: feedback.id, createdAt: feedback.createdAt, rating: 'UP', tags: [], comment: null, messageId: answer.id },
    });
    const query = 'query ($id: ID!) { node(id: $id) { ... on Message { feedback { rating } } } }';
    expect((await cleo.graphql(query, { id: answer.id })).data.node).toEqual({ feedback: { rating: 'UP' } });
    expect((await ann.graphql(query, { id: answer.id })).data.node).toEqual({ feedback: { rating: 'UP' } });
    expect((await cleo.put(path, { rating: 'NONE' })).body).toBeNull();
    expect((await cleo.graphql(query, { id: answer.id })).data.node).toEqual({ feedback: null });
  });

  it('is shown twice in one document as each change left it', async () => {
    const { answer } = await answered(cleo, open);
    const change = (rating: string) => `rateMessage(id: $id, input: { rating: ${rating} }) { feedback { rating } }`;
    const { data } = await cleo.graphql(`mutation ($id: ID!) { a: ${change('UP')} b: ${change('DOWN')} }`, { id: answer.id });
    expect(data).toEqual({ a: { feedback: { rating: 'UP' } }, b: { feedback: { rating: 'DOWN' } } });
  });

  it('goes with the message', async () => {
    const { answer, path, chatId } = await answered(cleo, open);
    const { body } = await cleo.put(path, { rating: 'UP' });
    await cleo.post(`/api/v1/chats/${chatId}/reset`);
    expect((await admin.graphql('query ($id: ID!) { node(id: $id) { id } }', { id: body.id })).data.node).toBeNull();
    expect((await cleo.put(path, { rating: 'UP' })).status).toBe(404);
    expect(answer.id).toBeDefined();
  });

  it.each([
    ['11 tags', { rating: 'UP', tags: Array.from({ length: 11 }, (_, n) => `t${n}`) }, 'tags'],
    ['a long tag', { rating: 'UP', tags: ['x'.repeat(51)] }, 'tags[0]'],
    ['a blank tag', { rating: 'UP', tags: ['ok', ' '] }, 'tags[1]'],
    ['a long comment', { rating: 'UP', comment: 'x'.repeat(2_001) }, 'comment'],
    ['an unknown rating', { rating: 'MAYBE' }, 'rating'],
    ['no rating', {}, 'rating'],
  ])('refuses %s', async (_case, input, param) => {
    const { path } = await answered(cleo, open);
    expect(await cleo.put(path, input)).toMatchObject({ status: 400, body: { error: { param } } });
  });

  it('refuses messages that are no answers', async () => {
    const { question, chatId } = await answered(cleo, open);
    const ofQuestion = `/api/v1/chats/${chatId}/messages/${question.id}/feedback`;
    expect(await cleo.put(ofQuestion, { rating: 'UP' })).toMatchObject({ status: 409, body: { error: { param: 'messageId' } } });
  });
});

describe('the list of feedback', () => {
  it('shows editors that about their agents, with contents where they may read the chat, and others their own', async () => {
    const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });
    const closed = await answered(cleo, agent);
    await cleo.put(closed.path, { rating: 'DOWN', comment: 'Not so' });
    await ann.patch(`/api/v1/ais/${agent.id}`, { chatLogsVisible: true });
    const shown = await answered(cleo, agent);
    await cleo.put(shown.path, { rating: 'UP' });
    const own = await answered(dan, agent);
    await dan.put(own.path, { rating: 'UP' });
    const all = await listOf(ann, agent);
    expect(all).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: false } });
    expect(all.nodes.map(({ messageId }: { messageId: string }) => messageId)).toEqual(
      [own, shown, closed].map(({ answer }) => answer.id),
    );
    expect(all.nodes[1]).toMatchObject({ rating: 'UP', message: { content: 'Hello from upstream' }, chat: { id: shown.chatId } });
    expect(all.nodes[2]).toMatchObject({ rating: 'DOWN', comment: 'Not so', message: null, chat: null, agent: { id: agent.id } });
    expect((await listOf(ann, agent, { rating: 'DOWN' })).nodes).toHaveLength(1);
    expect((await listOf(ann, agent, { first: 2 })).pageInfo).toEqual({ hasNextPage: true });
    expect((await listOf(dan, agent)).nodes.map(({ messageId }: { messageId: string }) => messageId)).toEqual([own.answer.id]);
    expect((await listOf(admin, agent)).totalCount).toBe(3);
    expect((await bob.graphql(list, { agentId: agent.id })).errors?.[0]).toMatchObject({ extensions: { code: 'NOT_FOUND' } });
    const counts = '($id: ID!) { agent(id: $id) { feedback { up down } } }'.replace(/^/, 'query ');
    expect((await ann.graphql(counts, { id: agent.id })).data.agent).toEqual({ feedback: { up: 2, down: 1 } });
  });

  it('never crosses organizations', async () => {
    const { path, answer } = await answered(bob, hidden);
    const { body } = await bob.put(path, { rating: 'DOWN', comment: 'From elsewhere' });
    expect((await listOf(ann, hidden)).nodes).toEqual([]);
    expect((await listOf(bob, hidden)).nodes).toMatchObject([{ messageId: answer.id }]);
    const node = 'query ($id: ID!) { node(id: $id) { ... on Feedback { comment } } }';
    expect((await ann.graphql(node, { id: body.id })).data.node).toBeNull();
    expect((await bob.graphql(node, { id: body.id })).data.node).toEqual({ comment: 'From elsewhere' });
    const counts = 'query ($id: ID!) { agent(id: $id) { feedback { up down } } }';
    expect((await ann.graphql(counts, { id: hidden.id })).data.agent).toEqual({ feedback: { up: 0, down: 0 } });
  });
});
