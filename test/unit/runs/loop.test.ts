import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ModelDelta, ModelError } from '../../../src/engine/models/port.ts';
import type { RunPlan } from '../../../src/engine/plan/plan.ts';
import { RunStop } from '../../../src/engine/runs/control/stop.ts';
import { RunFold } from '../../../src/engine/runs/events/fold.ts';
import type { ServerTool } from '../../../src/engine/tools/server-tool.ts';
import { isTerminal, type RunEvent, type RunItem } from '../../../src/entities/conversations/runs/event.ts';
import {
  finish,
  hangingModel,
  loopDeps,
  outcome,
  passage,
  plan,
  recordingLedger,
  registryOf,
  retrieving,
  runPlan,
  scriptedModel,
  text,
} from '../../support/runs/runs.ts';

const usage = { inputTokens: 5, outputTokens: 7, cachedTokens: 0, reasoningTokens: 0 };
const withKnowledge: RunPlan = { ...plan, knowledge: { orgId: 'org_1', dataSourceIds: ['ds_1'], question: 'What?' } };

/** Rules for the events of every run. */
function expectWellFormed(events: readonly RunEvent[]): void {
  expect(events.map((event) => event.sequence)).toEqual(events.map((_event, index) => index));
  expect(events[0]?.type).toBe('response.created');
  expect(events.filter(isTerminal)).toHaveLength(1);
  expect(outcome(events)).toBeDefined();
  const open = new Map<number, RunItem>();
  const closed: RunItem[] = [];
  for (const event of events) {
    if (event.type === 'response.output_item.added') {
      expect(event.outputIndex).toBe(closed.length);
      expect(open.size).toBe(0);
      open.set(event.outputIndex, event.item);
    } else if (event.type === 'response.output_item.done') {
      expect(open.get(event.outputIndex)).toMatchObject({ id: event.item.id, type: event.item.type });
      open.delete(event.outputIndex);
      closed.push(event.item);
    } else if ('itemId' in event) {
      expect(open.get(event.outputIndex)?.id).toBe(event.itemId);
    }
  }
  expect(open.size).toBe(0);
  expect(outcome(events).output).toEqual(closed);
}

/** The items without their ids, which differ from run to run. */
function said(items: readonly RunItem[]): unknown {
  return items.map(({ id: _id, ...item }) => item);
}

function folded(events: readonly RunEvent[]): RunFold {
  const fold = new RunFold();
  fold.add(events);
  return fold;
}

