import { describe, expect, it } from 'vitest';
import { type Model, type ModelDelta, ModelError, type ModelRequest } from '../../../src/engine/models/port.ts';
import type { RunPlan } from '../../../src/engine/plan/plan.ts';
import type { RunControl } from '../../../src/engine/runs/control/control.ts';
import type { LoopDeps } from '../../../src/engine/runs/control/loop-deps.ts';
import { RunStop } from '../../../src/engine/runs/control/stop.ts';
import { runLoop } from '../../../src/engine/runs/loop/loop.ts';
import type { ServerTool } from '../../../src/engine/tools/server-tool.ts';
import type { EndedSubagent, RunEvent, RunItem } from '../../../src/entities/conversations/runs/event.ts';
import type { ToolType } from '../../../src/entities/conversations/runs/tool.ts';
import type { Usage } from '../../../src/entities/conversations/runs/usage.ts';
import { DomainError } from '../../../src/entities/ground/errors.ts';
import {
  plan as basePlan,
  collect,
  enabled,
  finish,
  loopDeps,
  outcome,
  passage,
  recordingLedger,
  registryOf,
  retrieving,
  text,
} from '../../support/runs/runs.ts';

const plan: RunPlan = { ...basePlan, serviceTools: enabled('deep_research') };
const questions = ['What is red?', 'What is green?'];
const cost: Usage = { inputTokens: 10, outputTokens: 3, cachedTokens: 1, reasoningTokens: 1 };
const costDelta: ModelDelta = { type: 'usage', usage: cost };
const python: ServerTool = {
  definition: { name: 'python', description: 'Runs', parameters: { type: 'object' } },
  hint: 'Running Python',
  ifLost: 'repeat',
  run: async () => '42',
};

/** Whether a request comes from a subagent. */
function isSubagent({ messages }: ModelRequest): boolean {
  return messages.some(({ role, content }) => role === 'system' && String(content).startsWith('You are a researcher'));
}
function questionOf({ messages }: ModelRequest): string {
  const user = messages.find(({ role }) => role === 'user');
  return String(user?.content).split('Your question: ').at(-1) ?? '';
}
function call(name: string, args: string, id = `call_${name}`): readonly ModelDelta[] {
  return [
    { type: 'tool.start', index: 0, id, name },
    { type: 'tool.arguments', index: 0, json: JSON.stringify(args) },
    costDelta,
    finish('tool_calls'),
  ];
}
function says(words: string): readonly ModelDelta[] {
  return [text(words), costDelta, finish()];
}

type Reply = readonly ModelDelta[] | Promise<readonly ModelDelta[]>;
interface Script {
  readonly args?: string;
  readonly researcher?: (request: ModelRequest, signal: AbortSignal) => Reply;
  /** How often the run itself calls the tool before it answers. */
  readonly calls?: number;
}

/** Calls `deep_research`, lets subagents answer as scripted, and then answers. */
function researchModel({ args = JSON.stringify({ task: 'Colours', questions }), researcher, calls = 1 }: Script = {}) {
  const requests: ModelRequest[] = [];
  const model: Model = {
    async *stream(request, signal) {
      signal.throwIfAborted();
      requests.push(request);
      if (isSubagent(request)) {
        yield await (researcher ?? ((own) => says(`About: ${questionOf(own)}`)))(request, signal);
        return;
      }
      const answered = request.messages.filter(({ role }) => role === 'tool').length;
      yield answered < calls && request.toolChoice !== 'none' ? call('deep_research', args, `call_${answered}`) : says('Done.');
    },
  };
  return { model, requests, ofSubagents: () => requests.filter(isSubagent) };
}

