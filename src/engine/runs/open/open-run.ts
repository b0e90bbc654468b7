import type { FlowStepRecord } from '../../../entities/agents/flow.ts';
import type { RunEvent, RunItem, RunSnapshot, SpentCall } from '../../../entities/conversations/runs/event.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import { type FinishReason, ModelError, type ModelMessage } from '../../models/port.ts';
import type { Selection } from '../../models/route-stream.ts';
import type { Retrieve, RunPlan } from '../../plan/plan.ts';
import type { RunFiles } from '../../tools/run-files.ts';
import { RunTrace } from '../../tracing/run-trace.ts';
import { RunBudget } from '../../usage/budget.ts';
import { OpenCall } from '../calls/open-call.ts';
import { RunCalls } from '../calls/run-calls.ts';
import { type Opening, RunTools } from '../calls/run-tools.ts';
import { stoppedCall } from '../calls/server-calls.ts';
import { createToolRun } from '../calls/tool-run.ts';
import { isCancel, snapshot, terminalBody, toDomainError, toFailure, toSelectionMetadata } from '../control/ending.ts';
import type { LoopDeps, LoopStart } from '../control/loop-deps.ts';
import { RunStop } from '../control/stop.ts';
import { hasImageReference, imageBytesIn, imagesBytesMax } from '../model/file-images.ts';
import { CitablePassages } from '../output/citable.ts';
import { RunOutput } from '../output/output.ts';
import { RunSpending } from '../output/spending.ts';
import { RunRecorder } from '../record/recorder.ts';
import type { SubagentParent } from '../subagents/parent.ts';
import { subagentsOfRun } from '../subagents/subagents-of-run.ts';

/** `runLoop`, for tools that start subagents; passed in, because the loop imports what works within a run. */
export type RunLoop = SubagentParent['run'];

/** What is known of the answer when a run ends. */
export interface AnswerEnd {
  readonly finish: FinishReason | undefined;
  readonly stopSequence?: string | undefined;
  /** Whether the run wanted more than it may do. */
  readonly isBounded: boolean;
  readonly selection: Selection | undefined;
  /** As the provider reports it. */
  readonly serviceTier: string | undefined;
  /** The finished steps of a flow that readers see. */
  readonly flowSteps?: readonly FlowStepRecord[];
}

const none: readonly never[] = [];

/** A run from its first event to its last: what the plain loop and flows have in common. */
export class OpenRun {
  readonly plan: RunPlan;
  readonly start: LoopStart;
  readonly deps: LoopDeps;
  readonly output: RunOutput;
  readonly budget: RunBudget;
  readonly spending: RunSpending;
  readonly recorder: RunRecorder;
  readonly tools: RunTools;
  readonly calls: RunCalls;
  readonly files: RunFiles;
  /** The passages that the answer may cite, by their numbers. */
  readonly citable: CitablePassages;
  /** The interrupted tool call of a dead process, which this process makes again. */
  readonly callAgain: OpenCall | undefined;
  /** Undefined while tracing is off. */
  readonly trace: RunTrace | undefined;
  /** Says whether events are held back; undefined: nothing holds any. */
  gate: { readonly isHolding: boolean } | undefined;
  readonly #run: RunLoop;
  readonly #warnings: Warning[] = [];
  /** The number of the last search in the recorder. */
  #lastRetrieval = -1;
  #hasYielded: boolean;

  constructor(plan: RunPlan, start: LoopStart, deps: LoopDeps, run: RunLoop) {
    this.plan = plan;
    this.start = start;
    this.deps = deps;
    this.#run = run;
    const { before, continues, firstSequence, isEager, runId, flowSteps = none } = start;
    const isContinued = continues !== undefined || flowSteps.length > 0;
    this.output = new RunOutput(deps.newId, firstSequence, before?.output ?? none, deps.answerCharsMax, isContinued, deps.mask);
    // Old logs have the passages of a flow with its steps only.
    const { cited: citedPassages = flowSteps.flatMap(({ passages = none }) => passages) } = start;
    this.citable = new CitablePassages(citedPassages, plan.generateCitations, this.output, isEager);
    const limits = { roundsMax: deps.roundsMax, toolCallsMax: plan.toolCallsMax, subagentTokensMax: deps.subagents.tokensMax };
    this.budget = start.budget ?? new RunBudget(limits, start.spent, start.roundsLost, undefined, start.allowance);
    const { modelId, isStreaming, charge, head, warnings = [] } = plan;
    this.trace =
      deps.tracing === undefined
        ? undefined
        : new RunTrace(deps.tracing, { runId, modelId, isStreaming, agentId: charge.agentId });
    this.recorder = start.recorder ?? new RunRecorder(deps);
    this.spending = new RunSpending(this);
    this.tools = new RunTools(plan, deps);
    this.files = deps.filesOf(plan);
    this.calls = new RunCalls(this);
    this.callAgain = continues?.call === undefined ? undefined : OpenCall.again(this.output, continues.call, continues.subagents);
    this.#hasYielded = isEager;
    if (firstSequence > 0) return;
    const begunRun = this.#snapshot('in_progress', none);
    const more = { ...(head === undefined ? {} : { head }), ...(warnings.length === 0 ? {} : { warnings }) };
    this.output.emit({ type: 'response.created', run: { ...begunRun, ...more } });
    this.output.emit({ type: 'response.in_progress', run: begunRun });
  }