describe('a run', () => {
  it('emits the output of the model in order, and ends once', async () => {
    const ledger = recordingLedger();
    const model = scriptedModel([
      [text('Hel'), text('lo')],
      [{ type: 'usage', usage }, finish()],
    ]);
    const events = await runPlan(plan, loopDeps(model, { ledger }));
    expectWellFormed(events);
    expect(outcome(events)).toMatchObject({
      status: 'completed',
      usage,
      output: [{ type: 'message', text: 'Hello', status: 'completed' }],
    });
    expect(ledger.notes).toEqual([[plan.charge, 'run', 'test/model', usage]]);
  });

  it.each([
    ['stop', 'completed', null],
    ['length', 'incomplete', 'max_output_tokens'],
    ['content_filter', 'incomplete', 'content_filter'],
  ] as const)('that finishes with %s is %s', async (reason, status, incompleteReason) => {
    const events = await runPlan(plan, loopDeps(scriptedModel([[text('Hi'), finish(reason)]])));
    expectWellFormed(events);
    expect(outcome(events)).toMatchObject({ status, incompleteReason });
  });

  it('puts interleaved tool calls in order, each whole before the next, and "{}" for none', async () => {
    const reads: ModelDelta[] = [
      text('Let me see.'),
      { type: 'tool.start', index: 0, id: 'call_a', name: 'first' },
      { type: 'tool.start', index: 1, id: 'call_b', name: 'second' },
      { type: 'tool.arguments', index: 1, json: JSON.stringify('{"y"') },
      { type: 'tool.arguments', index: 0, json: JSON.stringify('{"x":') },
      { type: 'tool.arguments', index: 0, json: JSON.stringify('1}') },
      { type: 'tool.arguments', index: 1, json: JSON.stringify(':2}') },
      { type: 'tool.start', index: 2, id: 'call_c', name: 'third' },
      finish('tool_calls'),
    ];
    const events = await runPlan(plan, loopDeps(scriptedModel([reads])));
    expectWellFormed(events);
    expect(outcome(events).output).toMatchObject([
      { type: 'message', text: 'Let me see.' },
      { type: 'function_call', callId: 'call_a', name: 'first', arguments: '{"x":1}' },
      { type: 'function_call', callId: 'call_b', name: 'second', arguments: '{"y":2}' },
      { type: 'function_call', callId: 'call_c', name: 'third', arguments: '{}' },
    ]);
  });

  it('runs a tool of the service and asks the model again with its output', async () => {
    const clock: ServerTool = {
      definition: { name: 'clock', description: 'Tells the time', parameters: { type: 'object' } },
      hint: 'Reading the clock',
      ifLost: 'repeat',
      run: async () => 'noon',
    };
    const call: ModelDelta = { type: 'tool.start', index: 0, id: 'call_a', name: 'clock' };
    const model = scriptedModel([[text('One moment.'), call, finish('tool_calls')]], [[text('It is noon.'), finish()]]);
    const ledger = recordingLedger();
    const events = await runPlan(plan, loopDeps(model, { tools: registryOf(new Map([['clock', clock]])), ledger }));
    expectWellFormed(events);
    expect(model.requests[1]?.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'One moment.',
        toolCalls: [{ id: 'call_a', name: 'clock', arguments: '{}', origin: { answer: 'run_1:0', index: 0 } }],
      },
      { role: 'tool', toolCallId: 'call_a', content: 'noon' },
    ]);
    expect(said(outcome(events).output)).toMatchObject([
      { type: 'message' },
      { type: 'server_tool_call', status: 'completed' },
      { type: 'server_tool_call_output', output: 'noon', error: null },
      { type: 'message', text: 'It is noon.' },
    ]);
    expect(ledger.notes).toHaveLength(2);
  });

  it('forbids tools in its last round, so a model that only calls tools comes to an end', async () => {
    const tool: ServerTool = {
      definition: { name: 't', description: '', parameters: {} },
      hint: '',
      ifLost: 'repeat',
      run: async () => 'x',
    };
    const round: readonly ModelDelta[] = [{ type: 'tool.start', index: 0, id: 'call_a', name: 't' }, finish('tool_calls')];
    const model = scriptedModel([round], [round], [[text('enough'), finish()]]);
    await runPlan(plan, loopDeps(model, { tools: registryOf(new Map([['t', tool]])), roundsMax: 3 }));
    expect(model.requests.map((request) => request.toolChoice)).toEqual([undefined, undefined, 'none']);
  });

  it('gives the same fold for any split of the same text', async () => {
    const words = fc.array(fc.constantFrom('a', ' ', '[', ']', '1', '2', '9', '[1]', ' [2]', '[3', '"', '\\', 'ü', '😀', '\n'), {
      maxLength: 24,
    });
    await fc.assert(
      fc.asyncProperty(words, fc.array(fc.nat(6), { maxLength: 30 }), fc.boolean(), async (parts, cuts, isCiting) => {
        const whole = parts.join('');
        const deps = (reads: readonly (readonly ModelDelta[])[]) =>
          loopDeps(scriptedModel(reads), { retrieve: retrieving([passage(1), passage(2), passage(3, { mayCite: false })]) });
        const planned = { ...withKnowledge, generateCitations: isCiting };
        const one = await runPlan(planned, deps([[text(whole), finish()]]));
        const many = await runPlan(planned, deps([...pieces(whole, cuts).map((piece) => [text(piece)]), [finish()]]));
        expectWellFormed(many);
        expect(said(outcome(many).output)).toEqual(said(outcome(one).output));
        expect(said(folded(many.slice(0, -1)).snapshot().output)).toEqual(said(outcome(many).output));
      }),
      { numRuns: 200 },
    );
  });
});

describe('citations', () => {
  const deps = (...parts: string[]) =>
    loopDeps(scriptedModel([...parts.map((part) => [text(part)]), [finish()]]), {
      retrieve: retrieving([passage(1), passage(2), passage(3, { mayCite: false })]),
    });

  it('are numbered in order of first use, found across delta boundaries, and placed to the character', async () => {
    const events = await runPlan(withKnowledge, deps('Zwölf 😀 Tage [', '2', '], oder mehr [1][2].'));
    expectWellFormed(events);
    const [message] = outcome(events).output;
    expect(message).toMatchObject({ text: 'Zwölf 😀 Tage [1], oder mehr [2][1].' });
    if (message?.type !== 'message') throw new Error('no message');
    expect(message.citations.map(({ index, knowledgeItemId }) => [index, knowledgeItemId])).toEqual([
      [1, 'ki_2'],
      [2, 'ki_1'],
      [1, 'ki_2'],
    ]);
    for (const citation of message.citations) {
      expect(message.text.slice(citation.answerStart, citation.answerEnd)).toBe(`[${citation.index}]`);
    }
    expect(events.filter((event) => event.type === 'response.output_text.annotation.added')).toHaveLength(3);
  });

  it('of unknown passages, and of those that must not be cited, leave the text', async () => {
    const events = await runPlan(withKnowledge, deps('One [7', '], two [3], three [1]. a[ b]'));
    expect(outcome(events).output).toMatchObject([{ text: 'One, two, three [1]. a[ b]', citations: [{ index: 1 }] }]);
  });

  it('leave the text when none were asked for', async () => {
    const events = await runPlan({ ...withKnowledge, generateCitations: false }, deps('One [1], two', ' [2', '], x[7].'));
    expect(outcome(events).output).toMatchObject([{ text: 'One, two, x[7].', citations: [] }]);
  });

  it('are not looked for without passages', async () => {
    const events = await runPlan(plan, loopDeps(scriptedModel([[text('a ['), text('1] b [9]'), finish()]])));
    expect(outcome(events).output).toMatchObject([{ text: 'a [1] b [9]', citations: [] }]);
    expect(events.filter((event) => event.type === 'response.output_text.delta')).toHaveLength(2);
  });
});