interface Options {
  readonly plan?: RunPlan;
  readonly signal?: AbortSignal;
  readonly control?: RunControl;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly onEvent?: (event: RunEvent) => void;
}
async function run(script: { readonly model: Model }, more: Partial<LoopDeps> = {}, options: Options = {}) {
  const ledger = recordingLedger();
  const start = {
    ...{ runId: 'run_1', firstSequence: 0, isEager: true, secrets: options.secrets ?? {} },
    ...(options.control === undefined ? {} : { control: options.control }),
  };
  const signal = options.signal ?? new AbortController().signal;
  const events: RunEvent[] = [];
  for await (const batch of runLoop(
    options.plan ?? plan,
    start,
    loopDeps(script.model, { ledger, roundsMax: 20, ...more }),
    signal,
  )) {
    for (const event of batch) {
      events.push(event);
      options.onEvent?.(event);
    }
  }
  return { events, ended: endedOf(events), ...researchOf(events), end: outcome(events), notes: ledger.notes };
}
function endedOf(events: readonly RunEvent[]): readonly EndedSubagent[] {
  return events.flatMap((event) => (event.type === 'response.subagent.completed' ? [event.subagent] : []));
}
function researchOf(events: readonly RunEvent[]) {
  const find = <Type extends RunItem['type']>(type: Type) =>
    outcome(events).output.find((item): item is Extract<RunItem, { type: Type }> => item.type === type);
  return { item: find('server_tool_call'), output: find('server_tool_call_output') };
}
function totals(usages: readonly Usage[]) {
  const sum = (of: Exclude<keyof Usage, 'isEstimated' | 'cacheWriteTokens'>) => usages.reduce((all, usage) => all + usage[of], 0);
  return {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    cachedTokens: sum('cachedTokens'),
    reasoningTokens: sum('reasoningTokens'),
  };
}

describe('deep_research', () => {
  it('starts a subagent for each question, two at a time, within its call', async () => {
    const { events, ended, output } = await run(researchModel());
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_event, index) => index));
    const types = events.map(({ type }) => type.replace('response.', ''));
    const first = types.indexOf('server_tool_call.in_progress');
    const last = types.indexOf('server_tool_call.completed');
    const within = types.slice(first, last).filter((type) => type.startsWith('subagent.'));
    expect(within.slice(0, 2)).toEqual(['subagent.started', 'subagent.started']);
    expect([...within].sort()).toEqual(
      ['completed', 'completed', 'progress', 'progress', 'started', 'started'].map((type) => `subagent.${type}`),
    );
    expect(types.filter((type) => type.startsWith('subagent.'))).toHaveLength(within.length);
    expect(ended).toMatchObject(
      questions.map((question) => ({
        ...{ name: 'Researcher', agentId: null, parentId: null, depth: 1, task: question },
        ...{ status: 'completed', summary: `About: ${question}`, usage: cost },
      })),
    );
    expect(output?.output).toBe('## What is red?\nAbout: What is red?\n\n## What is green?\nAbout: What is green?');
  });

  it('takes the task alone for the only question', async () => {
    const script = researchModel({ args: '{"task":"Find blue"}' });
    const { ended, output } = await run(script);
    expect(ended.map(({ task }) => task)).toEqual(['Find blue']);
    expect(output?.output).toBe('About: Find blue');
    expect(script.ofSubagents()[0]?.messages[1]).toEqual({ role: 'user', content: 'Find blue' });
  });

  it('costs what its model calls cost: in the run, in the ledger, each once', async () => {
    const { end, notes, ended } = await run(researchModel());
    expect(notes).toHaveLength(4);
    expect(notes.map(([charge]) => charge)).toEqual(Array(4).fill(plan.charge));
    expect(end.usage).toEqual(totals(notes.map((note) => note[3])));
    expect(totals(ended.map(({ usage }) => usage ?? cost))).toEqual(totals([cost, cost]));
  });

  it('shows its steps: the search, what was found, tools, the writing', async () => {
    const knowing = { ...plan, knowledge: { orgId: 'org_1', dataSourceIds: ['ds_1'], question: 'x' }, hidesSteps: true };
    const withPython = { ...knowing, serviceTools: enabled('deep_research', 'python') };
    const script = researchModel({
      args: '{"task":"Count"}',
      researcher: ({ messages }) => (messages.at(-1)?.role === 'tool' ? says('It is 42 [1].') : call('python', '{}')),
    });
    const { events, output } = await run(
      script,
      { tools: registryOf(new Map([['python', python]])), retrieve: retrieving([passage(1), passage(2)]) },
      { plan: withPython },
    );
    const steps = events.flatMap((event) => (event.type === 'response.subagent.progress' ? [event] : []));
    expect(steps.map(({ message, progress }) => [message, progress])).toEqual([
      ['Searching the knowledge', 0],
      ['Reading 2 passages', 0.25],
      ['Running Python', null],
      ['Writing', 0.5],
    ]);
    expect(steps.map(({ usage }) => usage)).toEqual([null, null, cost, cost]);
    // The run itself found the passage too: it has one number.
    expect(output?.output).toBe('It is 42 [1].\nSources: [1] Document 1');
    // A subagent's work is in no other event, and its parent's steps stay hidden.
    expect(events.some(({ type }) => type === 'parley.step')).toBe(false);
  });
});

