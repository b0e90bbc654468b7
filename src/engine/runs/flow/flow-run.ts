import {
  type FlowPlan,
  type FlowStep,
  type FlowStepRecord,
  type FlowStepResult,
  stepTextBytesMax,
} from '../../../entities/agents/flow.ts';
import { DomainError } from '../../../entities/errors.ts';
import type { FlowStepEvent, RetrievalRecord, RunEvent, SpentCall } from '../../../entities/runs/event.ts';
import { cutBytes } from '../../../lib/text.ts';
import { ModelError } from '../../models/port.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { Subagents } from '../../tools/subagents.ts';
import { RunTrace } from '../../tracing/run-trace.ts';
import { RunBudget } from '../../usage/budget.ts';
import { OpenCall } from '../calls/open-call.ts';
import { RunCalls } from '../calls/run-calls.ts';
import { RunTools } from '../calls/run-tools.ts';
import { toolRunOf } from '../calls/tool-run.ts';
import { domainErrorOf, failureOf, isCancel, snapshot } from '../control/ending.ts';
import type { LoopDeps, LoopStart } from '../control/loop-deps.ts';
import { RunStop } from '../control/stop.ts';
import { CitablePassages } from '../output/citable.ts';
import { RunOutput } from '../output/output.ts';
import { RunSpending } from '../output/spending.ts';
import type { SubagentParent } from '../subagents/parent.ts';
import { subagentsOfRun } from '../subagents/subagents-of-run.ts';
import { FlowEnding } from './ending.ts';
import { FlowModel } from './flow-model.ts';
import { isAnswering } from './route.ts';
import { type DoneStep, FlowSteps, type StepParts } from './steps.ts';
import { FlowValues } from './values.ts';

/** `runLoop`, for tools that start subagents; passed in, because the loop imports flows. */
type RunLoop = SubagentParent['run'];

/**
 * Answers a turn with the steps of a flow, as the same numbered events as the plain loop. Each finished step is an event: a run that is
 * taken over, or goes on after a pause, continues behind its last finished step. A flow pauses between two steps.
 *
 * @throws DomainError before the first batch when `isEager` is false and the first step failed.
 */
export function runFlow(
  plan: RunPlan,
  flow: FlowPlan,
  start: LoopStart,
  deps: LoopDeps,
  signal: AbortSignal,
  run: RunLoop,
): AsyncGenerator<readonly RunEvent[]> {
  return new FlowRun(plan, flow, start, deps, run).events(signal);
}

class FlowRun {
  readonly #plan: RunPlan;
  readonly #flow: FlowPlan;
  readonly #start: LoopStart;
  readonly #deps: LoopDeps;
  readonly #output: RunOutput;
  readonly #tools: RunTools;
  readonly #subagents: () => Subagents;
  readonly #spending: RunSpending;
  readonly #values: FlowValues;
  readonly #model: FlowModel;
  readonly #steps: FlowSteps;
  readonly #ending: FlowEnding;
  readonly #citable: CitablePassages;
  /** The finished steps that readers see. */
  readonly #shown: FlowStepRecord[] = [];
  readonly #done = new Map<number, FlowStepResult>();
  #hasYielded: boolean;
  /** The steps before this place are finished, or passed over by a branch. */
  #next = 0;
  #answer: FlowStepResult | undefined;
  #isBounded = false;
  /** Undefined while tracing is off. */
  #trace: RunTrace | undefined;

