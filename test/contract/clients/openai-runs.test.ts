import { encode } from 'gpt-tokenizer';
import OpenAI, { toFile } from 'openai';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';
import { heldAnswer } from '../../support/upstream.ts';

/** Conversations while they are answered, the charge of embeddings, and counts of input tokens, with the openai package. */
const { service, make, upstream } = await withService('model', { env: { EMBEDDING_MODEL: 'openai/test-embedding' } });
const model = 'openai/test-model';
const of = (key: string) => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: key, maxRetries: 0 });

const organization = await make.organization();
const ann = await make.person({ organization });
const client = of(ann.key);

beforeEach(() => {
  upstream.otherwise(({ path, body }) => {
    if (!path.endsWith('/embeddings')) return { text: 'Done.' };
    const data = [body?.input].flat().map((_, index) => ({ object: 'embedding', index, embedding: [0.5, index] }));
    return { body: JSON.stringify({ object: 'list', data, model: body?.model, usage: { prompt_tokens: 7, total_tokens: 7 } }) };
  });
});

describe('a conversation that is being answered', () => {
  it('refuses changes of its items with 409 until the answer is there', async () => {
    const { conversations, responses } = client;
    const asking = { type: 'message' as const, role: 'user' as const, content: 'My name is Ada.' };
    const { id } = await conversations.create({ items: [asking] });
    const place = { conversation_id: id };
    const [item] = (await conversations.items.list(id)).data as { readonly id: string }[];
    const { script, goOn } = heldAnswer({ text: ['one ', 'two'] });
    upstream.next(script);
    const running = await responses.create({ model, conversation: id, input: 'Count.', background: true });
    await upstream.until(({ requests }) => requests.length > 0);
    await expect(conversations.items.create(id, { items: [asking] })).rejects.toBeInstanceOf(OpenAI.ConflictError);
    await expect(conversations.items.delete(item?.id ?? '', place)).rejects.toBeInstanceOf(OpenAI.ConflictError);
    expect(await conversations.retrieve(id)).toMatchObject({ id });
    goOn();
    await eventually(async () => expect((await responses.retrieve(running.id)).status).toBe('completed'));
    const added = await conversations.items.create(id, { items: [asking] });
    expect(added.data).toMatchObject([{ role: 'user' }]);
    expect(await conversations.items.delete(item?.id ?? '', place)).toMatchObject({ id });
  });

  it('answers a second response after the first, and each once', async () => {
    const { conversations, responses } = client;
    const { id } = await conversations.create({});
    const { script, goOn } = heldAnswer({ text: ['one ', 'two'] });
    upstream.next(script);
    const first = await responses.create({ model, conversation: id, input: 'First?', background: true });
    await upstream.until(({ requests }) => requests.length > 0);
    const second = await responses.create({ model, conversation: id, input: 'Second?', background: true });
    expect(upstream.requests).toHaveLength(1);
    goOn();
    await eventually(async () => {
      for (const response of [first, second]) expect((await responses.retrieve(response.id)).status).toBe('completed');
    });
    const items = (await Array.fromAsync(conversations.items.list(id, { order: 'asc' }))) as unknown as {
      readonly content: readonly { readonly text: string }[];
    }[];
    expect(items.map(({ content }) => content[0]?.text)).toEqual(['First?', 'one two', 'Second?', 'Done.']);
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('embeddings', () => {
  const usageOf = async (who: Person) => (await who.get('/api/v1/usage')).body.orgUsage;
  const asked = { model: 'test-embedding', input: ['Good', 'Morning'] };

  it('are charged as data tokens, by what the provider counted, to the key and the user', async () => {
    const before = (await usageOf(ann)).dataTokensUsed;
    expect((await client.embeddings.create(asked)).usage).toEqual({ prompt_tokens: 7, total_tokens: 7 });
    await eventually(async () =>
      expect(await usageOf(ann)).toMatchObject({ dataTokensUsed: before + 7, apiTokensUsed: expect.any(Number) }),
    );
    const { rows } = await service.deps.storage.db.pool.query(
      `select purpose, "modelId", "inputTokens"::int as "inputTokens", "outputTokens"::int as "outputTokens", "keyId", "userId" from usage_entries
       where "orgId" = $1 and "modelId" = 'openai/test-embedding'`,
      [ann.orgId],
    );
    const charged = { purpose: 'embedding', modelId: 'openai/test-embedding', inputTokens: 7, outputTokens: 0 };
    expect(rows).toEqual([{ ...charged, keyId: ann.keyId, userId: ann.userId }]);
  });

  it('that are refused or that fail are not charged', async () => {
    const who = await make.person();
    await expect(of(who.key).embeddings.create({ ...asked, input: '' })).rejects.toMatchObject({ status: 400 });
    await expect(of(who.key).embeddings.create({ ...asked, model: 'other' })).rejects.toMatchObject({ status: 404 });
    upstream.next({ status: 400 });
    await expect(of(who.key).embeddings.create(asked)).rejects.toBeInstanceOf(OpenAI.APIError);
    await of(who.key).embeddings.create(asked);
    await eventually(async () => expect((await usageOf(who)).dataTokensUsed).toBe(7));
  });

  it('beyond the limit of the organization are 429, before the provider is asked', async () => {
    const place = await make.organization();
    const who = await make.person({ organization: place });
    await service.client().patch(`/api/v1/admin/organizations/${place.id}`, { dataUsageTokenLimit: 0 });
    await expect(of(who.key).embeddings.create(asked)).rejects.toMatchObject({ status: 429, code: 'insufficient_quota' });
    expect(upstream.requests).toHaveLength(0);
    await service.client().patch(`/api/v1/admin/organizations/${place.id}`, { dataUsageTokenLimit: 1_000 });
    expect((await of(who.key).embeddings.create(asked)).data).toHaveLength(2);
  });
});

describe('a count of input tokens', () => {
  const count = async (body: OpenAI.Responses.InputTokenCountParams) =>
    (await client.responses.inputTokens.count({ model, ...body })).input_tokens;
  const prose = 'The office opens at nine in the morning and closes at five in the afternoon. '.repeat(50);

  it('is near that of a tokenizer', async () => {
    expect(await client.responses.inputTokens.count({ model, input: 'Hi' })).toEqual({
      object: 'response.input_tokens',
      input_tokens: 5,
    });
    const estimated = await count({ input: prose });
    const exact = encode(prose).length;
    expect(estimated).toBeGreaterThan(exact * 0.9);
    expect(estimated).toBeLessThan(exact * 1.15);
  });

  it('has everything that the model would get', async () => {
    const tool = {
      type: 'function' as const,
      name: 'get_weather',
      description: 'Tells the weather of a city in words that are easy to read.',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
      strict: false,
    };
    const plain = await count({ input: 'Hi' });
    const pixel =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const format = { type: 'json_schema' as const, name: 'answer', schema: tool.parameters };
    expect(await count({ input: 'Hi', instructions: prose })).toBeGreaterThan(plain + 500);
    expect(await count({ input: 'Hi', tools: [tool] })).toBeGreaterThan(plain + 15);
    expect(await count({ input: 'Hi', text: { format } })).toBeGreaterThan(plain + 10);
    const seen = [{ type: 'input_image' as const, image_url: pixel, detail: 'auto' as const }];
    expect(await count({ input: [{ role: 'user', content: seen }] })).toBeGreaterThan(1_000);
    const file = await client.files.create({
      file: await toFile(Buffer.from(prose), 'note.txt', { type: 'text/plain' }),
      purpose: 'user_data',
    });
    expect(await count({ input: [{ role: 'user', content: [{ type: 'input_file', file_id: file.id }] }] })).toBeGreaterThan(500);
  });

  it('goes on where a conversation or a response ended, and changes neither', async () => {
    const { id } = await client.conversations.create({ items: [{ type: 'message', role: 'user', content: prose }] });
    const asked = upstream.requests.length;
    expect(await count({ conversation: id, input: 'Hi' })).toBeGreaterThan(500);
    expect((await client.conversations.items.list(id)).data).toHaveLength(1);
    const response = await client.responses.create({ model, input: prose });
    expect(await count({ previous_response_id: response.id, input: 'And?' })).toBeGreaterThan(500);
    expect(upstream.requests.length).toBe(asked + 1);
    const usage = (await ann.get('/api/v1/usage')).body.orgUsage.apiTokensUsed;
    await count({ input: prose });
    expect((await ann.get('/api/v1/usage')).body.orgUsage.apiTokensUsed).toBe(usage);
  });

  it('of an agent has its instructions, its tools and the passages of its knowledge', async () => {
    const agent = await make.agent({ owner: ann, instructions: 'Answer.' });
    const bare = await count({ model: agent.id, input: 'When does the office open?' });
    const long = await make.agent({ owner: ann, instructions: prose });
    expect(await count({ model: long.id, input: 'When does the office open?' })).toBeGreaterThan(bare + 500);
    await make.apiDataSource({ owner: ann, agentId: agent.id, data: { office: prose } });
    await eventually(async () =>
      expect(await count({ model: agent.id, input: 'When does the office open?' })).toBeGreaterThan(bare + 200),
    );
  });

  it('refuses what a response would refuse, naming the member', async () => {
    const refused: readonly (readonly [object, number, string | null])[] = [
      [{}, 400, 'input'],
      [{ input: 'Hi', model: 'none/such' }, 404, 'model'],
      [{ input: 'Hi', temperature: 9 }, 400, 'temperature'],
      [{ input: 'Hi', previous_response_id: 'resp_01h00000000000000000000000' }, 400, 'previous_response_id'],
      [
        { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_none' }] }] },
        400,
        'input[0].content[0].file_id',
      ],
    ];
    for (const [body, status, param] of refused) {
      await expect(count(body), JSON.stringify(body)).rejects.toMatchObject({ status, param });
    }
    const reader = await make.withKey(ann, { scopes: ['CHATS:READ'] });
    await expect(of(reader.key).responses.inputTokens.count({ model, input: 'Hi' })).rejects.toBeInstanceOf(
      OpenAI.PermissionDeniedError,
    );
  });
});
