import { describe, expect, it } from 'vitest';
import { transcriptOf } from '../../../support/runs/answers.ts';
import { withService } from '../../../support/service.ts';

/** What a chat begins with, and what its model is told besides what people say. */
const { make, upstream } = await withService('model');

const ann = await make.person();

const chatOf = async (members: object) => {
  const agent = await make.agent({ owner: ann, ...members });
  return { agent, chat: await make.chat({ owner: ann, agentId: agent.id }) };
};
const send = (chatId: string, prompt: string, members: object = {}) =>
  ann.post(`/api/v1/chats/${chatId}/messages`, { prompt, ...members });
const asked = () => (upstream.requests.at(-1)?.body?.messages ?? []) as { role: string; content: string }[];

describe('an introduction', () => {
  const introduction = 'Ask me about the handbook.';

  it('is the first message of the transcript, and no turn for the model', async () => {
    const { chat } = await chatOf({ introduction });
    expect(await transcriptOf(ann, chat.id)).toEqual([`assistant: ${introduction}`]);
    upstream.next({ text: 'Hello.' });
    await send(chat.id, 'Hi');
    expect(await transcriptOf(ann, chat.id)).toEqual([`assistant: ${introduction}`, 'user: Hi', 'assistant: Hello.']);
    expect(asked().map(({ role }) => role)).toEqual(['system', 'user']);
    expect(JSON.stringify(asked())).not.toContain(introduction);
  });

  it('stays in a duplicate, still unknown to the model, and goes with a reset', async () => {
    const { chat } = await chatOf({ introduction });
    await send(chat.id, 'Hi');
    const copy = (await ann.post(`/api/v1/chats/${chat.id}/duplicate`)).body;
    expect(copy.messages[0]).toMatchObject({ role: 'assistant', content: introduction });
    await send(copy.id, 'And now?');
    expect(JSON.stringify(asked())).not.toContain(introduction);
    const reset = (await ann.post(`/api/v1/chats/${chat.id}/reset`)).body;
    expect(reset.messages).toEqual([]);
    const fresh = await make.chat({ owner: ann, agentId: chat.ai.id });
    expect((await ann.post(`/api/v1/chats/${fresh.id}/summarize`)).status).toBe(409);
  });

  it('that is absent or blank adds nothing', async () => {
    for (const members of [{}, { introduction: null }, { introduction: ' ' }]) {
      const { chat } = await chatOf(members);
      expect(await transcriptOf(ann, chat.id)).toEqual([]);
    }
  });
});

describe('a seed', () => {
  it('is given back by create and get, and not sent to the model', async () => {
    const { agent, chat } = await chatOf({ seed: 'Tell me about …' });
    expect(chat.seed).toBe('Tell me about …');
    expect((await ann.get(`/api/v1/chats/${chat.id}`)).body.seed).toBe('Tell me about …');
    await send(chat.id, 'Hi');
    expect(JSON.stringify(asked())).not.toContain('Tell me about');
    const { data } = await ann.graphql('mutation ($id: ID!) { createChat(agentId: $id) { seed } }', { id: agent.id });
    expect(data.createChat.seed).toBe('Tell me about …');
    expect((await chatOf({})).chat.seed).toBe('');
  });
});

describe('the date', () => {
  const line = /^Answer in Welsh\.\n\nCurrent date: (\d{4}-\d\d-\d\d) \((\w+day)\), (\d\d:\d\d) UTC$/;

  it('at the beginning of a chat stays at the end of the instructions; another one stands behind the message that names it', async () => {
    const { chat } = await chatOf({ instructions: 'Answer in Welsh.' });
    const before = Date.now();
    await send(chat.id, 'Hi');
    const [, day, weekday, time] = line.exec(asked()[0]?.content ?? '') ?? [];
    const told = Date.parse(`${day}T${time}:00Z`);
    expect(told).toBeGreaterThan(before - 61_000);
    expect(told).toBeLessThanOrEqual(Date.now());
    expect(weekday).toBe(new Date(told).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' }));
    await send(chat.id, 'And then?', { date: '2026-11-22T15:05:59+01:00' });
    expect(asked()[0]?.content).toMatch(line);
    expect(asked().at(-1)?.content).toMatch(/^And then\?\n\nCurrent date: 2026-11-22 \(Sunday\), 14:05 UTC\. /);
  });
});

describe('the events of a run over GraphQL', () => {
  it('end with the calls it asks for and the message that holds them', async () => {
    const { chat } = await chatOf({});
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"a":1}' }] }, { text: '3' });
    const events = [];
    const tools = [{ function: { name: 'add' } }];
    for await (const { data, errors } of ann.subscribe(
      `subscription ($chatId: ID!, $input: SendMessageInput!) { messageEvents(chatId: $chatId, input: $input) {
        __typename ... on RunEnded { run { id systemMessageId toolCalls { id name arguments } } } } }`,
      { chatId: chat.id, input: { prompt: { text: 'Add' }, tools } },
    )) {
      expect(errors).toBeUndefined();
      events.push(data.messageEvents);
    }
    const last = events.at(-1);
    expect(last).toMatchObject({
      __typename: 'RunCompleted',
      run: { toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"a":1}' }] },
    });
    const { data } = await ann.graphql('query ($id: ID!) { run(id: $id) { systemMessageId } }', { id: last.run.id });
    expect(data.run.systemMessageId).toBe(last.run.systemMessageId);
    const outputs = [{ toolCallId: 'call_1', status: 'success', output: '3' }];
    const { status, body } = await ann.post(`/api/v1/chats/${chat.id}/tool-outputs`, {
      systemMessageId: last.run.systemMessageId,
      outputs,
    });
    expect([status, body.message.content]).toEqual([200, '3']);
  });
});
