import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/processes/eventually.ts';
import { response } from '../../support/runs/response-schemas.ts';
import { addTool, endlessAnswer, noAnswer, responsesBench, responsesPath, testModel } from '../../support/runs/responses.ts';

/** The rules of the Open Responses format about the response object. */
const bench = await responsesBench();

describe('every member is there', () => {
  it('what a request left out has its default, never null where the format has no null', async () => {
    expect(await bench.created()).toMatchObject({
      ...{ object: 'response', model: testModel, status: 'completed', error: null, incomplete_details: null },
      ...{ instructions: null, max_output_tokens: null, max_tool_calls: null, previous_response_id: null },
      ...{ temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0 },
      ...{ parallel_tool_calls: true, tool_choice: 'auto', tools: [], truncation: 'disabled', service_tier: 'default' },
      ...{ store: true, background: false, metadata: {}, safety_identifier: null, prompt_cache_key: null, user: null },
      ...{ reasoning: { effort: null, summary: null }, text: { format: { type: 'text' } } },
    });
  });

  it('what a request says is repeated', async () => {
    const members = {
      ...{ instructions: 'Be brief.', max_output_tokens: 50, max_tool_calls: 3, parallel_tool_calls: false },
      ...{ temperature: 0, top_p: 0.9, presence_penalty: -1, frequency_penalty: 0.5, top_logprobs: 2 },
      ...{ metadata: { a: 'b' }, safety_identifier: 's', prompt_cache_key: 'p', user: 'u', truncation: 'auto', store: false },
      ...{ reasoning: { effort: 'xhigh', summary: 'auto' }, text: { format: { type: 'json_object' }, verbosity: 'low' } },
    };
    bench.upstream.next({ text: '{}' });
    expect(await bench.created(members)).toMatchObject(members);
  });

  it('the one that is stored, the one that is not and the one that was streamed have the same members', async () => {
    const stored = Object.keys(await bench.created()).sort();
    expect(Object.keys(await bench.created({ store: false })).sort()).toEqual(stored);
    for (const { response: shown } of (await bench.events()).filter((event) => 'response' in event)) {
      expect(Object.keys(shown).sort()).toEqual(stored);
    }
  });

  it('a function tool has its description, parameters and strictness, null where the request has none', async () => {
    const { tools } = await bench.created({
      tools: [
        { type: 'function', name: 'bare' },
        { ...addTool, strict: true },
      ],
    });
    expect(tools).toEqual([
      { type: 'function', name: 'bare', description: null, parameters: null, strict: null },
      { type: 'function', name: 'add', description: null, parameters: { type: 'object' }, strict: true },
    ]);
  });

  it('text.verbosity is absent unless the request has it', async () => {
    expect((await bench.created({ text: { format: null } })).text).toEqual({ format: { type: 'text' } });
    expect((await bench.created({ text: { verbosity: 'high' } })).text).toEqual({ format: { type: 'text' }, verbosity: 'high' });
  });

  it('a schema for the text is repeated with its name, description and strictness', async () => {
    const schema = { type: 'object', properties: {} };
    bench.upstream.next({ text: '{}' });
    const { text } = await bench.created({ text: { format: { type: 'json_schema', name: 'n', schema } } });
    expect(text.format).toEqual({ type: 'json_schema', name: 'n', description: null, schema, strict: false });
  });

  it('sampling is what was used: an agent decides where the request does not', async () => {
    const options = { temperature: [0.2], topP: [0.3], maxTokens: [700], presencePenalty: [0.4], frequencyPenalty: [0.5] };
    const { id } = await bench.make.agent({ owner: bench.ann, modelId: testModel, options });
    const used = { temperature: 0.2, top_p: 0.3, presence_penalty: 0.4, frequency_penalty: 0.5, max_output_tokens: 700 };
    expect(await bench.created({ model: id })).toMatchObject(used);
    expect(await bench.created({ model: id, temperature: 0, max_output_tokens: 9 })).toMatchObject({
      ...{ ...used, temperature: 0, max_output_tokens: 9 },
    });
    expect(bench.asked).toMatchObject({ temperature: 0, top_p: 0.3, max_tokens: 9 });
  });

  it('model is as the request names it, an agent too', async () => {
    const { id } = await bench.make.agent({ owner: bench.ann, modelId: testModel });
    expect((await bench.created({ model: id })).model).toBe(id);
  });
});