describe('a subagent', () => {
  it('knows its question and its knowledge, and nothing else of the run', async () => {
    const asked: unknown[] = [];
    const script = researchModel();
    await run(
      script,
      {
        retrieve: async ({ charge: _charge, ...knowledge }, signal) => {
          asked.push(knowledge);
          return retrieving([])({ ...knowledge, charge: plan.charge }, signal);
        },
        tools: registryOf(new Map([['python', python]])),
      },
      {
        plan: {
          ...plan,
          messages: [{ role: 'system', content: 'Our secret recipe' }, ...plan.messages],
          tools: [{ name: 'mail', description: 'Sends', parameters: {} }],
          knowledge: { orgId: 'org_1', dataSourceIds: ['ds_1', 'ds_2'], question: 'Hello there' },
          parameters: { temperature: 0.5, maxTokens: 9_000, stop: ['END'], logprobs: 2 },
          responseFormat: { type: 'json_object' },
        },
      },
    );
    expect(asked).toEqual(
      ['Hello there', ...questions].map((question) => ({ orgId: 'org_1', dataSourceIds: ['ds_1', 'ds_2'], question })),
    );
    const [first] = script.ofSubagents();
    expect(first).toMatchObject({ model: plan.modelId, tools: [] });
    expect(first?.parameters).toEqual({ temperature: 0.5, maxTokens: 500 });
    expect(first).not.toHaveProperty('responseFormat');
    expect(JSON.stringify(first)).not.toMatch(/secret recipe|Hello there|mail/);
    expect(first?.messages.at(-1)?.content).toBe('The whole task: Colours\n\nYour question: What is red?');
  });

  it.each([
    [['deep_research'], []],
    [['deep_research', 'python', 'memory'], ['python']],
  ])('of a run with %j is offered %j', async (serverTools, offered) => {
    const script = researchModel();
    await run(
      script,
      { tools: registryOf(new Map([['python', python]])) },
      { plan: { ...plan, serviceTools: enabled(...(serverTools as readonly ToolType[])) } },
    );
    expect(script.ofSubagents()[0]?.tools.map(({ name }) => name)).toEqual(offered);
  });

  it.each(['deep_research', 'mail'])('fails when it calls %s', async (name) => {
    const tools = [{ name: 'mail', description: 'Sends', parameters: {} }];
    const script = researchModel({ researcher: () => call(name, '{"task":"more"}') });
    const { ended, end } = await run(script, {}, { plan: { ...plan, tools } });
    expect(ended.map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(end.status).toBe('completed');
    expect(end.output.some(({ type }) => type === 'function_call')).toBe(false);
  });

  it('that fails fails alone', async () => {
    const script = researchModel({
      researcher: (request) => {
        if (questionOf(request) === questions[0]) throw new ModelError('UPSTREAM_ERROR', 'The provider is away', false);
        return says('Green it is.');
      },
    });
    const { ended, item, output, end } = await run(script);
    expect(ended).toMatchObject([
      { status: 'failed', summary: 'The provider is away', usage: null },
      { status: 'completed', summary: 'Green it is.' },
    ]);
    expect(item?.status).toBe('completed');
    expect(output).toMatchObject({ status: 'completed', error: null });
    expect(output?.output).toBe('## What is red?\n(Not answered: The provider is away)\n\n## What is green?\nGreen it is.');
    expect(end.status).toBe('completed');
  });

  it.each<[string, (request: ModelRequest) => Reply, string]>([
    ['says nothing', () => [finish()], 'The model answered nothing'],
    ['is filtered', () => [text('x'), finish('content_filter')], 'The answer was withheld by a filter'],
    ['breaks off', () => [text('x')], 'The model ended its answer without saying so'],
  ])('that %s has failed', async (_how, researcher, summary) => {
    const { ended } = await run(researchModel({ researcher, args: '{"task":"x"}' }));
    expect(ended).toMatchObject([{ status: 'failed', summary }]);
  });

  it('whose answer was cut says so', async () => {
    const { ended } = await run(researchModel({ researcher: () => [text('Half of'), finish('length')], args: '{"task":"x"}' }));
    expect(ended[0]).toMatchObject({ status: 'completed', summary: expect.stringMatching(/^Half of\n.*cut/) });
  });

  it('that takes too long fails', async () => {
    const script = researchModel({ args: '{"task":"x"}', researcher: (_request, signal) => hang(signal) });
    const subagents = { ...loopDeps(script.model).subagents, timeoutMs: 20 };
    const { ended, output } = await run(script, { subagents });
    expect(ended).toMatchObject([{ status: 'failed', summary: expect.stringContaining('longer than 20 ms') }]);
    expect(output?.error?.code).toBe('upstream_timeout');
  });

  it('comes to an end when its model only calls tools', async () => {
    const script = researchModel({
      args: '{"task":"x"}',
      researcher: ({ toolChoice }) => (toolChoice === 'none' ? says('Enough.') : call('python', '{}')),
    });
    const withPython = { ...plan, serviceTools: enabled('deep_research', 'python') };
    const { ended } = await run(script, { tools: registryOf(new Map([['python', python]])) }, { plan: withPython });
    expect(ended[0]?.summary).toBe('Enough.');
    expect(script.ofSubagents().map(({ toolChoice }) => toolChoice)).toEqual([undefined, undefined, 'none']);
  });

  it('counts its calls of tools among those of the run', async () => {
    const script = researchModel({
      researcher: ({ toolChoice, messages }) =>
        toolChoice === 'none' || messages.at(-1)?.role === 'tool' ? says('Enough.') : call('python', '{}'),
    });
    let programs = 0;
    const counted = {
      ...python,
      run: async () => {
        programs += 1;
        return '1';
      },
    };
    const limited = { ...plan, serviceTools: enabled('deep_research', 'python'), toolCallsMax: 2 };
    const { ended } = await run(script, { tools: registryOf(new Map([['python', counted]])) }, { plan: limited });
    expect(programs).toBe(1);
    expect(ended.map(({ status }) => status)).toEqual(['completed', 'completed']);
  });

  it('shows no secret of the caller', async () => {
    const args = JSON.stringify({ task: 'Use tok-12345678 for it' });
    const script = researchModel({ args, researcher: () => says('The token is tok-12345678.') });
    const { events, output } = await run(script, {}, { secrets: { token: 'tok-12345678' } });
    const shown = events.filter(({ type }) => type.startsWith('response.subagent.'));
    expect(shown).toHaveLength(3);
    expect(JSON.stringify(shown)).not.toContain('tok-12345678');
    expect(output?.output).toBe('The token is [secret].');
  });

  it('is refused where the limit of the organization is used up, and holds nothing behind', async () => {
    let held = 0;
    const limits = {
      reserve: () => {
        if (script.requests.length === 1) throw new DomainError('INSUFFICIENT_QUOTA', 'Used up');
        held += 1;
        return {
          outputMax: undefined,
          release: () => {
            held -= 1;
          },
        };
      },
    };
    const script = researchModel();
    const { ended, end, notes } = await run(script, { limits });
    expect(ended.map(({ summary }) => summary)).toEqual(['Used up', 'Used up']);
    expect(notes).toHaveLength(1);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'INSUFFICIENT_QUOTA' } });
    expect(held).toBe(0);
  });
});

