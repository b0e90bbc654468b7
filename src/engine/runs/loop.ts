import { DomainError } from '../../entities/errors.ts';
import type { RunEvent, RunSpent, SpentCall } from '../../entities/runs/event.ts';
import { ModelError, type ModelMessage } from '../models/port.ts';
import type { Selection } from '../models/route-stream.ts';
import type { ServerTools } from '../tools/server-tool.ts';
import { type AnswerGate, gateOf } from './answer/gate.ts';
import { RunOutput } from './answer/output.ts';
import { RunBudget } from './budget.ts';
import type { RunControl } from './control.ts';
import { domainErrorOf, failureOf, isCancel, selectionOf, snapshot, terminalBody } from './ending.ts';
import { soleHold } from './hold.ts';
import type { LoopDeps, LoopStart } from './loop-deps.ts';
import { ModelCall } from './model-call.ts';
import { withPassages } from './prompt/context.ts';
import { asStored, historyOf, textOf } from './prompt/history.ts';
import { requestOf } from './prompt/model-request.ts';
import { findPassages } from './prompt/passages.ts';
import { contextOf } from './prompt/transcript.ts';
import type { RunPlan } from './run-engine.ts';
import { RunStop } from './stop.ts';
import { toolsOfRun } from './subagents/tools-of-run.ts';
import { isCall } from './tools/choice.ts';
import { OpenCall } from './tools/open-call.ts';
import { RunTools } from './tools/run-tools.ts';
import { answerCall, runServerCalls, type ServerCallContext, skippedCalls, stoppedCall } from './tools/server-calls.ts';
import { unknownOutcome, unknownOutcomeOf } from './tools/unknown-outcome.ts';
import { Spending } from './usage/sum.ts';
import { needOf, within } from './usage/token-need.ts';

/**
 * The one loop of every run: passages → model → tools → model …, as numbered events in batches, one batch for each upstream read, with
 * exactly one terminal event at the end. It asks the model at most `roundsMax` times, whatever the model answers: in its last turn no tool may be
 * called, and a call that comes nevertheless ends the run as `incomplete`, reason `max_tool_calls`.
 *
 * @throws DomainError before the first batch when `isEager` is false and the model refused.
 */
export function runLoop(
  plan: RunPlan,
  start: LoopStart,
  deps: LoopDeps,
  signal: AbortSignal,
): AsyncGenerator<readonly RunEvent[]> {
  return new Run(plan, start, deps).events(signal);
}

class Run {
  readonly output: RunOutput;
  private readonly plan: RunPlan;
  private readonly start: LoopStart;
  private readonly deps: LoopDeps;
  private readonly spending: Spending;
  private selection: Selection | undefined;
  private serviceTier: string | undefined;
  private lastCall: ModelCall | undefined;
  private hasYielded = false;
  /** Whether the model has called any tool: what forces a call is satisfied then. */
  private hasCalled: boolean;
  private readonly tools: RunTools;
  private readonly gate: AnswerGate | undefined;
  private readonly budget: RunBudget;
  private readonly begunAtMs: number;
  /** The call of a dead process that this one makes again. */
  private readonly callAgain: OpenCall | undefined;
  /** The model asked for more than the run may do. */
  private isBounded = false;

  constructor(plan: RunPlan, start: LoopStart, deps: LoopDeps) {
    this.plan = plan;
    this.start = start;
    this.deps = deps;
    const { before, continues } = start;
    this.output = new RunOutput(
      deps.newId,
      start.firstSequence,
      before?.output ?? [],
      deps.answerCharsMax,
      continues !== undefined,
    );
    this.spending = new Spending(before?.usage ?? null);
    this.serviceTier = before?.serviceTier;
    this.hasCalled = before?.output.some(isCall) === true;
    const limits = { roundsMax: deps.roundsMax, toolCallsMax: plan.toolCallsMax };
    this.budget = start.budget ?? new RunBudget(limits, start.spent, start.roundsLost);
    this.begunAtMs = deps.now().getTime();
    this.callAgain = continues?.call === undefined ? undefined : OpenCall.again(this.output, continues.call);
    this.tools = new RunTools(plan, deps, () => this.toolsOfRun());
    this.gate = gateOf(plan, this.output);
    const runsTools = plan.offersAgentTools === true || (plan.serverTools?.length ?? 0) > 0;
    if (plan.forgetsText === true && !runsTools) this.output.forgetText();
    if (start.firstSequence > 0) return;
    const run = snapshot(start.runId, 'in_progress', []);
    this.output.emit({ type: 'response.created', run: plan.head === undefined ? run : { ...run, head: plan.head } });
    this.output.emit({ type: 'response.in_progress', run });
  }

