import { describe, expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { walk } from '../../../support/runs/response-walk.ts';
import { responsesBench, testModel } from '../../../support/runs/responses.ts';

const charsMax = 1_000;
const bench = await responsesBench({ ANSWER_MAX_CHARS: String(charsMax) });
const text = Array.from({ length: 40 }, () => 'x'.repeat(50));
const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, error: null };
const said = 'x'.repeat(charsMax);

describe('an answer beyond ANSWER_MAX_CHARS', () => {
  it.each([true, false])('ends a response as incomplete, with what there is (store %s)', async (store) => {
    bench.upstream.otherwise({ text });
    for (const response of [await bench.created({ store }), walk(await bench.events({ store }))]) {
      expect(response).toMatchObject({ ...cut, output: [{ status: 'incomplete', content: [{ text: said }] }] });
    }
  });

  it('ends one in the background, and the thread goes on', async () => {
    bench.upstream.next({ text });
    const { id } = await bench.created({ background: true });
    await eventually(async () => expect((await bench.get(id)).body).toMatchObject(cut));
    expect(await bench.created({ previous_response_id: id })).toMatchObject({ status: 'completed' });
  });

  it('is a completion that came to its length; one that streams is not kept, and goes to its end', async () => {
    bench.upstream.otherwise({ text });
    const path = '/api/v1/chat/completions';
    const body = { model: testModel, messages: [{ role: 'user', content: 'Hi' }] };
    const { choices } = (await bench.ann.post(path, body)).body;
    expect(choices).toMatchObject([{ finish_reason: 'length', message: { content: said } }]);
    const frames = await bench.ann.stream(path, { ...body, stream: true });
    const chunks = frames.slice(0, -1).map(({ data }) => JSON.parse(data).choices[0]);
    expect(chunks.map(({ delta }) => delta.content ?? '').join('')).toBe(text.join(''));
    expect(chunks.at(-1).finish_reason).toBe('stop');
  });
});