describe('a call of deep_research', () => {
  it('fails with a reason when nobody found anything', async () => {
    const script = researchModel({
      researcher: () => {
        throw new ModelError('OVERLOADED', 'The provider is busy', false);
      },
    });
    const { events, item, output, end } = await run(script);
    expect(item?.status).toBe('failed');
    expect(output).toMatchObject({
      status: 'failed',
      error: { code: 'overloaded', message: expect.stringContaining('is busy') },
    });
    expect(events.some(({ type }) => type === 'response.server_tool_call.failed')).toBe(true);
    expect(end.status).toBe('completed');
    expect(script.requests.at(-1)?.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringMatching(/^Error: /) });
  });

  it.each([
    ['no JSON', '{"task"', 'invalid_json', 'no JSON'],
    ['a list', '[]', 'invalid_value', 'must be an object'],
    ['no question', '{}', 'invalid_value', 'question must be'],
    ['a blank task', '{"task":" "}', 'invalid_value', 'question must be'],
    ['a number as task', '{"task":1}', 'invalid_value', 'task must be a string'],
    ['a word as questions', '{"task":"x","questions":"y"}', 'invalid_value', 'questions must be an array'],
    ['a number as question', '{"task":"x","questions":["a",1]}', 'invalid_value', 'questions[1] must be a string'],
    ['a very long question', JSON.stringify({ task: 'x', questions: ['y'.repeat(4_001)] }), 'invalid_value', 'at most 4000'],
    ['too many questions', '{"task":"x","questions":["a","b","c","d"]}', 'invalid_value', 'at most 3 questions'],
  ])('with %s starts nobody and says why', async (_what, args, code, message) => {
    const script = researchModel({ args });
    const { ended, output, end } = await run(script);
    expect(ended).toEqual([]);
    expect(output?.error).toEqual({ code, message: expect.stringContaining(message) });
    expect(end.status).toBe('completed');
    expect(script.ofSubagents()).toEqual([]);
  });

  it.each([
    ['asks twice', { task: 'x', questions: ['a', 'a', ' ', 'b'] }, ['a', 'b']],
    ['has no task', { questions: ['a', 'b'] }, ['a', 'b']],
    ['has null for questions', { task: 'x', questions: null }, ['x']],
  ])('that %s is understood', async (_what, args, tasks) => {
    const { ended } = await run(researchModel({ args: JSON.stringify(args) }));
    expect(ended.map(({ task }) => task)).toEqual(tasks);
  });

  it('hands on no more than a model is to read', async () => {
    const script = researchModel({ researcher: () => says('word '.repeat(500)) });
    const subagents = { ...loopDeps(script.model).subagents, resultCharsMax: 400 };
    const { output } = await run(script, { subagents });
    expect(output?.output.length).toBeLessThan(410);
    expect(output?.output).toMatch(/^## What is red\?.*…\n\n## What is green\?.*…$/s);
  });

  it('is refused after the fourth in one run', async () => {
    const script = researchModel({ args: '{"task":"x"}', calls: 5 });
    const { ended, end } = await run(script);
    expect(ended).toHaveLength(4);
    expect(end.output.findLast(({ type }) => type === 'server_tool_call_output')).toMatchObject({ error: { code: 'conflict' } });
    expect(end.status).toBe('completed');
  });
});

