import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import type { ModelMessage } from '../../models/port.ts';
import { endingWithPassages, withInstructions } from '../../models/prompts/passages.ts';
import { isCall } from '../../plan/choice.ts';
import type { Approvals, RunPlan } from '../../plan/plan.ts';
import type { RunGuard } from '../../tools/secrets/guards/session.ts';
import type { ModelCallTrace } from '../../tracing/run-trace.ts';
import type { TokenHold } from '../../usage/limits.ts';
import { type AllowanceHold, least, leavesAnother, reserveBeside, takeShare } from '../../usage/token-allowance.ts';
import { estimateNeed, meteredCall, within } from '../../usage/token-need.ts';
import { approvedCalls, withResults } from '../calls/approvals.ts';
import type { RunControl } from '../control/control.ts';
import type { LoopDeps, LoopStart } from '../control/loop-deps.ts';
import { asStored, buildHistory } from '../events/history.ts';
import { saidIn, toContext } from '../events/transcript.ts';
import { runFlow } from '../flow/flow-run.ts';
import { type AnswerGate, createGate } from '../model/gate.ts';
import { withGuard, withMask } from '../model/masked-deps.ts';
import { bookCall, ModelCall } from '../model/model-call.ts';
import { makeRequest } from '../model/model-request.ts';
import { findPassages } from '../model/passages.ts';
import { OpenRun } from '../open/open-run.ts';

/**
 * The one loop of every run: passages → model → tools → model …, as numbered events in batches, one batch for each upstream read, with
 * exactly one terminal event at the end. It asks the model at most `roundsMax` times. In the last round the model may call no tool; a call
 * nevertheless ends the run as `incomplete`, reason `max_tool_calls`. A plan with a flow is answered by its steps instead.
 *
 * @throws DomainError before the first batch when `isEager` is false and the model refused.
 */
export function runLoop(
  plan: RunPlan,
  start: LoopStart,
  deps: LoopDeps,
  signal: AbortSignal,
): AsyncGenerator<readonly RunEvent[]> {
  const guard = deps.guards?.find(plan.charge);
  return guard instanceof Promise ? guardedEvents(guard, plan, start, deps, signal) : beginRun(guard, plan, start, deps, signal);
}

function beginRun(
  guard: RunGuard | undefined,
  plan: RunPlan,
  start: LoopStart,
  deps: LoopDeps,
  signal: AbortSignal,
): AsyncGenerator<readonly RunEvent[]> {
  const guardedDeps = guard === undefined ? deps : withGuard(deps, guard, plan.charge);
  const run = new OpenRun(plan, start, withMask(guardedDeps, start.secrets), runLoop);
  return plan.flow === undefined ? new Run(run).events(signal) : runFlow(run, plan.flow, signal);
}

/** Only where it is not known in memory whether there is a guard: a further generator costs time for each read of a stream. */
async function* guardedEvents(
  guard: Promise<RunGuard | undefined>,
  plan: RunPlan,
  start: LoopStart,
  deps: LoopDeps,
  signal: AbortSignal,
): AsyncGenerator<readonly RunEvent[]> {
  yield* beginRun(await guard, plan, start, deps, signal);
}

/** One model call, with the tool calls it asks for. */
interface Round {
  readonly call: ModelCall;
  /** Tokens held of the organization's limit until the call is over. */
  readonly hold: TokenHold;
  /** The same of what subagents may use together; undefined: the run is no subagent. */
  readonly share: AllowanceHold | undefined;
  /** The last round: the model may call no tool. */
  readonly mustAnswer: boolean;
  readonly startedMs: number;
  /** Undefined while tracing is off. */
  readonly trace: ModelCallTrace | undefined;
}

class Run {
  readonly #run: OpenRun;
  readonly #gate: AnswerGate | undefined;
  /** The messages of the next model request. */
  #messages: readonly ModelMessage[];
  /** What stands behind them. */
  #ending: string | undefined;
  #lastCall: ModelCall | undefined;
  #serviceTier: string | undefined;
  /** Whether the model has called any tool: a forced call is satisfied then. */
  #hasCalled: boolean;
  /** Index of the first output item of the current turn. */
  #turnFrom: number;
  /** Whether the turn has called tools that the client answers. */
  #awaitsClient = false;
  /** Whether the model asked for more than the run may do. */
  #isBounded = false;
  /** Whether the run ends after this round, even if a user adds a message. */
  #isOver = false;

  constructor(run: OpenRun) {
    const { plan, start, output, tools } = run;
    this.#run = run;
    this.#gate = createGate(plan, output);
    run.gate = this.#gate;
    this.#messages = plan.messages;
    this.#ending = plan.ending;
    this.#hasCalled = start.before?.output.some(isCall) === true;
    this.#turnFrom = start.continues?.turnFrom ?? 0;
    if (plan.forgetsText === true && !tools.mustOpen) output.forgetText();
  }

