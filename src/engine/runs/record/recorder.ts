import type { FlowStepRecord } from '../../../entities/agents/flow.ts';
import type { EndedSubagent, ServerCallItem } from '../../../entities/conversations/runs/event.ts';
import type { FoundPassage, ModelCallStep, RunStep } from '../../../entities/conversations/runs/step.ts';
import type { ErrorCode } from '../../../entities/ground/errors.ts';
import type { Passage } from '../../../entities/knowledge/citation.ts';
import type { Retrieval } from '../../../entities/knowledge/retrieval.ts';
import type { TokenUsage } from '../../models/port.ts';
import type { ModelRouter } from '../../models/router.ts';
import { addCost, type Cost, computeCost, toDecimal } from '../../usage/cost.ts';

export interface RecorderDeps {
  readonly models: Pick<ModelRouter, 'priceOf'>;
  now(): Date;
}

/** Times are those of `performance.now()`. */
interface CallNote {
  readonly modelId: string;
  readonly startedMs: number;
  /** Since `startedMs`. */
  readonly firstTokenMs: number | null;
  /** Undefined: the model refused before its first token. */
  readonly usage: TokenUsage | undefined;
  readonly errorCode: ErrorCode | null;
  readonly entryId?: string | undefined;
  readonly subagentId?: string | undefined;
}

/** Notes what one run does in this process, when, and what it costs. Its subagents write into the same recorder. Cost: about a microsecond a step. */
export class RunRecorder {
  /** In milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly #startedMs = performance.now();
  readonly #deps: RecorderDeps;
  readonly #steps: RunStep[] = [];
  /** Of each subagent until now; null: one of its models has no price. */
  readonly #costs = new Map<string, Cost | null>();

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.startedAtMs = deps.now().getTime();
  }

  /** In the order in which they ended. */
  get steps(): readonly RunStep[] {
    return this.#steps;
  }

  /** Since the run began in this process. */
  get durationMs(): number {
    return Math.round(performance.now() - this.#startedMs);
  }

  modelCall({ modelId, startedMs, firstTokenMs, usage, errorCode, entryId, subagentId }: CallNote): void {
    const cost = usage === undefined ? 0n : computeCost(this.#deps.models.priceOf(modelId), usage);
    if (subagentId !== undefined) this.#addCost(subagentId, cost);
    const { startedAtMs, durationMs } = this.#times(startedMs);
    const step: ModelCallStep = {
      type: 'model_call',
      startedAtMs,
      durationMs,
      modelId,
      firstTokenMs,
      usage: usage ?? null,
      errorCode,
      cost: cost === null ? null : toDecimal(cost),
    };
    if (entryId === undefined && subagentId === undefined) this.#steps.push(step);
    else {
      const place = { ...(entryId === undefined ? {} : { entryId }), ...(subagentId === undefined ? {} : { subagentId }) };
      this.#steps.push({ ...step, ...place });
    }
  }

  /** @param found  undefined: the search failed. @returns its number, for `gotPassages`. */
  retrieval(
    question: string,
    startedMs: number,
    retrievalResult: { readonly passages: readonly Passage[]; readonly retrieval: Retrieval } | undefined,
    subagentId: string | undefined,
  ): number {
    const { passages = [], retrieval } = retrievalResult ?? {};
    this.#steps.push({
      type: 'retrieval',
      ...this.#times(startedMs),
      question,
      mode: retrieval?.mode ?? null,
      reason: retrieval?.reason ?? null,
      passageCount: passages.length,
      passages: passages.map(foundPassage),
      ...(subagentId === undefined ? {} : { subagentId }),
    });
    return this.#steps.length - 1;
  }

  /** How many of the passages of a search the model got: not all of them may have fitted. */
  gotPassages(retrieval: number, passageCount: number): void {
    const step = this.#steps[retrieval];
    if (step?.type === 'retrieval') this.#steps[retrieval] = { ...step, passageCount };
  }

  toolCall(
    { id: itemId, callId, name }: Pick<ServerCallItem, 'id' | 'callId' | 'name'>,
    startedMs: number,
    errorCode: string | null,
    subagentId: string | undefined,
  ): void {
    const outcome = errorCode === null ? 'completed' : 'failed';
    this.#steps.push({
      type: 'tool_call',
      ...this.#times(startedMs),
      ...{ itemId, callId, name, outcome, errorCode },
      ...(subagentId === undefined ? {} : { subagentId }),
    });
  }

  subagent({ id, name, agentId, parentId, depth, status, usage }: EndedSubagent, startedMs: number): void {
    const cost = this.#costOf(id);
    // What a subagent costs is part of the cost of the one that started it.
    if (parentId !== null) this.#addCost(parentId, cost);
    this.#steps.push({
      type: 'subagent',
      ...this.#times(startedMs),
      ...{ id, name, agentId, depth, status, usage, cost: cost === null ? null : toDecimal(cost) },
      ...(parentId === null ? {} : { subagentId: parentId }),
    });
  }

  flowStep({ stepId, type: does, status }: FlowStepRecord, startedMs: number): void {
    this.#steps.push({ type: 'flow', ...this.#times(startedMs), stepId, does, status });
  }

  #costOf(subagentId: string): Cost | null {
    const cost = this.#costs.get(subagentId);
    return cost === undefined ? 0n : cost;
  }

  #addCost(subagentId: string, cost: Cost | null): void {
    this.#costs.set(subagentId, addCost(this.#costOf(subagentId), cost));
  }

  #times(startedMs: number) {
    const now = performance.now();
    // A step that was passed over took no time, and begins when it is noted.
    const began = startedMs === 0 ? now : startedMs;
    return { startedAtMs: this.startedAtMs + Math.round(began - this.#startedMs), durationMs: Math.round(now - began) };
  }
}

function foundPassage({ title, score, chunkId, knowledgeItemId, dataSourceId }: Passage): FoundPassage {
  return { title, score, chunkId, knowledgeItemId, dataSourceId };
}