describe('a research of one question', () => {
  const plans = (request: ModelRequest) => String(request.messages[0]?.content).startsWith('You plan a research');
  const args = '{"question":"Compare red and green"}';
  /** Answers the plan as scripted, everything else as `researchModel` does. */
  function planned(written: string, researcher?: Script['researcher']) {
    const script = researchModel({ args, ...(researcher === undefined ? {} : { researcher }) });
    const asked: ModelRequest[] = [];
    const model: Model = {
      async *stream(request, signal) {
        if (plans(request)) {
          asked.push(request);
          yield says(written);
        } else yield* script.model.stream(request, signal);
      },
    };
    return { ...script, model, asked };
  }

  it('is divided by a plan, in one model call that costs what it costs', async () => {
    const script = planned(JSON.stringify({ questions }));
    const { ended, end, notes } = await run(script);
    expect(ended.map(({ task }) => task)).toEqual(questions);
    expect(script.asked).toMatchObject([{ tools: [], responseFormat: { type: 'json_schema', strict: true } }]);
    expect(script.ofSubagents()[0]?.messages[1]?.content).toContain('The whole task: Compare red and green');
    expect(notes).toHaveLength(5);
    expect(end.usage).toEqual(totals(notes.map((note) => note[3])));
  });

  it.each([
    ['prose', 'First look at red.'],
    ['an empty plan', '{"questions":[]}'],
    ['a plan of numbers', '{"questions":[1]}'],
    ['nothing', ' '],
  ])('is its own plan when the model writes %s', async (_what, written) => {
    const { ended } = await run(planned(written));
    expect(ended.map(({ task }) => task)).toEqual(['Compare red and green']);
  });

  it('has at most as many parts as a call may start subagents', async () => {
    const { ended } = await run(planned(JSON.stringify({ questions: ['a', 'b', 'c', 'd', 'e'] })));
    expect(ended.map(({ task }) => task)).toEqual(['a', 'b', 'c']);
  });

  it('keeps to the budget of its request: subagents', async () => {
    const serviceTools = [{ type: 'deep_research', options: { budget: { subagents: 1 } } }] as const;
    const { ended, output } = await run(researchModel(), {}, { plan: { ...plan, serviceTools } });
    expect(ended.map(({ task }) => task)).toEqual([questions[0]]);
    expect(output?.output).toContain(
      '## What is green?\n(Not researched: the budget of the research allows no further subagent.',
    );
  });

  it.each([
    ['of its request', { budget: { tokens: 1_000 } }, 200_000],
    ['of the settings', { budget: { tokens: 100_000 } }, 1_000],
  ])('keeps to the tokens %s', async (_of, options, tokensMax) => {
    const serviceTools = [{ type: 'deep_research' as const, options }];
    const costly = [text('Found.'), { type: 'usage', usage: { ...cost, inputTokens: 900, outputTokens: 90 } }, finish()] as const;
    const script = researchModel({ researcher: () => [...costly] });
    const subagents = { ...loopDeps(script.model).subagents, tokensMax };
    const { ended, output, end } = await run(script, { subagents }, { plan: { ...plan, serviceTools } });
    expect(script.ofSubagents()).toHaveLength(1);
    expect(ended[0]).toMatchObject({ task: questions[0], status: 'completed' });
    expect(output?.output).toMatch(/Found\.[\s\S]*## What is green\?\n\(Not researched: the tokens .* are used up/);
    expect(end.status).toBe('completed');
  });
});

describe('a run that is stopped while a subagent works', () => {
  it.each([
    ['cancelled', new RunStop('cancelled', 'Stop'), 'cancelled'],
    ['shut down', new RunStop('shutdown', 'Stop'), 'failed'],
    ['timed out', new RunStop('timeout', 'Stop'), 'incomplete'],
  ])('(%s) stops it at once and closes everything', async (_how, reason, status) => {
    const stop = new AbortController();
    const script = researchModel({ researcher: (_request, signal) => hang(signal) });
    const { events, ended, item, output, end, notes } = await run(
      script,
      {},
      {
        signal: stop.signal,
        onEvent: ({ type }) => {
          if (type === 'response.subagent.started') setTimeout(() => stop.abort(reason), 5);
        },
      },
    );
    expect(ended).toMatchObject(questions.map((task) => ({ task, status: 'cancelled' })));
    expect(item?.status).toBe('failed');
    expect(output).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
    expect(end.status).toBe(status);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_event, index) => index));
    // The calls that were cut had reached the model.
    expect(notes).toHaveLength(3);
    expect(end.usage).toEqual({ ...totals(notes.map((note) => note[3])), isEstimated: true });
  });

  it('takes the model call with it when the reader leaves', async () => {
    const stop = new AbortController();
    const seen: AbortSignal[] = [];
    const script = researchModel({
      researcher: (_request, signal) => {
        seen.push(signal);
        return hang(signal);
      },
    });
    const start = { runId: 'run_1', firstSequence: 0, isEager: true, secrets: {} };
    const events = runLoop(plan, start, loopDeps(script.model), stop.signal);
    for await (const batch of events) {
      if (!batch.some(({ type }) => type === 'response.subagent.started')) continue;
      while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
      stop.abort(new RunStop('cancelled', 'The client left'));
      break;
    }
    expect(seen[0]?.aborted).toBe(true);
  });
});

