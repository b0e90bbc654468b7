import OpenAI, { toFile } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

/** Lists of the openai package whose things are deleted while they are read page by page: `for await (const file of client.files.list()) …delete`. */
const { service, make } = await withService('plain');
let ann: Person;
beforeAll(async () => {
  ann = await make.person();
});

const client = () => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: ann.key, maxRetries: 0 });
const upload = async (name: string) => {
  const file = await toFile(Buffer.from(`The text of ${name}.`), `${name}.txt`, { type: 'text/plain' });
  return (await client().files.create({ file, purpose: 'user_data' })).id;
};
const names = ['one', 'two', 'three', 'four', 'five'];

describe.each(['asc', 'desc'] as const)('a list that is read %s while its things are deleted', (order) => {
  it('gives every file, once', async () => {
    const ids = [];
    for (const name of names) ids.push(await upload(name));
    const kept = ids[2];
    const seen: string[] = [];
    for await (const { id } of client().files.list({ purpose: 'user_data', limit: 2, order })) {
      seen.push(id);
      if (id !== kept) await client().files.delete(id);
    }
    expect(seen).toEqual(order === 'asc' ? ids : ids.toReversed());
    expect((await client().files.list({ purpose: 'user_data' })).data.map(({ id }) => id)).toEqual([kept]);
    await client().files.delete(kept ?? '');
  });

  it('gives every vector store, once', async () => {
    const ids = [];
    for (const name of names) ids.push((await client().vectorStores.create({ name })).id);
    const seen: string[] = [];
    for await (const { id } of client().vectorStores.list({ limit: 2, order })) {
      seen.push(id);
      await client().vectorStores.delete(id);
    }
    expect(seen).toEqual(order === 'asc' ? ids : ids.toReversed());
  });

  it('gives every item of a conversation, once', async () => {
    const call = (name: string) => ({ type: 'function_call' as const, call_id: name, name, arguments: '{}' });
    const output = (name: string) => ({ type: 'function_call_output' as const, call_id: name, output: name });
    const message = (content: string) => ({ type: 'message' as const, role: 'user' as const, content });
    const { conversations } = client();
    const items = [message('Hello'), ...names.map(call), ...names.map(output), message('And now?')];
    const { id: conversation_id } = await conversations.create({ items });
    const ids = (await conversations.items.list(conversation_id, { order, limit: 100 })).data.map(({ id }) => id);
    expect(ids).toHaveLength(items.length);
    const seen: (string | null | undefined)[] = [];
    for await (const { id } of conversations.items.list(conversation_id, { limit: 3, order })) {
      seen.push(id);
      await conversations.items.delete(id ?? '', { conversation_id });
    }
    expect(seen).toEqual(ids);
    expect((await conversations.items.list(conversation_id)).data).toEqual([]);
  });
});

it('removes the call that its id names, also when calls before it are gone', async () => {
  const { conversations } = client();
  const calls = names.map((name) => ({ type: 'function_call' as const, call_id: name, name, arguments: '{}' }));
  const { id: conversation_id } = await conversations.create({ items: calls });
  const read = async () =>
    (await conversations.items.list(conversation_id, { order: 'asc' })).data.map((item) => [
      item.id ?? '',
      item.type === 'function_call' ? item.name : '',
    ]);
  const [one, two, three, four, five] = await read();
  for (const item of [one, three]) await conversations.items.delete(item?.[0] ?? '', { conversation_id });
  expect(await read()).toEqual([two, four, five]);
  await conversations.items.delete(four?.[0] ?? '', { conversation_id });
  expect(await read()).toEqual([two, five]);
  expect(await conversations.items.retrieve(five?.[0] ?? '', { conversation_id })).toMatchObject({ name: 'five' });
});

it('refuses a place of files of a vector store that is gone, instead of ending the list', async () => {
  const { vectorStores } = client();
  const store = await vectorStores.create({ file_ids: [await upload('one'), await upload('two')] });
  const [first] = (await vectorStores.files.list(store.id, { limit: 1 })).data;
  await vectorStores.files.delete(first?.id ?? '', { vector_store_id: store.id });
  const goOn = () =>
    vectorStores.files.list(store.id, { after: first?.id ?? '' }).then(
      () => 'a page',
      (error: unknown) => error,
    );
  // Until it is cleaned up, its place is known.
  await expect.poll(goOn, { timeout: 20_000 }).toMatchObject({ status: 400, param: 'after', code: 'invalid_value' });
});

it.each(['after', 'before'])('refuses a word that is no id as the place %s', async (end) => {
  const { vectorStores, conversations, files } = client();
  const place = { [end]: 'nonsense' };
  const refusal = { status: 400, param: end, code: 'invalid_value' };
  const store = await vectorStores.create({});
  await expect(vectorStores.list(place)).rejects.toMatchObject(refusal);
  await expect(vectorStores.files.list(store.id, place)).rejects.toMatchObject(refusal);
  if (end === 'before') return;
  const conversation = await conversations.create();
  await expect(files.list(place)).rejects.toMatchObject(refusal);
  await expect(conversations.items.list(conversation.id, place)).rejects.toMatchObject(refusal);
});
