import { pino } from 'pino';
import type { Model, ModelDelta, ModelRequest } from '../../../src/engine/models/port.ts';
import type { ModelRouter } from '../../../src/engine/models/router.ts';
import type { RunPlan } from '../../../src/engine/plan/plan.ts';
import type { LoopDeps } from '../../../src/engine/runs/control/loop-deps.ts';
import { runLoop } from '../../../src/engine/runs/loop/loop.ts';
import { createDeepResearchKind } from '../../../src/engine/tools/deep-research/deep-research.ts';
import { ToolRegistry } from '../../../src/engine/tools/registry.ts';
import type { CallPass, ServerTool } from '../../../src/engine/tools/server-tool.ts';
import type { UsageLedger } from '../../../src/engine/usage/ledger.ts';
import { isTerminal, type RunEvent, type RunSnapshot } from '../../../src/entities/conversations/runs/event.ts';
import type { EnabledTool, ToolType } from '../../../src/entities/conversations/runs/tool.ts';
import { type IdKind, makeId } from '../../../src/entities/ground/ids.ts';
import type { Passage } from '../../../src/entities/knowledge/citation.ts';

/** The pass of a tool call outside of any run. */
export const freePass: CallPass = { key: 'run_1:call_1', isFresh: () => true, renew: () => Promise.resolve() };

export const silent = pino({ level: 'silent' });

/** The reads of a scripted model, one array for each upstream read; an Error in the list is thrown. */
export type ScriptedReads = readonly (readonly ModelDelta[] | Error)[];

export function scriptedModel(...answers: readonly ScriptedReads[]): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    async *stream(request, signal) {
      const reads = answers[requests.length] ?? [];
      requests.push(request);
      for (const read of reads) {
        await Promise.resolve();
        signal.throwIfAborted();
        if (read instanceof Error) throw read;
        yield read;
      }
    },
  };
}

/** A model that sends one word and then nothing, until its signal fires. */
export function hangingModel(word = 'Hello'): Model {
  return {
    async *stream(_request, signal) {
      yield [text(word)];
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
}

export function routerOf(model: Model): ModelRouter {
  return {
    list: async () => [],
    find: () => undefined,
    isConfigured: () => true,
    priceOf: () => null,
    problems: () => [],
    chainOf: (modelId) => [modelId],
    hasProvider: () => true,
    isRoutable: () => true,
    defaultModelId: () => 'test/model',
    warm: async () => undefined,
    stream: (request, signal) => ({
      deltas: model.stream(request, signal),
      selection: { provider: 'test', model: 'model', fallbackChain: [], queueMs: 0, firstTokenMs: 1 },
    }),
    embedding: undefined,
    embeddingOf: () => undefined,
    images: [],
    close: async () => undefined,
  };
}

export function recordingLedger(): Pick<UsageLedger, 'note'> & { readonly notes: Parameters<UsageLedger['note']>[] } {
  const notes: Parameters<UsageLedger['note']>[] = [];
  return { notes, note: (...note) => void notes.push(note) };
}

/** The limits of an organization without a limit. */
export const noLimits = {
  owner: 'test',
  reserve: () => ({ outputMax: undefined, release: () => undefined }),
  noted: () => undefined,
  written: () => undefined,
};

export function loopDeps(model: Model, more: Partial<LoopDeps> = {}): LoopDeps {
  return {
    models: routerOf(model),
    retrieve: retrieving([]),
    ledger: recordingLedger(),
    limits: noLimits,
    tools: registryOf(new Map()),
    askApproval: async () => undefined,
    filesOf: () => ({
      list: async () => [],
      read: () => Promise.reject(new Error('there are no files')),
      save: () => Promise.reject(new Error('no file can be kept')),
      replace: () => Promise.reject(new Error('no file can be kept')),
    }),
    withImages: async (messages) => messages,
    roundsMax: 4,
    answerCharsMax: 1_000_000,
    subagents: {
      countMax: 3,
      timeoutMs: 5_000,
      outputTokensMax: 500,
      roundsMax: 3,
      resultCharsMax: 20_000,
      tokensMax: 200_000,
      depthMax: 3,
    },
    logger: silent,
    now: () => new Date(),
    newId: (kind: IdKind) => makeId(kind, Date.now()),
    ...more,
  };
}

/** A registry whose kind `python` has the given functions; it knows `deep_research` too. */
export function registryOf(tools: ReadonlyMap<string, ServerTool>): ToolRegistry {
  return new ToolRegistry([
    {
      ...{ type: 'python', isReadOnly: false, description: 'The functions of a test.' },
      functionNames: () => [...tools.keys()],
      open: () => ({ functions: [...tools.values()] }),
    },
    createDeepResearchKind({ SUBAGENTS_MAX: 5, SUBAGENT_TOKENS_MAX: 200_000 }),
  ]);
}

/** Tools as a request enables them. */
export function enabled(...types: readonly ToolType[]): readonly EnabledTool[] {
  return types.map((type) => ({ type, options: {} }));
}

export const plan: RunPlan = {
  modelId: 'test/model',
  messages: [{ role: 'user', content: 'Hello there' }],
  tools: [],
  parameters: {},
  isStreaming: true,
  serviceTools: enabled('python'),
  generateCitations: true,
  charge: { tenantId: 'ten_1', orgId: 'org_1', userId: 'user_1', keyId: 'key_1', agentId: null, runId: null },
};

export async function collect(batches: AsyncIterable<readonly RunEvent[]>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const batch of batches) events.push(...batch);
  return events;
}

export function runPlan(
  runPlanned: RunPlan,
  deps: LoopDeps,
  options: { readonly isEager?: boolean; readonly signal?: AbortSignal } = {},
): Promise<RunEvent[]> {
  const start = { runId: 'run_1', firstSequence: 0, isEager: options.isEager ?? false, secrets: {} };
  return collect(runLoop(runPlanned, start, deps, options.signal ?? new AbortController().signal));
}

export function outcome(events: readonly RunEvent[]): RunSnapshot {
  const last = events.at(-1);
  if (last === undefined || !isTerminal(last) || !('run' in last)) throw new Error('the run did not end');
  return last.run;
}

export const text = (value: string): ModelDelta => ({ type: 'text', json: JSON.stringify(value) });
export const finish = (reason: 'stop' | 'length' | 'tool_calls' | 'content_filter' = 'stop'): ModelDelta => ({
  type: 'finish',
  reason,
});

/** A search that always finds these passages. */
export function retrieving(passages: readonly Passage[]): LoopDeps['retrieve'] {
  return async ({ question }) => ({
    passages,
    retrieval: { mode: 'lexical', reason: null, isReranked: false, rerankReason: null },
    searched: { text: question, rewrite: 'none', context: [] },
  });
}

export function passage(n: number, more: Partial<Passage> = {}): Passage {
  return {
    chunkId: `chunk-${n}`,
    knowledgeItemId: `ki_${n}`,
    dataSourceId: 'ds_1',
    title: `Document ${n}`,
    headingPath: '',
    text: `Passage ${n}`,
    page: null,
    charStart: 0,
    charEnd: 9,
    url: `https://example.test/${n}`,
    itemType: 'FILE_UPLOAD',
    tokenCount: 3,
    score: 1,
    scores: { lexical: 1, vector: null, rerank: null },
    mayCite: true,
    ...more,
  };
}