  /** With the model and the agent where no row tells who answers. */
  #snapshot(status: RunSnapshot['status'], output: readonly RunItem[]): RunSnapshot {
    const { plan, start } = this;
    const run = snapshot(start.runId, status, output);
    return start.isEager ? run : { ...run, modelId: plan.modelId, agentId: plan.charge.agentId };
  }

  /** The events that may leave now. None leaves before the first token or finished step, so that a refusal can still be an error reply. */
  ready(): readonly RunEvent[] | undefined {
    if ((!this.#hasYielded && !this.output.hasItems) || this.gate?.isHolding === true) return undefined;
    const batch = this.output.take();
    if (batch.length === 0) return undefined;
    this.#hasYielded = true;
    return batch;
  }

  /** Opens the tools of the run: their functions, what they add to the instructions, what MCP servers list. */
  openTools(signal: AbortSignal): Promise<Opening> {
    const { plan, start, deps, budget, spending, citable, recorder } = this;
    const recordSpending = (call: SpentCall) => {
      spending.add(call);
      spending.emit();
    };
    const parts = {
      ...{
        plan,
        start,
        deps,
        subagents: subagentsOfRun({ plan, start, deps, budget, recorder, run: this.#run, spent: recordSpending }),
      },
      cite: (passage: Parameters<CitablePassages['cite']>[0][number]) => citable.cite([passage])[0] ?? 0,
      charged: spending.charged.bind(spending),
      files: this.files,
    };
    return this.tools.open(createToolRun(parts, signal));
  }

  /** New messages of the run with the bytes of their images, as far as one request may have them. */
  async withImages(
    addedMessages: readonly ModelMessage[],
    before: readonly ModelMessage[],
    signal: AbortSignal,
  ): Promise<readonly ModelMessage[]> {
    if (!addedMessages.some(hasImageReference)) return addedMessages;
    return this.deps.withImages(addedMessages, this.plan, this.files, imagesBytesMax - imageBytesIn(before), signal);
  }

  /** Searches for passages. Each search is recorded, and is a span while tracing is on. */
  async search(...[plan, signal]: Parameters<Retrieve>): ReturnType<Retrieve> {
    const { deps, trace } = this;
    const search = () => deps.retrieve(plan, signal);
    const startedMs = performance.now();
    let searchResult: Awaited<ReturnType<Retrieve>> | undefined;
    try {
      searchResult = await (trace === undefined ? search() : trace.retrieval(plan.dataSourceIds, search));
      return searchResult;
    } finally {
      this.#lastRetrieval = this.recorder.retrieval(plan.question, startedMs, searchResult, this.start.subagent?.id);
    }
  }

  /** Notes how many passages of the last search the model got. */
  gotPassages(count: number): void {
    this.recorder.gotPassages(this.#lastRetrieval, count);
  }

  /**
   * The reason for the terminal event.
   *
   * @param isTold  whether readers get it as an event even when it is the first.
   * @throws DomainError instead, while no event has left.
   */
  failureOf(error: unknown, signal: AbortSignal, isTold = false): unknown {
    const { control, runId } = this.start;
    const { mask, logger } = this.deps;
    const failure = toFailure(error, signal, control?.pause);
    if (!this.#hasYielded && !isCancel(failure) && !isTold) {
      this.trace?.fail(failure);
      const shownError = toDomainError(failure);
      throw mask?.error(shownError) ?? shownError;
    }
    const isExpected = failure instanceof ModelError || failure instanceof DomainError || failure instanceof RunStop;
    if (!isExpected) logger.error({ err: mask?.error(failure) ?? failure, runId }, 'a run failed');
    return failure;
  }

  /** Notes what of the requests to models has no effect; each is told once. */
  warn(warnings: readonly Warning[]): void {
    for (const warning of warnings) {
      if (!this.#warnings.some(({ message }) => message === warning.message)) this.#warnings.push(warning);
    }
  }

  /** Closes what is open and returns the last events, with the terminal event at the end. */
  end(failure: unknown, { finish, stopSequence, isBounded, selection, flowSteps = [], ...last }: AnswerEnd): readonly RunEvent[] {
    const { output, spending, deps } = this;
    const { runId, before } = this.start;
    output.close('incomplete');
    this.callAgain?.close({ output: '', error: stoppedCall });
    const isSilent = failure === undefined && finish === 'stop' && !isBounded && !output.hasAnswer;
    if (isSilent) output.sayNothing();
    if (output.isFull) deps.logger.warn({ runId }, 'an answer was longer than ANSWER_MAX_CHARS and was cut');
    const serviceTier = last.serviceTier ?? before?.serviceTier;
    const warnings = [...this.tools.endWarnings, ...this.#warnings];
    const base = {
      ...this.#snapshot('completed', output.items),
      usage: spending.total,
      selection: toSelectionMetadata(selection) ?? before?.selection ?? null,
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(serviceTier === undefined ? {} : { serviceTier }),
      ...(flowSteps.length === 0 ? {} : { flowSteps }),
      ...(stopSequence === undefined ? {} : { stopSequence }),
    };
    const body = terminalBody(base, failure, finish, isBounded);
    const completion = body.type === 'response.completed' ? { completedAtMs: deps.now().getTime() } : {};
    const pausedSpending = body.run.incompleteReason === 'paused' ? { spent: spending.spent } : {};
    output.emit({ ...body, run: { ...body.run, ...completion, ...pausedSpending, ...this.#record } });
    const events = output.take();
    this.trace?.close(events);
    return events;
  }

  /** Another keeps the record of a subagent and of a stateless run. */
  get #record(): Pick<RunSnapshot, 'record'> {
    if (this.start.recorder !== undefined) return {};
    const { startedAtMs, steps } = this.recorder;
    return { record: { startedAtMs, workedMs: this.spending.spent.workedMs, steps } };
  }
}