describe('the states', () => {
  /** Wait for the request: if a response were cancelled earlier, its scripted answer would go to the next response. */
  const isAsked = () => bench.upstream.until(({ requests }) => requests.length === 1);

  it('in progress: no output, no usage, no selection, no end', async () => {
    bench.upstream.next(noAnswer);
    const begun = await bench.created({ background: true });
    expect(begun).toMatchObject({
      ...{ status: 'in_progress', output: [], usage: null, completed_at: null },
      ...{ error: null, incomplete_details: null, selection_metadata: null },
    });
    await isAsked();
    await bench.ann.post(`${responsesPath}/${begun.id}/cancel`);
  });

  it('completed: with the seconds of its end, what it cost and which model answered', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { created_at, completed_at, usage, selection_metadata } = await bench.created();
    expect(created_at).toBeGreaterThanOrEqual(before);
    expect(completed_at).toBeGreaterThanOrEqual(created_at);
    expect(usage).toMatchObject({ input_tokens: 10, output_tokens: 3, total_tokens: 13 });
    expect(selection_metadata).toMatchObject({ provider: 'openai', model: 'test-model', fallback_chain: [] });
  });

  it.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('incomplete: the model ended with %s', async (finish, reason) => {
    bench.upstream.next({ text: 'It is', finish });
    expect(await bench.created()).toMatchObject({
      ...{ status: 'incomplete', incomplete_details: { reason }, error: null, completed_at: null },
    });
  });

  it('failed: with an error that has a code and a message', async () => {
    bench.upstream.next({ status: 500 });
    const failed = await bench.created();
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'upstream_error' }, incomplete_details: null });
    expect([failed.completed_at, failed.output]).toEqual([null, []]);
  });

  it('cancelled: without details', async () => {
    bench.upstream.next(endlessAnswer);
    const { id } = await bench.created({ background: true });
    await isAsked();
    const { body } = await bench.ann.post(`${responsesPath}/${id}/cancel`);
    expect(response.parse(body)).toMatchObject({
      ...{ status: 'cancelled', incomplete_details: null, error: null, completed_at: null },
    });
  });

  it('paused: incomplete, for the reason paused', async () => {
    bench.upstream.next(endlessAnswer);
    const { id } = await bench.created({ background: true });
    await eventually(async () => expect((await bench.get(id)).body.output).toHaveLength(1));
    const { body } = await bench.ann.post(`${responsesPath}/${id}/pause`);
    expect(response.parse(body)).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'paused' } });
    await bench.ann.post(`${responsesPath}/${id}/cancel`);
  });

  it('one that waits for its thread is in progress: the format of Parley knows no queue', async () => {
    bench.upstream.next(noAnswer);
    const first = await bench.created({ background: true });
    const second = await bench.created({ background: true, conversation: first.conversation, input: 'Then?' });
    expect(second).toMatchObject({ status: 'in_progress', output: [], usage: null });
    await isAsked();
    for (const { id } of [second, first]) await bench.ann.post(`${responsesPath}/${id}/cancel`);
  });
});

it('usage tells what was read from a cache and what was spent on thinking', async () => {
  const usage = {
    ...{ prompt_tokens: 8, completion_tokens: 5 },
    ...{ prompt_tokens_details: { cached_tokens: 6 }, completion_tokens_details: { reasoning_tokens: 4 } },
  };
  bench.upstream.next({ text: 'It is 3.', usage });
  expect((await bench.created()).usage).toEqual({
    ...{ input_tokens: 8, output_tokens: 5, total_tokens: 13 },
    ...{ input_tokens_details: { cached_tokens: 6 }, output_tokens_details: { reasoning_tokens: 4 } },
  });
});