  /** One generator for the whole way: each one more in between costs every read of a stream a microsecond. */
  async *events(signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    const { plan, start, output, deps } = this;
    this.hasYielded = start.isEager;
    if (start.isEager) yield output.take();
    const { control } = start;
    const modelSignal = control === undefined ? signal : AbortSignal.any([signal, control.pause]);
    let failure: unknown;
    try {
      modelSignal.throwIfAborted();
      if (plan.offersAgentTools === true) await this.tools.takeAgentTools();
      let awaitsClient = false;
      let answered: readonly ModelMessage[] = [];
      if (start.continues !== undefined) {
        if (this.callAgain !== undefined) answered = yield* this.answerAgain(this.callAgain, signal);
        awaitsClient = this.awaitsClient(start.continues.turnFrom);
      }
      let messages = plan.messages;
      if (!awaitsClient && plan.knowledge !== undefined && plan.knowledge.question !== '') {
        messages = withPassages(messages, await findPassages(plan, deps, output, start.runId, signal), plan.generateCitations);
        const batch = this.ready();
        if (batch !== undefined) yield batch;
      }
      messages = [...messages, ...answered];
      for (;;) {
        let itemsBefore = start.continues?.turnFrom ?? 0;
        if (!awaitsClient) {
          if (this.budget.roundsLeft <= 0) {
            this.isBounded = true;
            break;
          }
          itemsBefore = output.items.length;
          this.tellSpending();
          if (control?.hasNews === true) messages = [...messages, ...(await this.takeSteers(control))];
          this.budget.beginRound();
          const { mustAnswer } = this.budget;
          const request = requestOf(plan, this.tools, messages, { mustAnswer, hasCalled: this.hasCalled });
          const asked = deps.limits.reserve(plan.charge.orgId, 'api', () => needOf(request));
          // Nothing waits where there is no limit.
          const hold = asked instanceof Promise ? await asked : asked;
          const call = new ModelCall(within(request, hold.outputMax), plan.toolChoice !== 'none');
          this.lastCall = call;
          this.gate?.open(call, this.budget.roundsLeft > 0);
          try {
            for await (const deltas of call.start(deps.models, modelSignal)) {
              call.take(deltas, output, this.tools.all, plan.onlyTools);
              const batch = this.ready();
              if (batch !== undefined) yield batch;
              if (output.isFull) break;
            }
            call.requireFinish();
          } finally {
            this.selection = call.selection;
            this.hasCalled ||= call.hasCalled;
            this.serviceTier = call.serviceTier ?? this.serviceTier;
            this.charge(call, modelSignal.aborted);
            hold.release();
          }
          const again = this.gate?.close(call);
          if (again !== undefined) {
            messages = [...messages, ...again];
            continue;
          }
          output.close(call.finish === 'length' || call.finish === 'content_filter' ? 'incomplete' : 'completed');
          if (output.isFull) break;
          awaitsClient = this.awaitsClient(itemsBefore);
          const calls = call.wholeCalls;
          if (calls.length > 0) {
            const said = textOf(output.items.slice(itemsBefore));
            const context = this.callContext(said, mustAnswer);
            const answers = yield* this.answer(runServerCalls(calls, context, signal));
            control?.pause.throwIfAborted();
            // The client answers its own calls first; the outputs of ours are in the run's items.
            if (!awaitsClient) {
              messages = [...messages, ...answers];
              this.isBounded = mustAnswer;
              if (mustAnswer) break;
              continue;
            }
          } else if (call.hasCalledInVain && output.items.length === itemsBefore) this.isBounded = true;
        }
        if (control === undefined || this.budget.roundsLeft <= 0 || (await control.mayEnd())) break;
        // Somebody said something in the last moment: one more turn, with calls that wait for the client closed.
        messages = [...messages, ...contextOf(output.items.slice(itemsBefore))];
        awaitsClient = false;
        this.isBounded = false;
      }
    } catch (error) {
      failure = failureOf(error, signal, control?.pause);
      if (!this.hasYielded && !isCancel(failure) && this.gate?.hasRefused !== true) throw domainErrorOf(failure);
      if (!(failure instanceof ModelError || failure instanceof DomainError || failure instanceof RunStop)) {
        deps.logger.error({ err: failure, runId: start.runId }, 'a run failed');
      }
    }
    yield this.end(failure);
  }

  private async takeSteers(control: RunControl): Promise<readonly ModelMessage[]> {
    const taken = await control.take();
    // An event for each: their number tells whoever takes the run over what was taken.
    for (const messages of taken) this.output.emit({ type: 'parley.input', messages });
    return historyOf(taken.flat().map(asStored), undefined);
  }

  private awaitsClient(from: number): boolean {
    return this.output.items.slice(from).some((item) => item.type === 'function_call');
  }