  constructor(plan: RunPlan, flow: FlowPlan, start: LoopStart, deps: LoopDeps, run: RunLoop) {
    const { before, continues, firstSequence, flowSteps = [] } = start;
    this.#plan = plan;
    this.#flow = flow;
    this.#start = start;
    this.#deps = deps;
    const isContinued = flowSteps.length > 0;
    this.#output = new RunOutput(deps.newId, firstSequence, before?.output ?? [], deps.answerCharsMax, isContinued, deps.mask);
    const restored = start.cited ?? [];
    // Old logs have passages with their steps only.
    const known = restored.length > 0 ? restored : flowSteps.flatMap(({ passages = [] }) => passages);
    this.#citable = new CitablePassages({
      ...{ known, isCiting: plan.generateCitations, output: this.#output, isLogged: start.isEager },
    });
    this.#citable.watch();
    const { tokensMax: subagentTokensMax } = deps.subagents;
    const limits = { roundsMax: deps.roundsMax, toolCallsMax: plan.toolCallsMax, subagentTokensMax };
    const budget = start.budget ?? new RunBudget(limits, start.spent, start.roundsLost);
    const shared = { plan, start, deps, budget, output: this.#output };
    const spending = new RunSpending(shared);
    this.#spending = spending;
    const spent = (call: SpentCall) => {
      spending.add(call);
      spending.emit();
    };
    const { tracing } = deps;
    if (tracing !== undefined) {
      const { modelId, isStreaming, charge } = plan;
      this.#trace = new RunTrace(tracing, { runId: start.runId, modelId, isStreaming, agentId: charge.agentId });
    }
    this.#tools = new RunTools(plan, deps);
    this.#subagents = () => subagentsOfRun({ ...shared, run, spent });
    this.#values = new FlowValues(flow, deps.answerCharsMax);
    const ready = () => this.#ready();
    const parts = { ...shared, spending, tools: this.#tools, trace: this.#trace, ready };
    this.#model = new FlowModel(parts);
    const callAgain =
      continues?.call === undefined ? undefined : OpenCall.again(this.#output, continues.call, continues.subagents);
    const retrievals: RetrievalRecord[] = [];
    const stepParts: StepParts = {
      ...{ plan, flow, start, deps, budget, output: this.#output, trace: this.#trace, tools: this.#tools },
      ...{ values: this.#values, model: this.#model, calls: new RunCalls(parts), citable: this.#citable, callAgain, retrievals },
    };
    this.#steps = new FlowSteps(stepParts);
    this.#ending = new FlowEnding({
      ...{ ...shared, spending, model: this.#model, tools: this.#tools },
      ...{ callAgain, trace: this.#trace, retrievals },
    });
    this.#hasYielded = start.isEager;
    for (const event of flowSteps) this.#restore(event);
    if (firstSequence > 0) return;
    const begun = snapshot(start.runId, 'in_progress', []);
    const { head, warnings = [] } = plan;
    const told = { ...(head === undefined ? {} : { head }), ...(warnings.length === 0 ? {} : { warnings }) };
    this.#output.emit({ type: 'response.created', run: { ...begun, ...told } });
    this.#output.emit({ type: 'response.in_progress', run: begun });
  }

  /** Takes in a step of an earlier process. A model step that failed is not done. */
  #restore({ step, result, isHidden }: FlowStepEvent): void {
    if (step.status === 'failed' && step.type === 'model') return;
    if (isHidden !== true) this.#shown.push(step);
    if (step.status === 'skipped') this.#done.set(result.place, result);
    else this.#remember(result);
  }

  async *events(signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    let failure: unknown;
    try {
      if (this.#start.isEager) yield this.#output.take();
      try {
        signal.throwIfAborted();
        if (this.#tools.mustOpen) await this.#openTools(signal);
        for (const [place, step] of this.#flow.steps.entries()) {
          if (this.#done.has(place)) continue;
          signal.throwIfAborted();
          this.#start.control?.pause.throwIfAborted();
          yield* this.#take(step, place, signal);
          const batch = this.#ready();
          if (batch !== undefined) yield batch;
          if (this.#isBounded) break;
        }
        if (!this.#isBounded) this.#say();
      } catch (error) {
        failure = this.#failureOf(error, signal);
      }
      yield this.#ending.close(failure, this.#isBounded, this.#shown);
    } finally {
      this.#trace?.end();
    }
  }

  async #openTools(signal: AbortSignal): Promise<void> {
    const run = toolRunOf(
      {
        ...{ plan: this.#plan, start: this.#start, deps: this.#deps, subagents: this.#subagents() },
        cite: (passage) => this.#citable.cite([passage])[0] ?? 0,
        charged: (modelId, need, call) => this.#spending.charged(modelId, need, call),
      },
      signal,
    );
    await this.#tools.open(run);
  }

  /** Works on one step and records it. */
  async *#take(step: FlowStep, place: number, signal: AbortSignal): AsyncGenerator<readonly RunEvent[], void> {
    if (place < this.#next) {
      this.#record(step, place, { status: 'skipped', input: '', text: '' }, 0);
      return;
    }
    const startedMs = performance.now();
    let done: DoneStep | undefined;
    try {
      done = yield* this.#steps.run(step, place, signal);
    } catch (error) {
      if (!signal.aborted && (error instanceof ModelError || error instanceof DomainError)) {
        this.#record(step, place, { status: 'failed', input: '', text: error.message }, startedMs);
      }
      throw error;
    }
    if (done === undefined) this.#isBounded = true;
    else this.#record(step, place, done, startedMs);
    this.#model.tellSpending();
  }

  #record({ id, type }: FlowStep, place: number, done: DoneStep, startedMs: number): void {
    const { status, input, marked, next, passages = [], isSaid } = done;
    const mask = (plain: string) => this.#deps.mask?.text(plain) ?? plain;
    const text = mask(done.text);
    const result: FlowStepResult = {
      place,
      text,
      ...(marked === undefined || marked === done.text ? {} : { marked: mask(marked) }),
      ...(next === undefined ? {} : { next }),
      ...(isSaid === true ? { isSaid } : {}),
    };
    const step: FlowStepRecord = {
      ...{ stepId: id === '' ? `step_${place + 1}` : id, type, status },
      input: cutBytes(mask(input), stepTextBytesMax),
      output: cutBytes(text, stepTextBytesMax),
      durationMs: startedMs === 0 ? 0 : Math.round(performance.now() - startedMs),
    };
    const isHidden = this.#plan.hidesSteps === true;
    this.#output.note({
      ...{ type: 'parley.flow.step', step, result },
      ...(passages.length === 0 ? {} : { passages }),
      ...(isHidden ? { isHidden } : {}),
    });
    if (!isHidden) this.#shown.push(step);
    if (status === 'skipped') this.#done.set(place, result);
    else this.#remember(result);
  }

  #remember(result: FlowStepResult): void {
    const { place, next } = result;
    this.#done.set(place, result);
    this.#values.add(result);
    if (next !== undefined) this.#next = next;
    const step = this.#flow.steps[place];
    if (step !== undefined && isAnswering(step)) this.#answer = result;
  }

  /** Says the output of the last step that answers, unless it was streamed. @throws DomainError FLOW_FAILED when there is none. */
  #say(): void {
    const answer = this.#answer;
    if (answer === undefined) {
      throw new DomainError(
        'FLOW_FAILED',
        'The flow came to its end without an answer: no step of the type model or prompt was taken',
      );
    }
    if (answer.isSaid !== true && answer.text !== '') this.#output.text(JSON.stringify(answer.text));
    this.#output.close('completed');
  }

  /** The events that may leave now. None leaves before the first finished step, so that a refusal can still be an error reply. */
  #ready(): readonly RunEvent[] | undefined {
    if ((!this.#hasYielded && !this.#output.hasItems) || this.#model.isHolding) return undefined;
    const batch = this.#output.take();
    if (batch.length === 0) return undefined;
    this.#hasYielded = true;
    return batch;
  }

  /** The reason for the terminal event. @throws DomainError instead, while no event has left. */
  #failureOf(error: unknown, signal: AbortSignal): unknown {
    const { control, runId } = this.#start;
    const failure = failureOf(error, signal, control?.pause);
    if (!this.#hasYielded && !isCancel(failure)) {
      this.#trace?.fail(failure);
      const shown = domainErrorOf(failure);
      throw this.#deps.mask?.error(shown) ?? shown;
    }
    const isExpected = failure instanceof ModelError || failure instanceof DomainError || failure instanceof RunStop;
    if (!isExpected) this.#deps.logger.error({ err: this.#deps.mask?.error(failure) ?? failure, runId }, 'a flow failed');
    return failure;
  }
}
