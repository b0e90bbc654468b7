import type { RunSpent, SpentCall } from '../../../entities/conversations/runs/event.ts';
import { type Usage, writeCacheWrites } from '../../../entities/conversations/runs/usage.ts';
import type { ErrorCode } from '../../../entities/ground/errors.ts';
import type { TokenUsage } from '../../models/port.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { RunBudget } from '../../usage/budget.ts';
import type { TokenNeed } from '../../usage/meters.ts';
import type { LoopDeps, LoopStart } from '../control/loop-deps.ts';
import type { RunRecorder } from '../record/recorder.ts';
import type { RunOutput } from './output.ts';

interface SpendingParts {
  readonly plan: RunPlan;
  readonly start: LoopStart;
  readonly deps: LoopDeps;
  readonly budget: RunBudget;
  readonly output: RunOutput;
  readonly recorder: RunRecorder;
}

/** A model call that is over. `startedMs` is a time of `performance.now()`. */
interface EndedCall {
  readonly modelId: string;
  /** Undefined: the model refused before its first token, which costs nothing. */
  readonly usage: TokenUsage | undefined;
  readonly startedMs: number;
  readonly firstTokenMs: number | null;
  readonly errorCode: ErrorCode | null;
}

/** What one run spends: every model call is charged to the ledger and added up here. */
export class RunSpending {
  readonly #parts: SpendingParts;
  readonly #startedAtMs: number;
  #total: Usage | null;
  /** Charged calls that no event of the run tells of yet. */
  #untold: SpentCall[] = [];

  constructor(parts: SpendingParts) {
    this.#parts = parts;
    this.#startedAtMs = parts.deps.now().getTime();
    this.#total = parts.start.before?.usage ?? null;
  }

  get total(): Usage | null {
    return this.#total;
  }

  /** Used rounds, tool calls and time, those of earlier processes included. */
  get spent(): RunSpent {
    const { start, deps, budget } = this.#parts;
    const workedMs = (start.spent?.workedMs ?? 0) + deps.now().getTime() - this.#startedAtMs;
    return { ...budget.spent, workedMs };
  }

  /** As ToolRun.charged says. */
  async charged<T>(
    modelId: string,
    need: TokenNeed,
    call: () => Promise<{ readonly result: T; readonly usage: TokenUsage }>,
  ): Promise<T> {
    const { plan, deps } = this.#parts;
    const hold = await deps.limits.reserve({ charge: plan.charge, kind: 'api', modelId }, () => need);
    const startedMs = performance.now();
    try {
      const { result, usage } = await call();
      this.book({ modelId, usage, startedMs, firstTokenMs: null, errorCode: null });
      this.emit();
      return result;
    } finally {
      hold.release();
    }
  }

  /** Records a model call that is over, and charges for it. Of a run whose log is stored, its events name the ledger entry. */
  book(call: EndedCall): void {
    const { plan, start, deps, recorder } = this.#parts;
    const { modelId, usage, startedMs } = call;
    const subagentId = start.subagent?.id;
    if (usage === undefined || !start.isEager) {
      recorder.modelCall({ ...call, subagentId });
      if (usage === undefined) return;
      this.#total = addUsage(this.#total, usage);
      deps.ledger.note(plan.charge, 'run', modelId, usage);
      return;
    }
    const entryId = deps.newId('usageEntry');
    recorder.modelCall({ ...call, entryId, subagentId });
    this.add({ entryId, modelId, usage, durationMs: Math.round(performance.now() - startedMs) });
    deps.ledger.note(plan.charge, 'run', modelId, usage, entryId);
  }

  /** Adds a model call that is charged already. */
  add(call: SpentCall): void {
    this.#total = addUsage(this.#total, call.usage);
    this.#untold.push(call);
  }

  /** Emits what was spent since the last time. Called before slow work. Before the first output a takeover restarts the run, so nothing is emitted. */
  emit(): void {
    const { output } = this.#parts;
    if (!output.hasItems || this.#total === null || this.#untold.length === 0) return;
    output.emit({ type: 'parley.usage', usage: this.#total, calls: this.#untold, spent: this.spent });
    this.#untold = [];
  }
}

/** The sum of what a run has spent and one more model call. */
export function addUsage(usage: Usage | null, tokenUsage: TokenUsage): Usage {
  if (usage === null) return tokenUsage;
  return {
    inputTokens: usage.inputTokens + tokenUsage.inputTokens,
    outputTokens: usage.outputTokens + tokenUsage.outputTokens,
    cachedTokens: usage.cachedTokens + tokenUsage.cachedTokens,
    ...writeCacheWrites((usage.cacheWriteTokens ?? 0) + (tokenUsage.cacheWriteTokens ?? 0)),
    reasoningTokens: usage.reasoningTokens + tokenUsage.reasoningTokens,
    ...(usage.isEstimated === true || tokenUsage.isEstimated === true ? { isEstimated: true } : {}),
  };
}