  /**
   * This one generator holds the innermost loop: a further generator between the model and the reader costs a microsecond for each read of a
   * stream. The steps around the loop are methods, and those that wait are called only where there is something to wait for.
   */
  async *events(signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    const run = this.#run;
    const { output, tools, deps, spending } = run;
    const { isEager, control } = run.start;
    const modelSignal = control === undefined ? signal : AbortSignal.any([signal, control.pause]);
    let failure: unknown;
    try {
      if (isEager) yield output.take();
      try {
        modelSignal.throwIfAborted();
        if (this.#needsPreparation) yield* this.#prepare(signal);
        do {
          let asksModel = !this.#awaitsClient;
          while (asksModel && this.#hasRound()) {
            spending.emit();
            if (control?.hasInput === true) this.#add(await this.#takeSteers(control, signal));
            const openedRound = this.#openRound();
            const round = openedRound instanceof Promise ? await openedRound : openedRound;
            const { call } = round;
            try {
              for await (const deltas of call.start(deps.models, modelSignal, round.trace?.traceparent)) {
                call.take(deltas, output, tools.all, tools.only);
                const batch = run.ready();
                if (batch !== undefined) yield batch;
                if (output.isFull) break;
              }
              call.requireFinish();
            } catch (error) {
              call.fail(error);
              round.trace?.fail(error);
              throw error;
            } finally {
              this.#endCall(round, modelSignal.aborted);
            }
            const next = this.#closeAnswer(call);
            asksModel = next === 'calls' ? yield* this.#makeCalls(round, signal) : next === 'again';
          }
        } while (control !== undefined && (await this.#beginTurn(control, signal)));
      } catch (error) {
        failure = run.failureOf(error, signal, this.#gate?.hasRefused);
      }
      const { finish, selection, stopSequence } = this.#lastCall ?? {};
      yield run.end(failure, { finish, stopSequence, selection, isBounded: this.#isBounded, serviceTier: this.#serviceTier });
    } finally {
      run.trace?.end();
    }
  }

  get #needsPreparation(): boolean {
    const { plan, start, tools, deps } = this.#run;
    const { continues } = start;
    return tools.mustOpen || plan.knowledge !== undefined || continues !== undefined || deps.maskPersonal !== undefined;
  }

  /** Before the first round: asks the model of the guard, loads the agent's tools, makes an interrupted tool call again, finds the passages. */
  async *#prepare(signal: AbortSignal): AsyncGenerator<readonly RunEvent[], void> {
    const run = this.#run;
    const { plan, calls, callAgain, citable, output } = run;
    const { continues, runId } = run.start;
    await run.deps.maskPersonal?.(plan.messages, plan.charge, signal);
    if (run.tools.mustOpen) yield* this.#openTools(signal);
    const answers = callAgain === undefined ? [] : yield* calls.again(callAgain, signal);
    if (continues !== undefined) this.#awaitsClient = this.#hasClientCalls();
    if (!this.#awaitsClient && plan.knowledge !== undefined && plan.knowledge.question !== '') {
      const searching = { logger: run.deps.logger, retrieve: run.search.bind(run) };
      const passages = await findPassages(plan, searching, citable, output, runId, signal);
      run.gotPassages(passages.length);
      this.#ending = endingWithPassages(plan.ending, passages, plan.generateCitations);
      const batch = run.ready();
      if (batch !== undefined) yield batch;
    }
    this.#add(await run.withImages(answers, this.#messages, signal));
    if (plan.approvals !== undefined && continues === undefined) yield* this.#makeApproved(plan.approvals, signal);
  }

  /** Makes the calls that a person approved, and puts their results where the conversation waits for them. */
  async *#makeApproved(approvals: Approvals, signal: AbortSignal): AsyncGenerator<readonly RunEvent[], void> {
    const results = yield* this.#run.calls.makeApproved(approvedCalls(this.#messages, approvals), signal);
    this.#messages = withResults(this.#messages, approvals, results);
    const images = results.filter(({ role }) => role === 'user');
    this.#add(await this.#run.withImages(images, this.#messages, signal));
    this.#awaitsClient = false;
  }

  async *#openTools(signal: AbortSignal): AsyncGenerator<readonly RunEvent[], void> {
    const run = this.#run;
    const { instructions, listings } = await run.openTools(signal);
    if (instructions.length > 0) this.#messages = withInstructions(this.#messages, instructions.join('\n\n'));
    // A process that takes the run over finds them in the log.
    if (run.start.before?.output.some(({ type }) => type === 'mcp_list_tools') === true) return;
    for (const listing of listings) run.output.list(listing);
    const batch = run.ready();
    if (batch !== undefined) yield batch;
  }

  /** Whether the run may ask the model once more. If not, its model wanted more than the run may do. */
  #hasRound(): boolean {
    const isLeft = this.#run.budget.roundsLeft > 0;
    this.#isBounded ||= !isLeft;
    return isLeft;
  }

  /** @returns a promise only when the organization has a token limit. @throws DomainError INSUFFICIENT_QUOTA, thrown or rejected. */
  #openRound(): Round | Promise<Round> {
    const { plan, start, budget, tools, deps, trace, output } = this.#run;
    this.#turnFrom = output.items.length;
    budget.beginRound();
    const hasCalled = this.#hasCalled;
    const requestFor = (isLast: boolean) =>
      makeRequest(plan, tools, this.#messages, this.#ending, { mustAnswer: isLast, hasCalled });
    const modelRequest = requestFor(budget.mustAnswer);
    const mustAnswer = budget.mustAnswer || !leavesAnother(modelRequest, budget.tokens);
    const request = mustAnswer && !budget.mustAnswer ? requestFor(true) : modelRequest;
    const share = takeShare(request, budget.tokens);
    const open = (hold: TokenHold): Round => {
      const answer = `${start.runId}:${this.#turnFrom}`;
      const call = new ModelCall(within(request, least(hold.outputMax, share?.outputMax)), plan.toolChoice !== 'none', answer);
      this.#lastCall = call;
      this.#gate?.open(call, budget.roundsLeft > 0);
      return { call, hold, share, mustAnswer, startedMs: performance.now(), trace: trace?.modelCall(request.model) };
    };
    const hold = reserveBeside(() => deps.limits.reserve(meteredCall(plan.charge, request), () => estimateNeed(request)), share);
    if (!(hold instanceof Promise)) return open(hold);
    return hold.then(open, (error: unknown) => {
      share?.release(0);
      throw error;
    });
  }

  /** Books a model call, whether it succeeded or failed. */
  #endCall({ call, share, ...books }: Round, wasCut: boolean): void {
    this.#hasCalled ||= call.hasCalled;
    this.#serviceTier = call.serviceTier ?? this.#serviceTier;
    const tokenUsage = call.usage(wasCut);
    // First, because the log says with the charge what subagents have used.
    share?.release(tokenUsage === undefined ? 0 : tokenUsage.inputTokens + tokenUsage.outputTokens);
    const { spending, deps } = this.#run;
    this.#run.warn(call.warnings);
    bookCall(call, wasCut, { ...books, spending, timings: deps.timings });
  }

