import OpenAI, { toFile } from 'openai';
import OpenAI4 from 'openai-4';
import OpenAI6 from 'openai-6';
import { beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/processes/eventually.ts';
import { sampled } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import type { UpstreamRequest } from '../../support/upstream.ts';

/** The openai package, configured with a base address and a key only, against a running service. */
const { service, make, upstream } = await withService('model', { env: { EMBEDDING_MODEL: 'openai/test-embedding' } });
const model = 'openai/test-model';
const messages = [{ role: 'user' as const, content: 'What is 1 + 2?' }];
const usage = { prompt_tokens: 5, completion_tokens: 2 };
const call = { id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' };
const parameters = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } };

/** Two numbers a text: how long it is, and its place. */
function vectors({ body }: UpstreamRequest) {
  const inputs = [body?.input].flat();
  const data = inputs.map((text, index) => ({ object: 'embedding', index, embedding: [String(text).length, index + 0.5] }));
  return { body: JSON.stringify({ object: 'list', data, model: body?.model, usage: { prompt_tokens: 7, total_tokens: 7 } }) };
}

const ann = await make.person();

beforeEach(() => {
  upstream.otherwise((request) =>
    request.path.endsWith('/embeddings') ? vectors(request) : { text: ['It ', 'is ', '3.'], usage },
  );
});

const bases = ['/v1', '/api/v1'] as const;
const versions = [
  ['openai 4', OpenAI4 as unknown as typeof OpenAI],
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
  ['openai 7', OpenAI],
] as const;
const clients = versions.flatMap(([name, Client]) => bases.map((base) => [name, base, Client] as const));

describe.each(sampled(clients))('%s at %s', (_name, base, Client) => {
  const client = (key = ann.key) => new Client({ baseURL: `${service.url}${base}`, apiKey: key, maxRetries: 0 });
  const text = (content: string, name = 'note.txt') => toFile(Buffer.from(content), name, { type: 'text/plain' });

  it('completes, whole and streaming, with tools', async () => {
    const whole = await client().chat.completions.create({ model, messages });
    expect(whole).toMatchObject({ choices: [{ message: { content: 'It is 3.' } }], usage: { total_tokens: 7 } });
    const stream = await client().chat.completions.create({ model, messages, stream: true });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('It is 3.');
    upstream.next({ toolCalls: [call] });
    const tools = [{ type: 'function' as const, function: { name: 'add', parameters } }];
    const called = await client().chat.completions.create({ model, messages, tools });
    expect(called.choices[0]?.message.tool_calls).toMatchObject([{ id: 'call_1', function: { name: 'add' } }]);
  });

  it('responds, whole and streaming, retrieves, lists the input and deletes', async () => {
    const response = await client().responses.create({ model, input: 'What is 1 + 2?' });
    expect(response).toMatchObject({ status: 'completed', output_text: 'It is 3.' });
    const events = await Array.fromAsync(await client().responses.create({ model, input: 'Again?', stream: true }));
    expect(events.at(-1)?.type).toBe('response.completed');
    expect((await client().responses.retrieve(response.id)).output).toEqual(response.output);
    const items = await Array.fromAsync(client().responses.inputItems.list(response.id));
    expect(items).toMatchObject([{ type: 'message', content: [{ text: 'What is 1 + 2?' }] }]);
    await client().delete(`/responses/${response.id}`);
    await expect(client().responses.retrieve(response.id)).rejects.toBeInstanceOf(Client.NotFoundError);
  });

  it('lists and retrieves models and agents', async () => {
    const { id } = await make.agent({ owner: ann, name: 'Ada' });
    const ids = (await Array.fromAsync(client().models.list())).map((entry) => entry.id);
    expect(ids).toEqual(expect.arrayContaining([model, id]));
    expect(await client().models.retrieve(model)).toMatchObject({ id: model, object: 'model', owned_by: 'openai' });
    expect(await client().models.retrieve(id)).toMatchObject({ id, object: 'model', name: 'Ada' });
    await expect(client().models.retrieve('none/such')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    expect((await ann.get(`${base}/models/${model}`)).body.id).toBe(model);
  });

  it('shows errors as its own classes', async () => {
    await expect(client('pk-wrong').models.list()).rejects.toBeInstanceOf(Client.AuthenticationError);
    const reader = await make.withKey(ann, { scopes: ['CHATS:READ'] });
    await expect(client(reader.key).chat.completions.create({ model, messages })).rejects.toBeInstanceOf(
      Client.PermissionDeniedError,
    );
    await expect(client().chat.completions.create({ model, messages: [] })).rejects.toBeInstanceOf(Client.BadRequestError);
    await expect(client().get('/assistants')).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining(`GET ${base}/assistants`),
    });
    upstream.next({ status: 429 });
    await expect(client().chat.completions.create({ model, messages })).rejects.toBeInstanceOf(Client.RateLimitError);
  });

  it('makes embeddings of texts, as numbers and as base64', async () => {
    const asked = { model: 'test-embedding', input: ['Good', 'Morning'], dimensions: 2 };
    const made = await client().embeddings.create(asked);
    expect(made.data.map(({ embedding }) => Array.from(embedding))).toEqual([
      [4, 0.5],
      [7, 1.5],
    ]);
    expect(made.usage).toEqual({ prompt_tokens: 7, total_tokens: 7 });
    expect(upstream.requests.at(-1)?.body).toMatchObject({ model: 'test-embedding', dimensions: 2 });
    const numbers = await client().embeddings.create({ ...asked, encoding_format: 'float' });
    expect(numbers.data[0]?.embedding).toEqual([4, 0.5]);
    await expect(client().embeddings.create({ ...asked, model: 'other' })).rejects.toBeInstanceOf(Client.NotFoundError);
    await expect(client().embeddings.create({ ...asked, input: [] })).rejects.toMatchObject({ status: 400, param: 'input' });
  });

  it('keeps files, with their purpose', async () => {
    const file = await client().files.create({ file: await text('Open at nine'), purpose: 'user_data' });
    expect(file).toMatchObject({ object: 'file', bytes: 12, filename: 'note.txt', purpose: 'user_data', status: 'processed' });
    expect(await client().files.retrieve(file.id)).toEqual(file);
    expect(await (await client().files.content(file.id)).text()).toBe('Open at nine');
    const second = await client().files.create({ file: await text('Second'), purpose: 'assistants' });
    const page = await client().files.list({ limit: 1 });
    expect(page.data.map(({ id }) => id)).toEqual([second.id]);
    expect(page.hasNextPage()).toBe(true);
    expect((await Array.fromAsync(page)).map(({ id }) => id)).toEqual(expect.arrayContaining([second.id, file.id]));
    const response = await client().responses.create({
      model,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_file', file_id: file.id },
            { type: 'input_text', text: 'When?' },
          ],
        },
      ],
    });
    expect(response.status).toBe('completed');
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('Open at nine');
    await expect(client().files.create({ file: await text('{}'), purpose: 'fine-tune' })).rejects.toMatchObject({
      status: 400,
      param: 'purpose',
    });
    expect(await ann.delete(`${base}/files/${file.id}`)).toMatchObject({ body: { id: file.id, object: 'file', deleted: true } });
    await expect(client().files.retrieve(file.id)).rejects.toBeInstanceOf(Client.NotFoundError);
  });
});

