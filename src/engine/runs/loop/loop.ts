import { DomainError } from '../../../entities/errors.ts';
import type { RetrievalRecord, RunEvent, SpentCall } from '../../../entities/runs/event.ts';
import { ModelError, type ModelMessage } from '../../models/port.ts';
import { withInstructions, withPassages } from '../../models/prompts/passages.ts';
import type { Selection } from '../../models/route-stream.ts';
import { isCall } from '../../plan/choice.ts';
import type { Approvals, RunPlan } from '../../plan/plan.ts';
import type { Subagents } from '../../tools/subagents.ts';
import { type ModelCallTrace, RunTrace } from '../../tracing/run-trace.ts';
import { RunBudget } from '../../usage/budget.ts';
import type { TokenHold } from '../../usage/limits.ts';
import type { AllowanceHold } from '../../usage/token-allowance.ts';
import { needOf, within } from '../../usage/token-need.ts';
import { least, leavesAnother, reserved, shareOf } from '../../usage/token-share.ts';
import { approvedCalls, withResults } from '../calls/approvals.ts';
import { OpenCall } from '../calls/open-call.ts';
import { RunCalls } from '../calls/run-calls.ts';
import { RunTools } from '../calls/run-tools.ts';
import { stoppedCall } from '../calls/server-calls.ts';
import { toolRunOf } from '../calls/tool-run.ts';
import type { RunControl } from '../control/control.ts';
import { domainErrorOf, failureOf, isCancel, selectionOf, snapshot, terminalBody } from '../control/ending.ts';
import { type LoopDeps, type LoopStart, withMask } from '../control/loop-deps.ts';
import { RunStop } from '../control/stop.ts';
import { asStored, historyOf, textOf } from '../events/history.ts';
import { contextOf } from '../events/transcript.ts';
import { runFlow } from '../flow/flow-run.ts';
import { type AnswerGate, gateOf } from '../model/gate.ts';
import { bookCall, ModelCall } from '../model/model-call.ts';
import { requestOf } from '../model/model-request.ts';
import { findPassages, retrievalOf } from '../model/passages.ts';
import { CitablePassages } from '../output/citable.ts';
import { RunOutput } from '../output/output.ts';
import { RunSpending } from '../output/spending.ts';
import { subagentsOfRun } from '../subagents/subagents-of-run.ts';

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
  const masked = withMask(deps, start.secrets);
  if (plan.flow !== undefined) return runFlow(plan, plan.flow, start, masked, signal, runLoop);
  return new Run(plan, start, masked).events(signal);
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
  readonly #plan: RunPlan;
  readonly #start: LoopStart;
  readonly #deps: LoopDeps;
  readonly #output: RunOutput;
  readonly #budget: RunBudget;
  readonly #spending: RunSpending;
  readonly #tools: RunTools;
  readonly #subagents: () => Subagents;
  readonly #retrievals: RetrievalRecord[] = [];
  /** The passages that the answer may cite, by their numbers. */
  readonly #citable: CitablePassages;
  readonly #calls: RunCalls;
  readonly #gate: AnswerGate | undefined;
  /** The interrupted tool call of a dead process, which this process makes again. */
  readonly #callAgain: OpenCall | undefined;
  /** The messages of the next model request. */
  #messages: readonly ModelMessage[];
  #selection: Selection | undefined;
  #serviceTier: string | undefined;
  #lastCall: ModelCall | undefined;
  #hasYielded: boolean;
  /** Whether the model has called any tool: a forced call is satisfied then. */
  #hasCalled: boolean;
  /** Index of the first output item of the current turn. */
  #turnFrom: number;
  /** Whether the turn has called tools that the client answers. */
  #awaitsClient = false;
  /** Whether the model asked for more than the run may do. */
  #isBounded = false;
  /** Undefined while tracing is off. */
  #trace: RunTrace | undefined;
  /** Whether the run ends after this round, even if a user adds a message. */
  #isOver = false;

  constructor(plan: RunPlan, start: LoopStart, deps: LoopDeps) {
    const { before, continues, firstSequence } = start;
    this.#plan = plan;
    this.#start = start;
    this.#deps = deps;
    const isContinued = continues !== undefined;
    this.#output = new RunOutput(deps.newId, firstSequence, before?.output ?? [], deps.answerCharsMax, isContinued, deps.mask);
    const { tokensMax: subagentTokensMax } = deps.subagents;
    const { cited: known = [], isEager: isLogged } = start;
    this.#citable = new CitablePassages({ known, isCiting: plan.generateCitations, output: this.#output, isLogged });
    const limits = { roundsMax: deps.roundsMax, toolCallsMax: plan.toolCallsMax, subagentTokensMax };
    this.#budget = start.budget ?? new RunBudget(limits, start.spent, start.roundsLost);
    const parts = { plan, start, deps, budget: this.#budget, output: this.#output };
    this.#spending = new RunSpending(parts);
    const spent = (call: SpentCall) => {
      this.#spending.add(call);
      this.#spending.emit();
    };
    const { tracing } = deps;
    if (tracing !== undefined) {
      const { modelId, isStreaming, charge } = plan;
      this.#trace = new RunTrace(tracing, { runId: start.runId, modelId, isStreaming, agentId: charge.agentId });
    }
    this.#tools = new RunTools(plan, deps);
    this.#subagents = () => subagentsOfRun({ ...parts, run: runLoop, spent });
    this.#calls = new RunCalls({
      ...parts,
      spending: this.#spending,
      tools: this.#tools,
      trace: this.#trace,
      ready: () => this.#ready(),
    });
    this.#gate = gateOf(plan, this.#output);
    this.#callAgain =
      continues?.call === undefined ? undefined : OpenCall.again(this.#output, continues.call, continues.subagents);
    this.#messages = plan.messages;
    this.#serviceTier = before?.serviceTier;
    this.#hasYielded = start.isEager;
    this.#hasCalled = before?.output.some(isCall) === true;
    this.#turnFrom = continues?.turnFrom ?? 0;
    if (plan.forgetsText === true && !this.#tools.mustOpen) this.#output.forgetText();
    if (firstSequence > 0) return;
    const run = snapshot(start.runId, 'in_progress', []);
    const { head, warnings = [] } = plan;
    const told = { ...(head === undefined ? {} : { head }), ...(warnings.length === 0 ? {} : { warnings }) };
    this.#output.emit({ type: 'response.created', run: { ...run, ...told } });
    this.#output.emit({ type: 'response.in_progress', run });
  }

  /**
   * This one generator holds the innermost loop: a further generator between the model and the reader costs a microsecond for each read of a
   * stream. The steps around the loop are methods, and those that wait are called only where there is something to wait for.
   */
  async *events(signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    const output = this.#output;
    const { isEager, control } = this.#start;
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
            this.#spending.emit();
            if (control?.hasInput === true) this.#add(await this.#takeSteers(control));
            const opened = this.#openRound();
            const round = opened instanceof Promise ? await opened : opened;
            const { call } = round;
            try {
              for await (const deltas of call.start(this.#deps.models, modelSignal, round.trace?.traceparent)) {
                call.take(deltas, output, this.#tools.all, this.#tools.only);
                const batch = this.#ready();
                if (batch !== undefined) yield batch;
                if (output.isFull) break;
              }
              call.requireFinish();
            } catch (error) {
              round.trace?.fail(error);
              throw error;
            } finally {
              this.#endCall(round, modelSignal.aborted);
            }
            const next = this.#closeAnswer(call);
            asksModel = next === 'calls' ? yield* this.#makeCalls(round, signal) : next === 'again';
          }
        } while (control !== undefined && (await this.#beginTurn(control)));
      } catch (error) {
        failure = this.#failureOf(error, signal);
      }
      yield this.#end(failure);
    } finally {
      this.#trace?.end();
    }
  }

  get #needsPreparation(): boolean {
    return this.#tools.mustOpen || this.#plan.knowledge !== undefined || this.#start.continues !== undefined;
  }

  /** Before the first round: loads the agent's tools, makes an interrupted tool call again, finds the passages. */
  async *#prepare(signal: AbortSignal): AsyncGenerator<readonly RunEvent[], void> {
    const plan = this.#plan;
    const { continues, runId } = this.#start;
    if (this.#tools.mustOpen) yield* this.#openTools(signal);
    const answers = this.#callAgain === undefined ? [] : yield* this.#calls.again(this.#callAgain, signal);
    if (continues !== undefined) this.#awaitsClient = this.#hasClientCalls();
    if (!this.#awaitsClient && plan.knowledge !== undefined && plan.knowledge.question !== '') {
      const passages = await findPassages(plan, this.#searching(), this.#citable, this.#output, runId, signal);
      this.#messages = withPassages(this.#messages, passages, plan.generateCitations);
      const batch = this.#ready();
      if (batch !== undefined) yield batch;
    }
    this.#add(answers);
    if (plan.approvals !== undefined && continues === undefined) yield* this.#makeApproved(plan.approvals, signal);
  }

  /** Makes the calls that a person approved, and puts their results where the conversation waits for them. */
  async *#makeApproved(approvals: Approvals, signal: AbortSignal): AsyncGenerator<readonly RunEvent[], void> {
    const results = yield* this.#calls.makeApproved(approvedCalls(this.#messages, approvals), signal);
    this.#messages = withResults(this.#messages, approvals, results);
    this.#awaitsClient = false;
  }

  /** Opens the tools of the run: their functions, what they add to the instructions, what MCP servers list. */
  async *#openTools(signal: AbortSignal): AsyncGenerator<readonly RunEvent[], void> {
    const run = toolRunOf(
      {
        ...{ plan: this.#plan, start: this.#start, deps: this.#deps, subagents: this.#subagents() },
        charged: (modelId, need, call) => this.#spending.charged(modelId, need, call),
        cite: (passage) => this.#citable.cite([passage])[0] ?? 0,
      },
      signal,
    );
    const { instructions, listings } = await this.#tools.open(run);
    if (instructions.length > 0) this.#messages = withInstructions(this.#messages, instructions.join('\n\n'));
    // A process that takes the run over finds them in the log.
    if (this.#start.before?.output.some(({ type }) => type === 'mcp_list_tools') === true) return;
    for (const listing of listings) this.#output.list(listing);
    const batch = this.#ready();
    if (batch !== undefined) yield batch;
  }

  /** What `findPassages` works with: each search is noted for the trace, and is a span while tracing is on. */
  #searching(): Pick<LoopDeps, 'retrieve' | 'logger'> {
    const trace = this.#trace;
    const { retrieve, logger } = this.#deps;
    return {
      logger,
      retrieve: async (plan, signal) => {
        const search = () => retrieve(plan, signal);
        const found = await (trace === undefined ? search() : trace.retrieval(plan.dataSourceIds, search));
        this.#retrievals.push(retrievalOf(plan.question, found));
        return found;
      },
    };
  }

  /** Whether the run may ask the model once more. If not, its model wanted more than the run may do. */
  #hasRound(): boolean {
    const isLeft = this.#budget.roundsLeft > 0;
    this.#isBounded ||= !isLeft;
    return isLeft;
  }

  /** @returns a promise only when the organization has a token limit. @throws DomainError INSUFFICIENT_QUOTA, thrown or rejected. */
  #openRound(): Round | Promise<Round> {
    const plan = this.#plan;
    const budget = this.#budget;
    this.#turnFrom = this.#output.items.length;
    budget.beginRound();
    const hasCalled = this.#hasCalled;
    const requestFor = (isLast: boolean) => requestOf(plan, this.#tools, this.#messages, { mustAnswer: isLast, hasCalled });
    const asked = requestFor(budget.mustAnswer);
    const mustAnswer = budget.mustAnswer || !leavesAnother(asked, budget.tokens);
    const request = mustAnswer && !budget.mustAnswer ? requestFor(true) : asked;
    const share = shareOf(request, budget.tokens);
    const open = (hold: TokenHold): Round => {
      const call = new ModelCall(within(request, least(hold.outputMax, share?.outputMax)), plan.toolChoice !== 'none');
      this.#lastCall = call;
      this.#gate?.open(call, budget.roundsLeft > 0);
      return { call, hold, share, mustAnswer, startedMs: performance.now(), trace: this.#trace?.modelCall(request.model) };
    };
    const hold = reserved(() => this.#deps.limits.reserve(plan.charge.orgId, 'api', () => needOf(request)), share);
    if (!(hold instanceof Promise)) return open(hold);
    return hold.then(open, (error: unknown) => {
      share?.release(0);
      throw error;
    });
  }

  /** Books a model call, whether it succeeded or failed. */
  #endCall({ call, share, ...books }: Round, wasCut: boolean): void {
    this.#selection = call.selection;
    this.#hasCalled ||= call.hasCalled;
    this.#serviceTier = call.serviceTier ?? this.#serviceTier;
    const used = call.usage(wasCut);
    // First, because the log says with the charge what subagents have used.
    share?.release(used === undefined ? 0 : used.inputTokens + used.outputTokens);
    bookCall(call, wasCut, { ...books, spending: this.#spending, timings: this.#deps.timings });
  }

  /** Checks the model's answer. @returns what comes next: its tool calls, the same question again, or the end of the turn. */
  #closeAnswer(call: ModelCall): 'calls' | 'again' | 'end' {
    const output = this.#output;
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
    const said = textOf(this.#citable.asWritten(this.#output.items.slice(this.#turnFrom)));
    const answers = yield* this.#calls.make(call.wholeCalls, said, mustAnswer, signal);
    this.#awaitsClient = this.#hasClientCalls();
    // The client answers its own calls first; the results of the service's calls are in the run's items.
    if (this.#awaitsClient) return false;
    this.#add(answers);
    this.#isBounded = mustAnswer;
    this.#isOver = mustAnswer;
    return !mustAnswer;
  }

  /**
   * @returns whether a user added a message during the turn, so that a further turn answers it. Open calls for the client then count as unanswered.
   */
  async #beginTurn(control: RunControl): Promise<boolean> {
    if (this.#isOver || this.#budget.roundsLeft <= 0 || (await control.mayEnd())) return false;
    this.#add(contextOf(this.#citable.asWritten(this.#output.items.slice(this.#turnFrom))));
    this.#awaitsClient = false;
    this.#isBounded = false;
    return true;
  }

  #add(messages: readonly ModelMessage[]): void {
    this.#messages = [...this.#messages, ...messages];
  }

  async #takeSteers(control: RunControl): Promise<readonly ModelMessage[]> {
    const taken = await control.take();
    // One event for each time: a process that takes the run over counts them to know what was taken.
    for (const messages of taken) this.#output.emit({ type: 'parley.input', messages });
    return historyOf(taken.flat().map(asStored), undefined);
  }

  #hasClientCalls(): boolean {
    return this.#output.items.slice(this.#turnFrom).some((item) => item.type === 'function_call');
  }

  /** The events that may leave now. None leaves before the first token, so that a refusal can still be an error reply. */
  #ready(): readonly RunEvent[] | undefined {
    if ((!this.#hasYielded && !this.#output.hasItems) || this.#gate?.isHolding === true) return undefined;
    const batch = this.#output.take();
    if (batch.length === 0) return undefined;
    this.#hasYielded = true;
    return batch;
  }

  /** The reason for the terminal event. @throws DomainError instead, while no event has left. */
  #failureOf(error: unknown, signal: AbortSignal): unknown {
    const { control, runId } = this.#start;
    const failure = failureOf(error, signal, control?.pause);
    if (!this.#hasYielded && !isCancel(failure) && this.#gate?.hasRefused !== true) {
      this.#trace?.fail(failure);
      const shown = domainErrorOf(failure);
      throw this.#deps.mask?.error(shown) ?? shown;
    }
    const isExpected = failure instanceof ModelError || failure instanceof DomainError || failure instanceof RunStop;
    if (!isExpected) this.#deps.logger.error({ err: this.#deps.mask?.error(failure) ?? failure, runId }, 'a run failed');
    return failure;
  }

  /** Closes what is open and returns the last events, with the terminal event at the end. */
  #end(failure: unknown): readonly RunEvent[] {
    const output = this.#output;
    const { runId, before } = this.#start;
    output.close('incomplete');
    this.#callAgain?.close({ output: '', error: stoppedCall });
    if (output.isFull) this.#deps.logger.warn({ runId }, 'an answer was longer than ANSWER_MAX_CHARS and was cut');
    const base = {
      ...snapshot(runId, 'completed', output.items),
      usage: this.#spending.total,
      selection: selectionOf(this.#selection) ?? before?.selection ?? null,
      ...this.#tools.told,
      ...(this.#serviceTier === undefined ? {} : { serviceTier: this.#serviceTier }),
    };
    const body = terminalBody(base, failure, this.#lastCall?.finish, this.#isBounded);
    const completed = body.type === 'response.completed' ? { completedAtMs: this.#deps.now().getTime() } : {};
    const paused = body.run.incompleteReason === 'paused' ? { spent: this.#spending.spent } : {};
    const { calls } = this.#spending;
    const record = this.#start.isEager ? { record: { calls, retrievals: this.#retrievals } } : {};
    output.emit({ ...body, run: { ...body.run, ...completed, ...paused, ...record } });
    const last = output.take();
    this.#trace?.close(last);
    return last;
  }
}