describe('a run that goes wrong', () => {
  const refused = new ModelError('RATE_LIMIT_EXCEEDED', 'Slow down', true, 7);

  it('before the first token throws an error that every API can answer with, and costs nothing', async () => {
    const ledger = recordingLedger();
    await expect(runPlan(plan, loopDeps(scriptedModel([refused]), { ledger }))).rejects.toMatchObject({
      name: 'DomainError',
      code: 'RATE_LIMIT_EXCEEDED',
      detail: { retryAfterSeconds: 7 },
    });
    expect(ledger.notes).toEqual([]);
  });

  it('later ends with response.failed, keeps what was said, and is charged by estimate', async () => {
    const ledger = recordingLedger();
    const broken = new ModelError('UPSTREAM_ERROR', 'The connection broke', true);
    const events = await runPlan(plan, loopDeps(scriptedModel([[text('Half of it')], broken]), { ledger }));
    expectWellFormed(events);
    expect(outcome(events)).toMatchObject({
      status: 'failed',
      error: { code: 'UPSTREAM_ERROR', message: 'The connection broke' },
      output: [{ text: 'Half of it', status: 'incomplete' }],
    });
    const estimated = { inputTokens: 3, outputTokens: 3, cachedTokens: 0, reasoningTokens: 0, isEstimated: true };
    expect(ledger.notes[0]?.[3]).toEqual(estimated);
  });

  it('because the upstream never said it was finished, failed', async () => {
    const events = await runPlan(plan, loopDeps(scriptedModel([[text('Half')]])));
    expect(outcome(events)).toMatchObject({ status: 'failed', error: { code: 'UPSTREAM_ERROR' } });
  });

  it('by an eager start never throws', async () => {
    const events = await runPlan(plan, loopDeps(scriptedModel([refused])), { isEager: true });
    expectWellFormed(events);
    expect(outcome(events)).toMatchObject({ status: 'failed', error: { code: 'RATE_LIMIT_EXCEEDED' } });
  });

  it('shows nothing of an unexpected failure', async () => {
    const events = await runPlan(plan, loopDeps(scriptedModel([[text('Half')], new Error('password is hunter2')])));
    expect(outcome(events)).toMatchObject({ status: 'failed', error: { code: 'SERVER_ERROR' } });
    expect(JSON.stringify(events)).not.toContain('hunter2');
  });

  it.each([
    ['cancelled', 'cancelled', 'response.incomplete', null],
    ['timeout', 'incomplete', 'response.incomplete', null],
  ] as const)('by %s is %s, with one end', async (kind, status, type, error) => {
    const controller = new AbortController();
    const ledger = recordingLedger();
    const running = runPlan(plan, loopDeps(hangingModel(), { ledger }), { signal: controller.signal });
    setImmediate(() => controller.abort(new RunStop(kind, 'stopped')));
    const events = await running;
    expectWellFormed(events);
    expect(events.at(-1)?.type).toBe(type);
    expect(outcome(events)).toMatchObject({ status, output: [{ text: 'Hello', status: 'incomplete' }] });
    if (error !== null) expect(outcome(events).error).toMatchObject(error);
    expect(ledger.notes).toHaveLength(1);
  });

  it('shows its steps, or hides them without a gap', async () => {
    const retrieve = retrieving([passage(1), passage(2)]);
    const deps = () => loopDeps(scriptedModel([[text('Hi'), finish()]]), { retrieve });
    const shown = await runPlan(withKnowledge, deps());
    const hidden = await runPlan({ ...withKnowledge, hidesSteps: true }, deps());
    for (const events of [shown, hidden]) expectWellFormed(events);
    expect(shown.find((event) => event.type === 'parley.step')).toMatchObject({ name: 'retrieve', detail: { passages: 2 } });
    expect(hidden.some((event) => event.type === 'parley.step')).toBe(false);
  });

  it('in retrieval continues without passages', async () => {
    const retrieve = () => Promise.reject(new Error('no database'));
    const events = await runPlan(withKnowledge, loopDeps(scriptedModel([[text('Hi [1]'), finish()]]), { retrieve }));
    expectWellFormed(events);
    expect(outcome(events)).toMatchObject({ status: 'completed', output: [{ text: 'Hi [1]' }] });
    expect(events.find((event) => event.type === 'parley.step')).toMatchObject({
      name: 'retrieve',
      detail: { isUnavailable: true },
    });
  });
});

function pieces(whole: string, cuts: readonly number[]): string[] {
  const result: string[] = [];
  let rest = whole;
  for (const cut of cuts) {
    result.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return [...result, rest];
}