describe('a run that is reached while a subagent works', () => {
  function controlled() {
    const pausing = new AbortController();
    const control: RunControl & { hasInput: boolean } = {
      pause: pausing.signal,
      hasInput: false,
      take: async () => {
        control.hasInput = false;
        return [];
      },
      mayEnd: async () => true,
    };
    return { control, pause: () => pausing.abort(new RunStop('paused', 'The run was paused')) };
  }

  it('pauses at once: those at work are stopped, no further one begins, and the output says what is open', async () => {
    const { control, pause } = controlled();
    const seen: AbortSignal[] = [];
    const script = researchModel({
      researcher: (_request, signal) => {
        seen.push(signal);
        return hang(signal);
      },
    });
    const { ended, item, output, end } = await run(
      script,
      {},
      { control, onEvent: ({ type }) => type === 'response.subagent.started' && pause() },
    );
    expect(seen.every(({ aborted }) => aborted)).toBe(true);
    const summary = 'Stopped, as the answer was paused';
    expect(ended).toMatchObject(questions.map((task) => ({ task, status: 'cancelled', summary })));
    expect(item?.status).toBe('completed');
    expect(output).toMatchObject({ status: 'completed', error: null });
    for (const question of questions) {
      expect(output?.output).toContain(`## ${question}\n(Not researched: the answer was paused. Ask again`);
    }
    expect(end).toMatchObject({ status: 'incomplete', incompleteReason: 'paused' });
    expect(script.ofSubagents().length).toBeLessThanOrEqual(2);
  });

  it('pauses with what was found before', async () => {
    const { control, pause } = controlled();
    let started = 0;
    const { ended, output, end } = await run(
      researchModel({
        researcher: (request, signal) =>
          questionOf(request) === questions[0] ? says(`About: ${questionOf(request)}`) : hang(signal),
      }),
      {},
      {
        control,
        onEvent: ({ type }) => {
          if (type === 'response.subagent.started') started += 1;
          if (started === 2) pause();
        },
      },
    );
    expect(ended).toMatchObject([{ status: 'completed' }, { status: 'cancelled' }]);
    expect(output?.output).toContain('About: What is red?');
    expect(output?.output).toContain('## What is green?\n(Not researched: the answer was paused.');
    expect(end).toMatchObject({ status: 'incomplete', incompleteReason: 'paused' });
  });

  it.each([
    ['cancelled', 'cancelled', null],
    ['timeout', 'incomplete', 'timeout'],
    ['shutdown', 'incomplete', 'paused'],
  ] as const)('and is stopped (%s) while a pause waits for a tool, is %s', async (kind, status, incompleteReason) => {
    const { control, pause } = controlled();
    const stop = new AbortController();
    const model: Model = {
      async *stream() {
        yield call('slow', '{}');
      },
    };
    const slow: ServerTool = {
      definition: { name: 'slow', description: 'Takes its time', parameters: { type: 'object' } },
      hint: 'Taking its time',
      ifLost: 'repeat',
      run: (_args, _secrets, signal) => hang(signal).then(() => ''),
    };
    const { end, item } = await run(
      { model },
      { tools: registryOf(new Map([['slow', slow]])) },
      {
        plan: { ...plan, serviceTools: enabled('python') },
        control,
        signal: stop.signal,
        onEvent: ({ type }) => {
          if (type !== 'response.server_tool_call.in_progress') return;
          pause();
          setImmediate(() => stop.abort(new RunStop(kind, 'Stop')));
        },
      },
    );
    expect(end).toMatchObject({ status, incompleteReason });
    expect(item?.status).toBe('failed');
  });

  it('takes what was put into it before the next question', async () => {
    const { control } = controlled();
    const { ended, output, end } = await run(
      researchModel({ args: JSON.stringify({ task: 'Colours', questions: [...questions, 'What is blue?'] }) }),
      {},
      {
        control,
        onEvent: ({ type }) => {
          if (type === 'response.subagent.started') control.hasInput = true;
        },
      },
    );
    expect(ended).toHaveLength(2);
    expect(output?.output).toContain('## What is blue?\n(Not researched: the user said something else in the meantime.');
    expect(end.status).toBe('completed');
  });
});

it('a run without deep_research knows nothing of it', async () => {
  const script = researchModel();
  const events = await collect(
    runLoop(
      { ...plan, serviceTools: [] },
      { runId: 'run_1', firstSequence: 0, isEager: true, secrets: {} },
      loopDeps(script.model),
      new AbortController().signal,
    ),
  );
  expect(script.requests[0]?.tools).toEqual([]);
  expect(outcome(events).output).toMatchObject([{ type: 'function_call', name: 'deep_research' }]);
});

/** Waits until the signal fires. */
function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}
