import type { Passage } from '../../entities/citation.ts';
import { DomainError } from '../../entities/errors.ts';
import type { RunEvent } from '../../entities/run-event.ts';
import { ModelError, type ModelMessage, type ModelRequest } from '../models/port.ts';
import type { Selection } from '../models/router.ts';
import type { ServerTools } from '../tools/server-tool.ts';
import { type AnswerGate, gateOf } from './answer-gate.ts';
import { passagesWithin, withPassages } from './context.ts';
import type { RunControl } from './control.ts';
import { domainErrorOf, failureOf, isCancel, selectionOf, snapshot, terminalBody } from './ending.ts';
import { asStored, historyOf, textOf } from './history.ts';
import type { LoopDeps, LoopStart } from './loop-deps.ts';
import { CitationMarkers } from './markers.ts';
import { ModelCall } from './model-call.ts';
import { RunOutput } from './output.ts';
import type { RunPlan } from './run-engine.ts';
import { RunTools } from './run-tools.ts';
import { runServerCalls, skippedCalls } from './server-calls.ts';
import { RunStop } from './stop.ts';
import type { SubagentParent } from './subagents/parent.ts';
import { createResearchTool } from './subagents/research-tool.ts';
import { needOf, within } from './token-need.ts';
import { choiceFor, isCall } from './tool-choice.ts';
import { contextOf } from './transcript.ts';
import { Spending } from './usage-sum.ts';

