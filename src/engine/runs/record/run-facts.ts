import type { FoundPassage, ModelCallStep, RetrievalSummary, RunStep } from '../../../entities/conversations/runs/step.ts';
import { writeCacheWrites } from '../../../entities/conversations/runs/usage.ts';
import { countable } from '../../../entities/operations/usage.ts';
import type { RunFacts } from '../../../storage/conversations/runs/writes.ts';
import { addCost, type Cost, costIn, toDecimal } from '../../usage/cost.ts';

/** Bounds of the steps in a row. */
const stepsMax = 100;
const stepsBytesMax = 16_000;
const nameCharsMax = 120;
/** Passages of one search, and those that were near. */
const passagesMax = 8;

/** What the row of a run says of its steps. @param startedAtMs  when the work began. */
export function toRunFacts(steps: readonly RunStep[], startedAtMs: number): Omit<RunFacts, 'durationMs'> {
  const calls = steps.filter((step) => step.type === 'model_call');
  const own = calls.filter(({ subagentId }) => subagentId === undefined);
  const retrieval = summarizeRetrieval(steps);
  return {
    answeredModelId: own.findLast(({ usage }) => usage !== null)?.modelId ?? null,
    firstTokenMs: findFirstToken(own, startedAtMs),
    cost: sumCosts(calls),
    retrieval,
    hasFoundNothing: retrieval !== null && retrieval.mode !== null && retrieval.passageCount === 0,
    steps: boundedSteps(steps),
  };
}

/** The tokens of all model calls, as a row takes them; null when there was none. */
export function sumUsage(steps: readonly RunStep[]) {
  let [inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens] = [0, 0, 0, 0, 0];
  let hasUsage = false;
  let isEstimated = false;
  for (const step of steps) {
    if (step.type !== 'model_call' || step.usage === null) continue;
    const { usage } = step;
    inputTokens = countable(inputTokens + countable(usage.inputTokens));
    outputTokens = countable(outputTokens + countable(usage.outputTokens));
    cachedTokens = countable(cachedTokens + countable(usage.cachedTokens));
    cacheWriteTokens = countable(cacheWriteTokens + countable(usage.cacheWriteTokens ?? 0));
    reasoningTokens = countable(reasoningTokens + countable(usage.reasoningTokens));
    hasUsage = true;
    isEstimated ||= usage.isEstimated === true;
  }
  if (!hasUsage) return null;
  const tokens = { inputTokens, outputTokens, cachedTokens, ...writeCacheWrites(cacheWriteTokens), reasoningTokens };
  return isEstimated ? { ...tokens, isEstimated: true as const } : tokens;
}

function findFirstToken(calls: readonly ModelCallStep[], beganMs: number): number | null {
  const times = calls.flatMap(({ startedAtMs, firstTokenMs }) =>
    startedAtMs === null || firstTokenMs === null ? [] : [startedAtMs - beganMs + firstTokenMs],
  );
  return times.length === 0 ? null : Math.max(0, Math.min(...times));
}

/** Null when no model was called, or one of them has no price. */
function sumCosts(calls: readonly ModelCallStep[]): string | null {
  if (calls.length === 0) return null;
  const sum = calls.reduce<Cost | null>((total, { cost }) => addCost(total, cost === null ? null : costIn(cost)), 0n);
  return sum === null ? null : toDecimal(sum);
}

/** The searches of the run itself, those of its subagents apart. */
function summarizeRetrieval(steps: readonly RunStep[]): RetrievalSummary | null {
  const searches = steps.filter((step) => step.type === 'retrieval').filter(({ subagentId }) => subagentId === undefined);
  const last = searches.at(-1);
  if (last === undefined) return null;
  const allPassages = searches.flatMap(({ passages }) => passages);
  const passageCount = searches.reduce((sum, search) => sum + search.passageCount, 0);
  const { mode, reason } = searches.findLast((search) => search.mode !== null) ?? last;
  const scores = allPassages.map(({ score }) => score);
  return {
    ...{ mode, reason, passageCount, bestScore: scores.length === 0 ? null : Math.max(...scores) },
    ...(passageCount === 0 && allPassages.length > 0 ? { near: allPassages.slice(0, passagesMax).map(cutPassage) } : {}),
  };
}

/** Without contents, in the order in which they began. Null for one good model call, of which the row itself says everything. */
function boundedSteps(steps: readonly RunStep[]): readonly RunStep[] | null {
  const [only] = steps;
  if (only === undefined || (steps.length === 1 && only.type === 'model_call')) return null;
  const shortenedSteps: RunStep[] = [];
  let bytes = 0;
  for (const step of steps.toSorted((a, b) => (a.startedAtMs ?? 0) - (b.startedAtMs ?? 0)).slice(0, stepsMax)) {
    const plain = withoutContents(step);
    bytes += Buffer.byteLength(JSON.stringify(plain));
    if (bytes > stepsBytesMax) break;
    shortenedSteps.push(plain);
  }
  return shortenedSteps;
}

function withoutContents(step: RunStep): RunStep {
  switch (step.type) {
    case 'retrieval': {
      const { question: _question, passages, ...rest } = step;
      return { ...rest, passages: passages.slice(0, passagesMax).map(cutPassage) };
    }
    case 'model_call': {
      const { entryId: _entryId, ...rest } = step;
      return rest;
    }
    case 'tool_call':
      return { ...step, callId: cut(step.callId), name: cut(step.name) };
    case 'subagent':
      return { ...step, name: cut(step.name) };
    case 'flow':
      return { ...step, stepId: cut(step.stepId) };
  }
}

function cutPassage(passage: FoundPassage): FoundPassage {
  return { ...passage, title: cut(passage.title) };
}

function cut(text: string): string {
  return text.length <= nameCharsMax ? text : text.slice(0, nameCharsMax).toWellFormed();
}
