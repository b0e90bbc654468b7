import { expect, it } from 'vitest';
import { compactionObject } from '../../support/runs/response-schemas.ts';
import type { WireEvent } from '../../support/runs/response-walk.ts';
import { endlessAnswer, responsesBench, responsesPath, testModel } from '../../support/runs/responses.ts';

/** The rules of the responses format about operations other than creating. */
const bench = await responsesBench();
const asked = () => bench.asked.messages.map(({ role, content }: WireEvent) => `${role}: ${content}`);

it('retrieving takes include and include_obfuscation', async () => {
  const { id } = await bench.created();
  const query =
    '?include[]=message.output_text.logprobs&include=reasoning.encrypted_content&include_obfuscation=false&stream=false';
  expect(await bench.get(id, query)).toMatchObject({ status: 200, body: { id } });
});

it('cancelling is idempotent, and leaves a finished response as it is', async () => {
  bench.upstream.next(endlessAnswer);
  const { id } = await bench.created({ background: true });
  // Wait for the request: if the response were cancelled earlier, its scripted answer would go to the next response.
  await bench.upstream.until(({ requests }) => requests.length === 1);
  const cancel = async (of: string) => (await bench.ann.post(`${responsesPath}/${of}/cancel`)).body;
  const cancelled = await cancel(id);
  expect(cancelled.status).toBe('cancelled');
  expect(await cancel(id)).toEqual(cancelled);
  const finished = await bench.created();
  expect(await cancel(finished.id)).toEqual(finished);
});

it('compacting takes what a response was given and said, and instructions for it; only of the same owner', async () => {
  const { id } = await bench.created({ input: 'My name is Ada' });
  const members = { model: testModel, previous_response_id: id, instructions: 'Keep names.' };
  bench.upstream.next({ text: 'The user is Ada.' });
  const { output } = compactionObject.parse((await bench.ann.post(`${responsesPath}/compact`, members)).body);
  expect(asked().slice(0, 3)).toEqual(['system: Keep names.', 'user: My name is Ada', 'assistant: It is 3.']);
  expect(output).toMatchObject([
    { type: 'message', role: 'user', content: [{ text: 'My name is Ada' }] },
    { type: 'compaction', encrypted_content: expect.stringContaining('The user is Ada.') },
  ]);
  const stolen = await bench.bob.post(`${responsesPath}/compact`, members);
  expect(stolen).toMatchObject({ status: 400, body: { error: { code: 'previous_response_not_found' } } });
});

it('input items are listed newest first, twenty at a time, at most a hundred', async () => {
  const input = Array.from({ length: 25 }, (_, n) => ({ role: 'user', content: String(n) }));
  const { id } = await bench.created({ input });
  const texts = (body: WireEvent) => body.data.map(({ content }: WireEvent) => Number(content[0].text));
  const first = (await bench.inputItems(id)).body;
  expect(texts(first)).toEqual(Array.from({ length: 20 }, (_, n) => 24 - n));
  expect(first).toMatchObject({ object: 'list', first_id: first.data[0].id, last_id: first.data[19].id, has_more: true });
  const rest = (await bench.inputItems(id, `?after=${first.last_id}`)).body;
  expect([texts(rest), rest.has_more]).toEqual([[4, 3, 2, 1, 0], false]);
  expect(texts((await bench.inputItems(id, '?order=asc&limit=100')).body)).toEqual(Array.from({ length: 25 }, (_, n) => n));
  expect(await bench.inputItems(id, '?limit=101')).toMatchObject({ status: 400, body: { error: { param: 'limit' } } });
});
