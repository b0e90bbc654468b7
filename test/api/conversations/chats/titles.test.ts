import { describe, expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

// Titles by the model, with CHAT_TITLES=model; the first words of the question are tested in chats.test.ts.

const { service, make, upstream } = await withService('model', { env: { CHAT_TITLES: 'model' } });

const ann = await make.person();
const agentId = (await make.agent({ owner: ann })).id;

const newChat = async (name?: string): Promise<string> =>
  (await make.chat({ owner: ann, agentId, ...(name === undefined ? {} : { name }) })).id;
const say = (chatId: string, prompt: string) => ann.post(`/api/v1/chats/${chatId}/messages`, { prompt });
const nameOf = async (chatId: string): Promise<string> => (await ann.get(`/api/v1/chats/${chatId}`)).body.name;

describe('a chat without a name', () => {
  it('is named by the model after its first answer, once, and its person is charged', async () => {
    const chatId = await newChat();
    const usage = { prompt_tokens: 30, completion_tokens: 4 };
    upstream.next({ text: 'At noon.', usage }, { text: '"High tide at the harbour."\n', usage });
    await say(chatId, 'When is high tide today?');
    await eventually(async () => expect(await nameOf(chatId)).toBe('High tide at the harbour'));
    const asked = upstream.requests.at(-1)?.body;
    expect(asked).toMatchObject({ max_tokens: 60, messages: [{ role: 'system' }, { role: 'user' }] });
    expect(JSON.stringify(asked)).toMatch(/When is high tide today\?[\s\S]*At noon\./);
    await eventually(async () => {
      const { rows } = await service.deps.storage.db.pool.query(
        `select "userId", "inputTokens", "outputTokens" from usage_entries where "orgId" = $1 order by "createdAt"`,
        [ann.orgId],
      );
      expect(rows).toMatchObject([{ userId: ann.userId }, { userId: ann.userId, inputTokens: 30, outputTokens: 4 }]);
    });
    const { length } = upstream.requests;
    upstream.next({ text: 'At six.' });
    await say(chatId, 'And tomorrow?');
    expect(upstream.requests.length).toBe(length + 1);
    expect(await nameOf(chatId)).toBe('High tide at the harbour');
  });

  it('keeps the first words when the model fails, or says nothing', async () => {
    for (const failure of [{ status: 500 }, { text: ' ' }]) {
      const chatId = await newChat();
      upstream.next({ text: 'At noon.' }, failure);
      const before = upstream.requests.length;
      await say(chatId, 'When is high tide today?');
      await eventually(() => expect(upstream.requests.length).toBeGreaterThanOrEqual(before + 2));
      expect(await nameOf(chatId)).toBe('When is high tide today?');
    }
  });

  it('keeps a name that its person gave, before or meanwhile', async () => {
    const named = await newChat('Tides');
    const before = upstream.requests.length;
    upstream.next({ text: 'At noon.' });
    await say(named, 'When is high tide today?');
    expect(upstream.requests.length).toBe(before + 1);
    const chatId = await newChat();
    const held = Promise.withResolvers<void>();
    upstream.next({ text: 'At noon.' }, { text: 'Another title', gate: held.promise } as object);
    await say(chatId, 'When is high tide today?');
    await ann.patch(`/api/v1/chats/${chatId}`, { name: 'Mine' });
    held.resolve();
    await eventually(() => expect(upstream.requests.length).toBe(before + 3));
    expect(await nameOf(chatId)).toBe('Mine');
  });
});