  /** Makes the call of a dead process again, unless its tool was changed to one that must not be called twice. */
  private async *answerAgain(call: OpenCall, signal: AbortSignal): AsyncGenerator<readonly RunEvent[], readonly ModelMessage[]> {
    const { callId, name, arguments: args } = call.item;
    if (this.tools.all.get(name)?.ifLost === 'unknown') {
      call.close({ text: '', error: unknownOutcome });
      throw unknownOutcomeOf(name);
    }
    const answered = yield* this.answer(answerCall(call, args, this.callContext(null, false), signal));
    this.start.control?.pause.throwIfAborted();
    return [{ role: 'assistant', content: null, toolCalls: [{ id: callId, name, arguments: args }] }, ...answered];
  }

  /** Hands on the events of calls. @returns what the model is told of them. */
  private async *answer(
    calls: AsyncIterable<readonly ModelMessage[]>,
  ): AsyncGenerator<readonly RunEvent[], readonly ModelMessage[]> {
    const answered: ModelMessage[] = [];
    for await (const answers of calls) {
      answered.push(...answers);
      this.tellSpending();
      const batch = this.ready();
      if (batch !== undefined) yield batch;
    }
    return answered;
  }

  /** @param isLast  whether the model had to answer, and calls nevertheless. */
  private callContext(said: string | null, isLast: boolean): ServerCallContext {
    const { start, output, deps, budget } = this;
    const { control, secrets, hold = soleHold, keyPrefix = start.runId } = start;
    const mayStart = () => {
      control?.pause.throwIfAborted();
      if (isLast) return skippedCalls.limit;
      if (control?.hasNews === true) return skippedCalls.steered;
      return budget.takeCall() ? undefined : skippedCalls.limit;
    };
    return { output, said, tools: this.tools.all, secrets, logger: deps.logger, hold, keyPrefix, mayStart };
  }

  private toolsOfRun(): ServerTools {
    const { plan, deps, start, budget } = this;
    const spent = (call: SpentCall) => {
      this.spending.add(call);
      this.tellSpending();
    };
    return toolsOfRun({ plan, deps, start, budget, run: runLoop, spent });
  }

  /** The events that may leave now: none before the model's first word, so that a refusal can still be an error. */
  private ready(): readonly RunEvent[] | undefined {
    if ((!this.hasYielded && !this.output.hasItems) || this.gate?.isHolding === true) return undefined;
    const batch = this.output.take();
    if (batch.length === 0) return undefined;
    this.hasYielded = true;
    return batch;
  }

  /** The terminal event, with the closing of whatever is open before it. */
  end(failure: unknown): readonly RunEvent[] {
    const { output, start } = this;
    output.close('incomplete');
    this.callAgain?.close({ text: '', error: stoppedCall });
    if (output.isFull) this.deps.logger.warn({ runId: start.runId }, 'an answer was longer than ANSWER_MAX_CHARS and was cut');
    const base = {
      ...snapshot(start.runId, 'completed', output.items),
      usage: this.spending.total,
      selection: selectionOf(this.selection) ?? start.before?.selection ?? null,
      ...(this.serviceTier === undefined ? {} : { serviceTier: this.serviceTier }),
    };
    const body = terminalBody(base, failure, this.lastCall?.finish, this.isBounded);
    const completed = body.type === 'response.completed' ? { completedAtMs: this.deps.now().getTime() } : {};
    const paused = body.run.incompleteReason === 'paused' ? { spent: this.spent() } : {};
    output.emit({ ...body, run: { ...body.run, ...completed, ...paused } });
    return output.take();
  }

  private spent(): RunSpent {
    const { start, deps, budget, begunAtMs } = this;
    return { ...budget.spent, workedMs: (start.spent?.workedMs ?? 0) + deps.now().getTime() - begunAtMs };
  }

  private charge(call: ModelCall, wasCut: boolean): void {
    const usage = call.usage(wasCut);
    if (usage === undefined) return;
    const { plan, deps, spending } = this;
    const modelId = call.answeringModel ?? plan.modelId;
    if (!this.start.isEager) {
      spending.addUntold(usage);
      deps.ledger.note(plan.charge, 'run', modelId, usage);
      return;
    }
    const entryId = deps.newId('usageEntry');
    spending.add({ entryId, modelId, usage });
    deps.ledger.note(plan.charge, 'run', modelId, usage, entryId);
  }

  /** Before what may take long, once something stands in the output that keeps others from beginning the run again. */
  private tellSpending(): void {
    const news = this.output.hasItems ? this.spending.news(() => this.spent()) : undefined;
    if (news !== undefined) this.output.emit(news);
  }
}
