import type { Logger } from 'pino';
import type { Passage } from '../../entities/citation.ts';
import { DomainError } from '../../entities/errors.ts';
import type { IdKind } from '../../entities/ids.ts';
import type {
  RunError,
  RunEvent,
  RunEventBody,
  RunItem,
  RunSnapshot,
  SelectionMetadata,
  Usage,
} from '../../entities/run-event.ts';
import { ModelError, type ModelMessage, type ModelRequest, type ModelTool, type TokenUsage } from '../models/port.ts';
import type { ModelRouter, Selection } from '../models/router.ts';
import type { AgentTools } from '../tools/agent-tools.ts';
import type { ServerTools } from '../tools/server-tool.ts';
import { passagesWithin, withPassages } from './context.ts';
import type { RunControl } from './control.ts';
import { historyOf } from './history.ts';
import type { UsageLedger } from './ledger.ts';
import { CitationMarkers } from './markers.ts';
import { ModelCall } from './model-call.ts';
import { RunOutput } from './output.ts';
import type { Retrieve, RunPlan } from './run-engine.ts';
import { runServerCalls } from './server-calls.ts';
import { RunStop } from './stop.ts';
import { needOf, within } from './token-need.ts';
import { contextOf } from './transcript.ts';
import type { UsageLimits } from './usage-limits.ts';

export interface LoopDeps {
  readonly models: ModelRouter;
  readonly retrieve: Retrieve;
  readonly ledger: UsageLedger;
  readonly limits: Pick<UsageLimits, 'reserve'>;
  readonly tools: ServerTools;
  /** The tools of agents, for runs that offer them. */
  readonly agentTools?: AgentTools;
  /** Model calls in one run at most. */
  readonly roundsMax: number;
  readonly logger: Logger;
  now(): Date;
  newId(kind: IdKind): string;
}

