import { describe, expect, it } from 'vitest';
import type { GraphQLReply, TestClient } from '../../../../support/client.ts';
import { eventually } from '../../../../support/processes/eventually.ts';
import { transcriptOf } from '../../../../support/runs/answers.ts';
import { withService } from '../../../../support/service.ts';
import { heldAnswer } from '../../../../support/upstream.ts';

/** What is sent while a run answers can be seen, edited and withdrawn until its turn comes. */
const { make, upstream } = await withService('model');

const ann = await make.person();
const bob = await make.person();
const agentId = (await make.agent({ owner: ann, instructions: 'Answer.' })).id;

const words = ['one ', 'two ', 'three ', 'four'];

/** A chat whose first message is being answered. The rest of the answer comes when it is told to go on. */
async function busyChat() {
  const { id } = await make.chat({ owner: ann, agentId });
  const { script, goOn } = heldAnswer({ text: words });
  upstream.next(script);
  upstream.otherwise({ text: 'Done.' });
  const before = upstream.requests.length;
  const runId = (await send(id, 'A')).id;
  await eventually(async () => expect(upstream.requests).toHaveLength(before + 1));
  return { id, runId, goOn };
}
interface Queued {
  readonly id: string;
  readonly content: string;
  readonly state: string;
  readonly runId: string;
}
const send = async (chatId: string, prompt: string | object, threadMode?: string) => {
  const input = { prompt: typeof prompt === 'string' ? { text: prompt } : prompt, threadMode };
  const { data } = await ann.graphql(
    'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id status } }',
    { chatId, input },
  );
  return data.sendMessage as { readonly id: string; readonly status: string };
};
const queueOf = async (chatId: string, who: TestClient = ann): Promise<readonly Queued[]> =>
  (await who.graphql('query ($id: ID!) { chat(id: $id) { queue { id content state runId } } }', { id: chatId })).data.chat.queue;
const edit = (chatId: string, messageId: string, text: string, who: TestClient = ann) =>
  who.graphql(
    'mutation ($chatId: ID!, $messageId: ID!, $text: String!) { editQueuedMessage(chatId: $chatId, messageId: $messageId, text: $text) { id } }',
    { chatId, messageId, text },
  );
const withdraw = (chatId: string, messageId: string, who: TestClient = ann) =>
  who.graphql(
    'mutation ($chatId: ID!, $messageId: ID!) { withdrawQueuedMessage(chatId: $chatId, messageId: $messageId) { queue { content } } }',
    { chatId, messageId },
  );
const statusOf = async (runId: string) =>
  (await ann.graphql('query ($id: ID!) { run(id: $id) { status } }', { id: runId })).data.run.status as string;
const codeOf = ({ errors }: GraphQLReply): unknown => errors?.[0]?.extensions?.code;

