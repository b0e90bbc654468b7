import { describe, expect, it } from 'vitest';
import type { GraphQLReply, TestClient } from '../../../../support/client.ts';
import { eventually } from '../../../../support/processes/eventually.ts';
import { withService } from '../../../../support/service.ts';
import { heldAnswer } from '../../../../support/upstream.ts';

/** What models get of a chat can begin anew, or with a summary, and both can be taken back. The transcript stays. */
const { make, upstream } = await withService('model');

const ann = await make.person();
const bob = await make.person();
const agentId = (await make.agent({ owner: ann, instructions: 'Answer.' })).id;

const newChat = async () => (await make.chat({ owner: ann, agentId })).id as string;
async function say(chatId: string, prompt: string): Promise<void> {
  upstream.next({ text: `Yes ${prompt}` });
  expect((await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt })).body).toMatchObject({ status: 'completed' });
}
const change = (what: string, id: string, members = 'contextStart { messageId summary }', who: TestClient = ann) =>
  who.graphql(`mutation ($id: ID!) { ${what}(id: $id) { ${members} } }`, { id });
const startOf = async (id: string) =>
  (await ann.graphql('query ($id: ID!) { chat(id: $id) { contextStart { messageId summary } } }', { id })).data.chat.contextStart;
const codeOf = ({ errors }: GraphQLReply): unknown => errors?.[0]?.extensions?.code;
const messagesOf = async (id: string): Promise<readonly { readonly id: string; readonly content: string }[]> =>
  (await ann.get(`/api/v1/chats/${id}`)).body.messages;
/** What the model was given last, without instructions. */
const asked = () =>
  ((upstream.requests.at(-1)?.body?.messages ?? []) as readonly { role: string; content: string }[])
    .filter(({ role }) => role !== 'system')
    .map(({ content }) => content);

describe('the context of a chat', () => {
  it('begins anew, without a loss in the transcript, and is taken back', async () => {
    const id = await newChat();
    await say(id, 'One');
    expect(await startOf(id)).toBeNull();
    const { data } = await change('emptyChatContext', id);
    const last = (await messagesOf(id)).at(-1);
    expect(data.emptyChatContext.contextStart).toEqual({ messageId: last?.id, summary: null });
    await say(id, 'Two');
    expect(asked()).toEqual(['Two']);
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).not.toContain('Summary of the earlier turns');
    expect((await messagesOf(id)).map(({ content }) => content)).toEqual(['One', 'Yes One', 'Two', 'Yes Two']);
    expect((await change('restoreChatContext', id)).data.restoreChatContext.contextStart).toBeNull();
    await say(id, 'Three');
    expect(asked()).toEqual(['One', 'Yes One', 'Two', 'Yes Two', 'Three']);
    expect(codeOf(await change('restoreChatContext', id))).toBe('CONFLICT');
  });

  it('begins with a summary, whose taking back leads to what stood before', async () => {
    const id = await newChat();
    for (const prompt of ['One', 'Two', 'Three']) await say(id, prompt);
    upstream.next({ text: 'They counted.' });
    await change('compressChat', id, 'summary');
    expect(await startOf(id)).toMatchObject({ summary: 'They counted.' });
    await change('emptyChatContext', id);
    expect(await startOf(id)).toMatchObject({ summary: null });
    await change('restoreChatContext', id);
    expect(await startOf(id)).toMatchObject({ summary: 'They counted.' });
    await say(id, 'Four');
    expect(asked()).toEqual(['Two', 'Yes Two', 'Three', 'Yes Three', 'Four']);
    await change('restoreChatContext', id);
    await say(id, 'Five');
    expect(asked()[0]).toBe('One');
  });

  it('summarizes only what came after it began anew', async () => {
    const id = await newChat();
    await say(id, 'Forgotten');
    await change('emptyChatContext', id);
    for (const prompt of ['One', 'Two', 'Three']) await say(id, prompt);
    upstream.next({ text: 'They counted.' });
    await change('compressChat', id, 'summary');
    const task = JSON.stringify(upstream.requests.at(-1)?.body);
    expect(task).toContain('Yes One');
    expect(task).not.toContain('Forgotten');
    expect(task).not.toContain('by=\\"earlier\\"');
  });

  it('is refused while a run answers, and to others', async () => {
    const id = await newChat();
    const { script, goOn } = heldAnswer({ text: ['one ', 'two'] });
    upstream.next(script);
    await ann.graphql(
      'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id } }',
      { chatId: id, input: { prompt: { text: 'A' } } },
    );
    expect(codeOf(await change('emptyChatContext', id))).toBe('RUN_ACTIVE');
    expect(codeOf(await change('restoreChatContext', id))).toBe('RUN_ACTIVE');
    expect(codeOf(await change('emptyChatContext', id, 'id', bob))).toBe('NOT_FOUND');
    goOn();
    await eventually(async () => expect(await messagesOf(id)).toHaveLength(2));
  });
});
