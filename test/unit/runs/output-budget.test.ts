import { describe, expect, it } from 'vitest';
import type { ModelDelta } from '../../../src/engine/models/port.ts';
import { runLoop } from '../../../src/engine/runs/loop/loop.ts';
import type { ServerTool } from '../../../src/engine/tools/server-tool.ts';
import type { RunItem } from '../../../src/entities/conversations/runs/event.ts';
import { failureOf, makeRouter, ask as requestOf } from '../../support/runs/models.ts';
import {
  collect,
  finish,
  loopDeps,
  outcome,
  plan,
  recordingLedger,
  registryOf,
  runPlan,
  scriptedModel,
  text,
} from '../../support/runs/runs.ts';
import { startUpstream } from '../../support/upstream.ts';

const answerCharsMax = 10;
const usage = { inputTokens: 5, outputTokens: 7, cachedTokens: 0, reasoningTokens: 0 };
const cut = { status: 'incomplete', incompleteReason: 'max_output_tokens', error: null };
const callOf = (json: string): readonly ModelDelta[] => [
  { type: 'tool.start', index: 0, id: 'call_a', name: 't' },
  { type: 'tool.arguments', index: 0, json: JSON.stringify(json) },
];
const itemsOf = (items: readonly RunItem[]) => items.map(({ id: _id, ...item }) => item);

/** A model that counts how many of its reads were taken. */
function readsOf(...reads: readonly (readonly ModelDelta[])[]) {
  const model = scriptedModel(reads);
  const seen = { count: 0, hasLeft: false };
  return {
    seen,
    async *stream(...asked: Parameters<typeof model.stream>) {
      try {
        for await (const read of model.stream(...asked)) {
          seen.count += 1;
          yield read;
        }
      } finally {
        seen.hasLeft = true;
      }
    },
  };
}

describe('an answer that is longer than a run keeps', () => {
  it('is cut there, and the model is read no further', async () => {
    const model = readsOf([text('0123456')], [text('789abc')], [text('never')], [finish()]);
    const ledger = recordingLedger();
    const run = outcome(await runPlan(plan, loopDeps(model, { answerCharsMax, ledger })));
    expect(run).toMatchObject({ ...cut, output: [{ type: 'message', status: 'incomplete', text: '0123456789' }] });
    expect(model.seen).toEqual({ count: 2, hasLeft: true });
    expect(ledger.notes).toHaveLength(1);
  });

  it('is whole when it fits to the last character', async () => {
    const run = outcome(await runPlan(plan, loopDeps(readsOf([text('0123456789')], [finish()]), { answerCharsMax })));
    expect(run).toMatchObject({ status: 'completed', output: [{ text: '0123456789' }] });
  });

  it('that came in one piece is cut with the usage it told', async () => {
    const model = readsOf([text('0123456789abc'), { type: 'usage', usage }, finish()]);
    const run = outcome(await runPlan({ ...plan, isStreaming: false }, loopDeps(model, { answerCharsMax })));
    expect(run).toMatchObject({ ...cut, usage, output: [{ text: '0123456789' }] });
  });

  it('is not cut within a character', async () => {
    const run = outcome(await runPlan(plan, loopDeps(readsOf([text('012345678😀x'), finish()]), { answerCharsMax })));
    expect(run).toMatchObject({ ...cut, output: [{ text: '012345678' }] });
  });

  it('counts thinking, text and calls together', async () => {
    const model = readsOf([{ type: 'reasoning', json: '"0123"' }, text('4567'), ...callOf('{"x":1}'), finish('tool_calls')]);
    const run = outcome(await runPlan({ ...plan, serviceTools: [] }, loopDeps(model, { answerCharsMax })));
    expect(run).toMatchObject(cut);
    expect(itemsOf(run.output)).toMatchObject([
      { type: 'reasoning', text: '0123', status: 'completed' },
      { type: 'message', text: '4567', status: 'completed' },
      { type: 'function_call', status: 'incomplete' },
    ]);
  });

  it('begins no tool of the service with half of its arguments', async () => {
    let begun = 0;
    const run = async () => {
      begun += 1;
      return 'x';
    };
    const tool: ServerTool = { definition: { name: 't', description: '', parameters: {} }, hint: '', ifLost: 'repeat', run };
    const model = readsOf([...callOf('{"a":"0123456789"}'), finish('tool_calls')]);
    const deps = loopDeps(model, { answerCharsMax, tools: registryOf(new Map([['t', tool]])) });
    expect(outcome(await runPlan(plan, deps))).toMatchObject({ ...cut, output: [] });
    expect(begun).toBe(0);
  });

  it('counts what was said before a pause', async () => {
    const output = [{ type: 'message', id: 'msg_1', status: 'incomplete', text: '01234567', citations: [] }] as const;
    const before = { ...outcome(await runPlan(plan, loopDeps(readsOf([finish()])))), output };
    const start = { runId: 'run_1', firstSequence: 9, isEager: true, secrets: {}, before };
    const deps = loopDeps(readsOf([text('89abc'), finish()]), { answerCharsMax });
    const run = outcome(await collect(runLoop(plan, start, deps, new AbortController().signal)));
    expect(run).toMatchObject({ ...cut, output: [{ text: '01234567' }, { text: '89' }] });
  });

  it('counts how likely tokens were', async () => {
    const tokens = [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }];
    const reads = Array.from({ length: 9 }, () => [text('a'), { type: 'logprobs', tokens } as const]);
    const run = outcome(await runPlan(plan, loopDeps(readsOf(...reads, [finish()]), { answerCharsMax: 200 })));
    expect(run).toMatchObject(cut);
    expect(run.output).toMatchObject([{ type: 'message', text: 'aaaa' }]);
  });

  it('is not buffered for a client that reads deltas only, and may be endless', async () => {
    const model = readsOf([text('0123456')], [text('789abc')], [finish()]);
    const streamed = { ...plan, serviceTools: [], forgetsText: true };
    expect(outcome(await runPlan(streamed, loopDeps(model, { answerCharsMax }))).status).toBe('completed');
    expect(model.seen.count).toBe(3);
  });
});

it('a body that is longer than any answer is aborted, and not requested again', async () => {
  const upstream = await startUpstream();
  const models = makeRouter({ OPENAI_BASE_URL: upstream.url, ANSWER_MAX_CHARS: '1000', MODEL_RETRIES_MAX: '2' });
  upstream.otherwise({ text: 'x'.repeat(1_100_000) });
  const request = requestOf('openai/test-model', 'Hi', { isStreaming: false });
  const failure = await failureOf(models.stream(request, new AbortController().signal).deltas);
  expect(failure).toMatchObject({ code: 'UPSTREAM_ERROR', message: expect.stringMatching(/longer than \d+ bytes/) });
  expect(upstream.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  await models.close();
  await upstream.close();
});