/**
 * The one loop of every run: passages → model → tools → model …, as numbered events in batches, one batch for each upstream read, with
 * exactly one terminal event at the end.
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
  /** Calls of tools that run here, also those of subagents. */
  private toolCalls = 0;
  private readonly tools: RunTools;
  private readonly gate: AnswerGate | undefined;

  constructor(plan: RunPlan, start: LoopStart, deps: LoopDeps) {
    this.plan = plan;
    this.start = start;
    this.deps = deps;
    this.output = new RunOutput(deps.newId, start.firstSequence, start.before?.output ?? [], deps.answerCharsMax);
    this.spending = new Spending(start.before?.usage ?? null);
    this.serviceTier = start.before?.serviceTier;
    this.hasCalled = start.before?.output.some(isCall) === true;
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
      let messages = plan.messages;
      if (plan.knowledge !== undefined && plan.knowledge.question !== '') {
        messages = withPassages(messages, await this.passages(signal), plan.generateCitations);
        const batch = this.ready();
        if (batch !== undefined) yield batch;
      }
      for (let round = 1; ; round += 1) {
        const itemsBefore = output.items.length;
        this.tellSpending();
        if (control?.hasNews === true) messages = [...messages, ...(await this.takeSteers(control))];
        const request = this.request(messages, round);
        const asked = deps.limits.reserve(plan.charge.orgId, 'api', () => needOf(request));
        // Nothing waits where there is no limit.
        const hold = asked instanceof Promise ? await asked : asked;
        const call = new ModelCall(within(request, hold.outputMax));
        this.lastCall = call;
        this.gate?.open(call);
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
        const awaitsClient = output.items.slice(itemsBefore).some((item) => item.type === 'function_call');
        if (call.serverCalls.size > 0) {
          const said = textOf(output.items.slice(itemsBefore));
          const mayStart = () => {
            control?.pause.throwIfAborted();
            if (this.toolCallsLeft <= 0) return skippedCalls.limit;
            if (control?.hasNews === true) return skippedCalls.steered;
            this.toolCalls += 1;
            return undefined;
          };
          const { secrets } = start;
          const context = { output, said, tools: this.tools.all, secrets, logger: deps.logger, mayStart };
          const answered: ModelMessage[] = [];
          for await (const answers of runServerCalls(call, context, signal)) {
            answered.push(...answers);
            this.tellSpending();
            const batch = this.ready();
            if (batch !== undefined) yield batch;
          }
          control?.pause.throwIfAborted();
          // The client answers its own calls first; the outputs of ours are in the run's items.
          if (!awaitsClient) {
            messages = [...messages, ...answered];
            continue;
          }
        }
        if (control === undefined || round >= deps.roundsMax || (await control.mayEnd())) break;
        // Somebody said something in the last moment: one more turn, with calls that wait for the client closed.
        messages = [...messages, ...contextOf(output.items.slice(itemsBefore))];
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

  private get toolCallsLeft(): number {
    return (this.plan.toolCallsMax ?? Number.POSITIVE_INFINITY) - this.toolCalls;
  }

  /** Those that work with the run itself. */
  private toolsOfRun(): ServerTools {
    const { plan, deps, start } = this;
    if (plan.serverTools?.includes('deep_research') !== true) return new Map();
    const parent: SubagentParent = {
      plan,
      deps,
      runId: start.runId,
      pause: start.control?.pause,
      run: runLoop,
      spent: (call) => {
        this.spending.add(call);
        this.tellSpending();
      },
      toolCallsLeft: () => (plan.toolCallsMax === undefined ? undefined : this.toolCallsLeft),
      toolCalled: () => {
        this.toolCalls += 1;
      },
      stopsShort: () =>
        start.control?.pause.aborted === true
          ? stopsShort.paused
          : start.control?.hasNews === true
            ? stopsShort.steered
            : undefined,
    };
    return new Map([['deep_research', createResearchTool(parent, deps.subagents)]]);
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
    if (output.isFull) this.deps.logger.warn({ runId: start.runId }, 'an answer was longer than ANSWER_MAX_CHARS and was cut');
    const base = {
      ...snapshot(start.runId, 'completed', output.items),
      usage: this.spending.total,
      selection: selectionOf(this.selection) ?? start.before?.selection ?? null,
      ...(this.serviceTier === undefined ? {} : { serviceTier: this.serviceTier }),
    };
    const body = terminalBody(base, failure, this.lastCall?.finish);
    output.emit(
      body.type === 'response.completed' ? { ...body, run: { ...body.run, completedAtMs: this.deps.now().getTime() } } : body,
    );
    return output.take();
  }

  /** An error degrades the answer, never fails the run. */
  private async passages(signal: AbortSignal): Promise<readonly Passage[]> {
    const { knowledge, generateCitations, messages, inputTokensMax } = this.plan;
    if (knowledge === undefined) return [];
    try {
      const found = await this.deps.retrieve(knowledge, signal);
      const passages = inputTokensMax === undefined ? found : passagesWithin(found, messages, inputTokensMax);
      if (passages.length > 0) this.output.watchMarkers(() => new CitationMarkers(passages, generateCitations));
      const titles = [...new Set(passages.map((passage) => passage.title))];
      this.step('retrieve', { passages: passages.length, titles });
      return passages;
    } catch (error) {
      signal.throwIfAborted();
      this.deps.logger.error({ err: error, runId: this.start.runId }, 'retrieval failed; the run goes on without passages');
      this.step('retrieve', { passages: 0, isUnavailable: true });
      return [];
    }
  }

  private step(name: string, detail: Readonly<Record<string, unknown>>): void {
    if (this.plan.hidesSteps !== true) this.output.emit({ type: 'parley.step', name, detail });
  }

  private request(messages: readonly ModelMessage[], round: number): ModelRequest {
    const { plan, tools } = this;
    // The last round must answer: no tool may be called any more.
    const isLast = round >= this.deps.roundsMax || this.toolCallsLeft <= 0;
    const offered = tools.definitions();
    const toolChoice = isLast && tools.all.size > 0 ? 'none' : choiceFor(plan.toolChoice, this.hasCalled, offered);
    return {
      model: plan.modelId,
      messages,
      tools: offered,
      parameters: plan.parameters,
      isStreaming: plan.isStreaming,
      ...(toolChoice === undefined ? {} : { toolChoice }),
      ...(plan.parallelToolCalls === undefined ? {} : { parallelToolCalls: plan.parallelToolCalls }),
      ...(plan.responseFormat === undefined ? {} : { responseFormat: plan.responseFormat }),
    };
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
    const news = this.output.hasItems ? this.spending.news() : undefined;
    if (news !== undefined) this.output.emit(news);
  }
}

/** Why a call that was begun does not begin all of its work. */
const stopsShort = { paused: 'the answer was paused', steered: 'the user said something else in the meantime' } as const;