  /** Checks the model's answer. @returns what comes next: its tool calls, the same question again, or the end of the turn. */
  #closeAnswer(call: ModelCall): 'calls' | 'again' | 'end' {
    const { output } = this.#run;
    const again = this.#gate?.close(call);
    if (again !== undefined) {
      this.#add(again);
      return 'again';
    }
    output.close(call.finish === 'length' || call.finish === 'content_filter' ? 'incomplete' : 'completed');
    this.#isOver = output.isFull;
    if (output.isFull) return 'end';
    this.#awaitsClient = this.#hasClientCalls();
    if (call.serverCalls.size > 0) return 'calls';
    this.#isBounded ||= call.hasCalledInVain && output.items.length === this.#turnFrom;
    return 'end';
  }

  /** Makes the calls that the answer asks for. @returns whether the model is asked again in this turn. */
  async *#makeCalls({ call, mustAnswer }: Round, signal: AbortSignal): AsyncGenerator<readonly RunEvent[], boolean> {
    const { citable, output, calls } = this.#run;
    const priorMessages = saidIn(citable.asWritten(output.items.slice(this.#turnFrom)));
    const answers = yield* calls.make(call.wholeCalls, priorMessages, mustAnswer, signal);
    this.#awaitsClient = this.#hasClientCalls();
    // The client answers its own calls first; the results of the service's calls are in the run's items.
    if (this.#awaitsClient) return false;
    this.#add(await this.#run.withImages(answers, this.#messages, signal));
    this.#isBounded = mustAnswer;
    this.#isOver = mustAnswer;
    return !mustAnswer;
  }

  /**
   * @returns whether a user added a message during the turn, so that a further turn answers it. Open calls for the client then count as unanswered.
   */
  async #beginTurn(control: RunControl, signal: AbortSignal): Promise<boolean> {
    const { budget, citable, output } = this.#run;
    if (this.#isOver || budget.roundsLeft <= 0 || (await control.mayEnd())) return false;
    const priorMessages = toContext(citable.asWritten(output.items.slice(this.#turnFrom)));
    this.#add(await this.#run.withImages(priorMessages, this.#messages, signal));
    this.#awaitsClient = false;
    this.#isBounded = false;
    return true;
  }

  #add(messages: readonly ModelMessage[]): void {
    this.#messages = [...this.#messages, ...messages];
  }

  async #takeSteers(control: RunControl, signal: AbortSignal): Promise<readonly ModelMessage[]> {
    const takenSteers = await control.take();
    // One event for each time: a process that takes the run over counts them to know what was taken.
    for (const messages of takenSteers) this.#run.output.emit({ type: 'parley.input', messages });
    const { deps, plan } = this.#run;
    const addedMessages = buildHistory(takenSteers.flat().map(asStored), undefined);
    await deps.maskPersonal?.(addedMessages, plan.charge, signal);
    return this.#run.withImages(addedMessages, this.#messages, signal);
  }

  #hasClientCalls(): boolean {
    return this.#run.output.items.slice(this.#turnFrom).some((item) => item.type === 'function_call');
  }
}