export interface LoopStart {
  readonly runId: string;
  /** 0, or behind the log of a run that is taken over. */
  readonly firstSequence: number;
  /**
   * True: the run says at once that it began, and every failure ends it with `response.failed`. False: nothing is yielded before the
   * model's first token, and a failure until then is thrown.
   */
  readonly isEager: boolean;
  readonly secrets: Readonly<Record<string, string>>;
  /** A run that goes on after a pause: what it came to before. */
  readonly before?: RunSnapshot;
  /** What may reach the run while it works; absent: nothing but its signal. */
  readonly control?: RunControl;
}

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
  private usage: Usage | null = null;
  private selection: Selection | undefined;
  private lastCall: ModelCall | undefined;
  private hasYielded = false;
  private ownTools: ServerTools | undefined;

  constructor(plan: RunPlan, start: LoopStart, deps: LoopDeps) {
    this.plan = plan;
    this.start = start;
    this.deps = deps;
    this.output = new RunOutput(deps.newId, start.firstSequence, start.before?.output);
    this.usage = start.before?.usage ?? null;
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
    let toolCalls = 0;
    let failure: unknown;
    try {
      modelSignal.throwIfAborted();
      if (plan.offersAgentTools === true) await this.takeAgentTools();
      let messages = plan.messages;
      if (plan.knowledge !== undefined) {
        messages = withPassages(messages, await this.passages(signal), plan.generateCitations);
        const batch = this.ready();
        if (batch !== undefined) yield batch;
      }
      for (let round = 1; ; round += 1) {
        const itemsBefore = output.items.length;
        if (control?.hasNews === true) messages = [...messages, ...(await this.takeSteers(control))];
        const request = this.request(messages, round, toolCalls);
        const asked = deps.limits.reserve(plan.charge.orgId, 'api', () => needOf(request));
        // Nothing waits where there is no limit.
        const hold = asked instanceof Promise ? await asked : asked;
        const call = new ModelCall(within(request, hold.outputMax));
        this.lastCall = call;
        try {
          for await (const deltas of call.start(deps.models, modelSignal)) {
            call.take(deltas, output, this.tools, plan.onlyTools);
            const batch = this.ready();
            if (batch !== undefined) yield batch;
          }
          call.requireFinish();
        } finally {
          this.selection = call.selection;
          this.charge(call, modelSignal.aborted);
          hold.release();
        }
        output.close(call.finish === 'length' || call.finish === 'content_filter' ? 'incomplete' : 'completed');
        const awaitsClient = output.items.slice(itemsBefore).some((item) => item.type === 'function_call');
        if (call.serverCalls.size > 0) {
          const said = textOf(output.items.slice(itemsBefore));
          const mayStart = () => {
            control?.pause.throwIfAborted();
            if (toolCalls >= (plan.toolCallsMax ?? Number.POSITIVE_INFINITY)) return skipped.limit;
            if (control?.hasNews === true) return skipped.steered;
            toolCalls += 1;
            return undefined;
          };
          const { secrets } = start;
          const context = { output, said, tools: this.tools, secrets, logger: deps.logger, mayStart };
          const answered: ModelMessage[] = [];
          for await (const answers of runServerCalls(call, context, signal)) {
            answered.push(...answers);
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
      failure = modelSignal.aborted ? modelSignal.reason : error;
      if (!this.hasYielded && !isCancel(failure)) throw domainErrorOf(failure);
      if (!(failure instanceof ModelError || failure instanceof DomainError || failure instanceof RunStop)) {
        deps.logger.error({ err: failure, runId: start.runId }, 'a run failed');
      }
    }
    yield this.end(failure);
  }

  private async takeSteers(control: RunControl): Promise<readonly ModelMessage[]> {
    const taken = await control.take();
    if (taken.length === 0) return [];
    this.output.emit({ type: 'parley.input', messages: taken });
    return historyOf(
      taken.map((message) => ({ ...message, chatId: '', ordinal: 0, updatedAt: message.createdAt })),
      undefined,
    );
  }

  /** Those of the service, and of the agent, that this run may call. */
  private get tools(): ServerTools {
    if (this.ownTools !== undefined) return this.ownTools;
    const { serverTools } = this.plan;
    if (serverTools === undefined || serverTools.length === 0) return noTools;
    this.ownTools = this.serverTools();
    return this.ownTools;
  }

  private serverTools(): ServerTools {
    const names = this.plan.serverTools ?? [];
    return new Map([...this.deps.tools].filter(([name]) => names.includes(name)));
  }

  /** A function of the caller, and a tool of the service, come before a tool of the agent that has got the same name since. */
  private async takeAgentTools(): Promise<void> {
    const { agentId } = this.plan.charge;
    if (agentId === null || this.deps.agentTools === undefined) return;
    const names = new Set(this.plan.tools.map(({ name }) => name));
    const agentTools = [...(await this.deps.agentTools(agentId))].filter(([name]) => !names.has(name));
    this.ownTools = new Map([...agentTools, ...this.serverTools()]);
  }

  /** The events that may leave now: none before the model's first word, so that a refusal can still be an error. */
  private ready(): readonly RunEvent[] | undefined {
    if (!this.hasYielded && !this.output.hasItems) return undefined;
    const batch = this.output.take();
    if (batch.length === 0) return undefined;
    this.hasYielded = true;
    return batch;
  }

  /** The terminal event, with the closing of whatever is open before it. */
  end(failure: unknown): readonly RunEvent[] {
    const { output, start } = this;
    output.close('incomplete');
    const base = {
      ...snapshot(start.runId, 'completed', output.items),
      usage: this.usage,
      selection: selectionOf(this.selection) ?? start.before?.selection ?? null,
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

  private request(messages: readonly ModelMessage[], round: number, toolCalls: number): ModelRequest {
    const { plan, tools } = this;
    // The last round must answer: no tool may be called any more.
    const isLast = round >= this.deps.roundsMax || toolCalls >= (plan.toolCallsMax ?? Number.POSITIVE_INFINITY);
    // A choice that forces a call is for the first round: it would never come to an end.
    const wanted = round > 1 && plan.toolChoice !== undefined && plan.toolChoice !== 'none' ? 'auto' : plan.toolChoice;
    const toolChoice = isLast && tools.size > 0 ? 'none' : wanted;
    return {
      model: plan.modelId,
      messages,
      tools: tools.size === 0 ? plan.tools : [...plan.tools, ...definitions(tools)],
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
    this.usage = this.usage === null ? usage : sum(this.usage, usage);
    const { selection } = call;
    const modelId = selection === undefined || selection.model === '' ? this.plan.modelId : chargedModel(selection);
    this.deps.ledger.note(this.plan.charge, 'run', modelId, usage);
  }
}

/** How the run ended, from what stopped it and from why the model finished. */
function terminalBody(base: RunSnapshot, failure: unknown, finish: ModelCall['finish']): RunEventBody {
  if (isCancel(failure)) return { type: 'response.incomplete', run: { ...base, status: 'cancelled' } };
  if (failure instanceof RunStop && failure.kind === 'paused') {
    return { type: 'response.incomplete', run: { ...base, status: 'incomplete', incompleteReason: 'paused' } };
  }
  if (failure !== undefined) return { type: 'response.failed', run: { ...base, status: 'failed', error: runErrorOf(failure) } };
  if (finish === 'length') {
    return { type: 'response.incomplete', run: { ...base, status: 'incomplete', incompleteReason: 'max_output_tokens' } };
  }
  if (finish === 'content_filter') {
    return { type: 'response.incomplete', run: { ...base, status: 'incomplete', incompleteReason: 'content_filter' } };
  }
  return { type: 'response.completed', run: base };
}

export function snapshot(runId: string, status: RunSnapshot['status'], output: readonly RunItem[]): RunSnapshot {
  return { runId, status, incompleteReason: null, error: null, usage: null, selection: null, output };
}

const noTools: ServerTools = new Map();

/** Why a call of a tool of the service was not made. */
const skipped = {
  limit: { code: 'max_tool_calls', message: 'Skipped: this run may make no further calls' },
  steered: { code: 'skipped', message: 'Skipped: the user said something else in the meantime' },
} as const;

const stopCodes = {
  cancelled: 'CLIENT_CLOSED_REQUEST',
  timeout: 'UPSTREAM_TIMEOUT',
  shutdown: 'OVERLOADED',
  lost: 'SERVER_ERROR',
  paused: 'SERVER_ERROR',
} as const;

function isCancel(failure: unknown): boolean {
  return failure instanceof RunStop
    ? failure.kind === 'cancelled'
    : failure instanceof DOMException && failure.name === 'AbortError';
}

/** What a face answers for a run that failed before its first token. */
function domainErrorOf(failure: unknown): unknown {
  if (failure instanceof RunStop) return new DomainError(stopCodes[failure.kind], failure.message);
  if (!(failure instanceof ModelError)) return failure;
  const { retryAfterSeconds } = failure;
  return new DomainError(failure.code, failure.message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}

function runErrorOf(failure: unknown): RunError {
  const known = domainErrorOf(failure);
  if (known instanceof DomainError) return { code: known.code, message: known.message };
  return { code: 'SERVER_ERROR', message: 'Something went wrong on our side while this run was worked on' };
}

function textOf(items: readonly RunItem[]): string | null {
  const texts = items.flatMap((item) => (item.type === 'message' ? [item.text] : []));
  return texts.length === 0 ? null : texts.join('\n\n');
}

function sum(left: Usage, right: TokenUsage): Usage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cachedTokens: left.cachedTokens + right.cachedTokens,
    reasoningTokens: left.reasoningTokens + right.reasoningTokens,
  };
}

function chargedModel({ provider, model }: Selection): string {
  return model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
}

function selectionOf(selection: Selection | undefined): SelectionMetadata | null {
  if (selection === undefined) return null;
  const { provider, model, fallbackChain, queueMs, firstTokenMs } = selection;
  return { provider, model, fallbackChain: [...fallbackChain], latencyHints: { queueMs, firstTokenMs } };
}

function definitions(tools: ServerTools): readonly ModelTool[] {
  return [...tools.values()].map((tool) => tool.definition);
}