/** What openai 4 does not know yet. */
describe.each(sampled(clients.filter(([name]) => name !== 'openai 4')))('%s at %s', (_name, base, Client) => {
  const client = () => new Client({ baseURL: `${service.url}${base}`, apiKey: ann.key, maxRetries: 0 });

  it('keeps a conversation over two turns, and changes its items', async () => {
    const { conversations, responses } = client();
    const first = { type: 'message' as const, role: 'user' as const, content: 'My name is Ada.' };
    const made = await conversations.create({ items: [first], metadata: { topic: 'names' } });
    expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'names' } });
    const one = await responses.create({ model, conversation: made.id, input: 'What is 1 + 2?' });
    expect(one.conversation).toEqual({ id: made.id });
    await responses.create({ model, conversation: { id: made.id }, input: 'And once more?' });
    const sent = ['My name is Ada.', 'What is 1 + 2?', 'It is 3.', 'And once more?'].map((content) => ({ content }));
    expect(upstream.requests.at(-1)?.body?.messages).toMatchObject(sent);
    const items = await Array.fromAsync(conversations.items.list(made.id, { order: 'asc', limit: 2 }));
    expect(items).toHaveLength(5);
    expect(items).toMatchObject([
      { role: 'user', content: [{ type: 'input_text', text: 'My name is Ada.' }] },
      { role: 'user' },
      { role: 'assistant', id: one.output[0]?.id, content: [{ type: 'output_text', text: 'It is 3.' }] },
      { role: 'user' },
      { role: 'assistant' },
    ]);
    const added = await conversations.items.create(made.id, {
      items: [
        { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: '3' },
        { type: 'message', role: 'developer', content: 'Be brief.' },
      ],
    });
    expect(added.data).toMatchObject([{ type: 'function_call' }, { type: 'function_call_output' }, { role: 'system' }]);
    for (const { id } of added.data as { id: string }[]) {
      expect(await conversations.items.retrieve(id, { conversation_id: made.id })).toMatchObject({ id });
      expect(await conversations.items.delete(id, { conversation_id: made.id })).toMatchObject({ id: made.id });
      await expect(conversations.items.retrieve(id, { conversation_id: made.id })).rejects.toBeInstanceOf(Client.NotFoundError);
    }
    expect((await conversations.items.list(made.id)).data).toHaveLength(5);
    expect(await conversations.update(made.id, { metadata: { topic: 'sums' } })).toMatchObject({ metadata: { topic: 'sums' } });
    expect(await conversations.retrieve(made.id)).toMatchObject({ metadata: { topic: 'sums' } });
    expect(await ann.get(`/api/v1/chats/${made.id}`)).toMatchObject({ status: 200, body: { messages: { length: 5 } } });
    expect(await conversations.delete(made.id)).toEqual({ id: made.id, object: 'conversation.deleted', deleted: true });
    await expect(conversations.retrieve(made.id)).rejects.toBeInstanceOf(Client.NotFoundError);
  });

  it('keeps vector stores, and finds what stands in their files', async () => {
    const { files, vectorStores } = client();
    const upload = async (content: string) =>
      files.create({ file: await toFile(Buffer.from(content), 'hours.txt', { type: 'text/plain' }), purpose: 'assistants' });
    const hours = await upload('The office opens at nine in the morning.');
    const menu = await upload('The canteen serves lentil soup on Mondays.');
    const store = await vectorStores.create({ name: 'Office', file_ids: [hours.id], metadata: { team: 'desk' } });
    expect(store).toMatchObject({
      object: 'vector_store',
      name: 'Office',
      metadata: { team: 'desk' },
      file_counts: { total: 1 },
    });
    const startedMs = performance.now();
    const attached = await vectorStores.files.createAndPoll(store.id, { file_id: menu.id, attributes: { year: 2026 } });
    // The client asks every five seconds, unless the service says how long a file takes.
    expect(performance.now() - startedMs).toBeLessThan(4_900);
    expect(attached).toMatchObject({ id: menu.id, status: 'completed', attributes: { year: 2026 }, last_error: null });
    await eventually(async () => expect((await vectorStores.retrieve(store.id)).status).toBe('completed'));
    expect((await vectorStores.retrieve(store.id)).file_counts).toMatchObject({ completed: 2, in_progress: 0, total: 2 });
    // Vectors follow: meanwhile, a document that has its own may stand before one that only has the words.
    await eventually(async () => {
      const found = await vectorStores.search(store.id, { query: 'When does the office open?' });
      expect(found.data[0]).toMatchObject({ file_id: hours.id, filename: 'hours.txt', content: [{ type: 'text' }] });
      expect(found.data[0]?.content[0]?.text).toContain('nine');
    });
    const filtered = await vectorStores.search(store.id, {
      query: 'office canteen soup',
      filters: { type: 'eq', key: 'year', value: 2026 },
    });
    expect(filtered.data.map(({ file_id }) => file_id)).toEqual([menu.id]);
    const page = await vectorStores.files.list(store.id, { limit: 1, order: 'asc' });
    expect((await Array.fromAsync(page)).map(({ id }) => id)).toEqual([hours.id, menu.id]);
    expect(await vectorStores.update(store.id, { name: 'House' })).toMatchObject({ name: 'House', metadata: { team: 'desk' } });
    expect((await Array.fromAsync(vectorStores.list())).map(({ id }) => id)).toContain(store.id);
    expect(await ann.delete(`${base}/vector_stores/${store.id}/files/${menu.id}`)).toMatchObject({
      body: { id: menu.id, object: 'vector_store.file.deleted', deleted: true },
    });
    // By meaning, the nearest of what is left may be found.
    const left = await vectorStores.search(store.id, { query: 'lentil soup' });
    expect(left.data.map(({ file_id }) => file_id)).not.toContain(menu.id);
    await ann.delete(`${base}/files/${hours.id}`);
    expect((await vectorStores.files.list(store.id)).data).toEqual([]);
    await expect(
      vectorStores.create({
        chunking_strategy: { type: 'static', static: { max_chunk_size_tokens: 800, chunk_overlap_tokens: 0 } },
      }),
    ).rejects.toMatchObject({ status: 400, param: 'chunking_strategy' });
    expect(await ann.delete(`${base}/vector_stores/${store.id}`)).toMatchObject({ body: { object: 'vector_store.deleted' } });
    await expect(vectorStores.retrieve(store.id)).rejects.toBeInstanceOf(Client.NotFoundError);
  });
});