describe('the queue of a chat', () => {
  it('shows what waits, in its order, and what it says is what is asked when its turn comes', async () => {
    const { id, goOn } = await busyChat();
    const second = await send(id, 'B');
    await send(id, 'C');
    const queue = await queueOf(id);
    expect(queue.map(({ content, state }) => [content, state])).toEqual([
      ['B', 'WAITING'],
      ['C', 'WAITING'],
    ]);
    const [b, c] = queue;
    await edit(id, b?.id ?? '', 'B, but shorter');
    expect((await withdraw(id, c?.id ?? '')).data.withdrawQueuedMessage.queue).toEqual([{ content: 'B, but shorter' }]);
    goOn();
    await eventually(async () => expect(await statusOf(second.id)).toBe('COMPLETED'));
    expect(await queueOf(id)).toEqual([]);
    expect(await transcriptOf(ann, id)).toEqual([
      'user: A',
      `assistant: ${words.join('')}`,
      'user: B, but shorter',
      'assistant: Done.',
    ]);
    const asked = JSON.stringify(upstream.requests.at(-1)?.body);
    expect(asked).toContain('B, but shorter');
    expect(asked).not.toContain('"C"');
    expect(codeOf(await edit(id, b?.id ?? '', 'Too late'))).toBe('CONFLICT');
  });

  it('cancels a run for which nothing waits any more, and leaves the chat free', async () => {
    const { id, goOn } = await busyChat();
    const second = await send(id, 'B');
    const [b] = await queueOf(id);
    await withdraw(id, b?.id ?? '');
    expect(await statusOf(second.id)).toBe('CANCELLED');
    expect(codeOf(await withdraw(id, b?.id ?? ''))).toBe('CONFLICT');
    goOn();
    await eventually(async () => expect(await transcriptOf(ann, id)).toEqual(['user: A', `assistant: ${words.join('')}`]));
    const third = await send(id, 'D');
    await eventually(async () => expect(await statusOf(third.id)).toBe('COMPLETED'));
  });

  it('searches knowledge and names the chat by the first message that still waits', async () => {
    const { id, goOn } = await busyChat();
    await send(id, 'Fro');
    await send(id, 'Second');
    const [b] = await queueOf(id);
    await withdraw(id, b?.id ?? '');
    const [c] = await queueOf(id);
    expect(c?.content).toBe('Second');
    goOn();
    await eventually(async () => expect(await transcriptOf(ann, id)).toContain('assistant: Done.'));
    expect(await transcriptOf(ann, id)).toContain('user: Second');
  });

  it('keeps the files of a message that gets another text', async () => {
    const { id, goOn } = await busyChat();
    const form = new FormData();
    form.append('file', new Blob(['Paris is a city'], { type: 'text/plain' }), 'note.txt');
    const fileId = (await ann.post(`/api/v1/chats/${id}/files`, form)).body.id as string;
    await send(id, { parts: [{ text: 'Read it' }, { fileId }] });
    const [queued] = await queueOf(id);
    expect(codeOf(await edit(id, queued?.id ?? '', ' '))).toBeUndefined();
    await edit(id, queued?.id ?? '', 'What is Paris?');
    goOn();
    await eventually(async () => expect(await transcriptOf(ann, id)).toContain('assistant: Done.'));
    const asked = JSON.stringify(upstream.requests.at(-1)?.body);
    expect(asked).toContain('What is Paris?');
    expect(asked).toContain('Paris is a city');
    expect(asked).not.toContain('Read it');
  });

  it('says what joins the run that answers, which cannot be taken back', async () => {
    const { id, runId, goOn } = await busyChat();
    await send(id, 'And B?', 'STEER');
    const [joining] = await queueOf(id);
    expect(joining).toMatchObject({ content: 'And B?', state: 'JOINING', runId });
    expect(codeOf(await withdraw(id, joining?.id ?? ''))).toBe('CONFLICT');
    goOn();
    await eventually(async () => expect(await statusOf(runId)).toBe('COMPLETED'));
    expect(await queueOf(id)).toEqual([]);
    expect(await transcriptOf(ann, id)).toContain('user: And B?');
  });

  it('refuses a blank text, and other people', async () => {
    const { id, goOn } = await busyChat();
    await send(id, 'B');
    const [b] = await queueOf(id);
    const blank = await edit(id, b?.id ?? '', '  ');
    expect(blank.errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_VALUE', faults: [{ path: 'text' }] });
    expect(codeOf(await edit(id, b?.id ?? '', 'Mine', bob))).toBe('NOT_FOUND');
    expect(codeOf(await withdraw(id, b?.id ?? '', bob))).toBe('NOT_FOUND');
    expect((await queueOf(id)).map(({ content }) => content)).toEqual(['B']);
    goOn();
    await eventually(async () => expect(await transcriptOf(ann, id)).toContain('assistant: Done.'));
  });

  it('tells the followers of the chat of each change', async () => {
    const { id, goOn } = await busyChat();
    const frames = ann.subscribe('subscription ($id: ID!) { chatUpdated(chatId: $id) { queue { content } } }', { id });
    const next = async () => (await frames.next()).value.data.chatUpdated.queue.map(({ content }: Queued) => content);
    expect(await next()).toEqual([]);
    await send(id, 'B');
    expect(await next()).toEqual(['B']);
    await send(id, 'C');
    expect(await next()).toEqual(['B', 'C']);
    const [b] = await queueOf(id);
    await withdraw(id, b?.id ?? '');
    expect(await next()).toEqual(['C']);
    goOn();
    await frames.return(undefined);
    await eventually(async () => expect(await transcriptOf(ann, id)).toContain('assistant: Done.'));
  });
});
