import type { CallOrigin } from '../../../entities/conversations/runs/thought.ts';
import type { ErrorCode } from '../../../entities/ground/errors.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import { storableText } from '../../../lib/text/text.ts';
import { type FinishReason, type ModelDelta, ModelError, type ModelRequest, type TokenUsage } from '../../models/port.ts';
import type { Selection } from '../../models/route-stream.ts';
import type { ModelRouter } from '../../models/router.ts';
import type { ServerTools } from '../../tools/server-tool.ts';
import type { ModelCallTrace } from '../../tracing/run-trace.ts';
import type { TokenHold } from '../../usage/limits.ts';
import type { RunTimings } from '../../usage/timings.ts';
import type { WholeCall } from '../calls/open-call.ts';
import { decodeLiteral } from '../output/literal.ts';
import type { RunOutput } from '../output/output.ts';
import type { RunSpending } from '../output/spending.ts';

/** A call of a tool that runs in this service. */
export interface ServerCall {
  readonly callId: string;
  readonly name: string;
  /** The arguments as the inside of a JSON string literal. */
  literal: string;
}

/** One model call: its deltas go to the run's output; its finish reason, usage and tool calls are kept here. */
export class ModelCall {
  readonly request: ModelRequest;
  readonly serverCalls = new Map<number, ServerCall>();
  finish: FinishReason | undefined;
  /** The text of `stop` that ended the answer, where the provider says. */
  stopSequence: string | undefined;
  selection: Selection | undefined;
  /** As the provider reports it. */
  serviceTier: string | undefined;
  /** What of the request has no effect at the provider that answers. */
  warnings: readonly Warning[] = [];
  #reported: TokenUsage | undefined;
  #outputLength = 0;
  #hasBegun = false;
  /** Whether the model began a call that the request allows. */
  hasCalled = false;
  /** Whether the model called a tool although the request takes no call. */
  hasCalledInVain = false;
  readonly #takesCalls: boolean;
  readonly #answer: string | undefined;
  #hasRefused = false;

  /** Why it gave no whole answer. */
  errorCode: ErrorCode = 'UPSTREAM_ERROR';

  /**
   * @param takesCalls  false for `tool_choice: "none"`: every call is left out.
   * @param answer  names the answer, for calls that belong together.
   */
  constructor(request: ModelRequest, takesCalls = true, answer?: string) {
    this.request = request;
    this.#takesCalls = takesCalls;
    this.#answer = answer;
  }

  /**
   * Sends the request. Yields one array of deltas for each upstream read; pass each to `take`.
   *
   * @param traceparent  of the call's span; undefined while tracing is off.
   * @throws ModelError, or the signal's reason, while it is read.
   */
  start(models: ModelRouter, signal: AbortSignal, traceparent?: string): AsyncIterable<readonly ModelDelta[]> {
    const routedStream = models.stream(traceparent === undefined ? this.request : { ...this.request, traceparent }, signal);
    this.selection = routedStream.selection;
    return routedStream.deltas;
  }

  /**
   * Adds the deltas of one read to `output`.
   *
   * @param onlyTools  the tools that the request allows; undefined: all.
   * @throws ModelError when the model calls another tool.
   */
  take(deltas: readonly ModelDelta[], output: RunOutput, tools: ServerTools, onlyTools?: readonly string[]): void {
    this.#hasBegun = true;
    for (const delta of deltas) {
      if (delta.type === 'text') {
        if (delta.json.length === 2) continue;
        this.#outputLength += delta.json.length - 2;
        output.text(delta.json);
      } else if (delta.type === 'reasoning') {
        if (delta.json.length === 2) continue;
        this.#outputLength += delta.json.length - 2;
        output.reasoning(delta.json, this.selection?.provider);
      } else if (delta.type === 'thought') {
        output.thought(delta, this.selection?.provider);
      } else if (delta.type === 'tool.arguments') {
        this.#outputLength += delta.json.length - 2;
        const serverCall = this.serverCalls.get(delta.index);
        if (serverCall === undefined) output.callArguments(delta.index, delta.json);
        else serverCall.literal += output.keep(delta.json);
      } else if (delta.type === 'tool.start') {
        this.#outputLength += delta.name.length;
        if (!this.#takesCall(delta.name)) continue;
        if (onlyTools !== undefined && !onlyTools.includes(delta.name)) {
          this.hasCalled = true;
          throw new ModelError('UPSTREAM_ERROR', 'The model called a tool that this request does not allow', false);
        }
        if (!this.#takesCalls) {
          this.hasCalledInVain = true;
          continue;
        }
        this.hasCalled = true;
        if (tools.has(delta.name))
          this.serverCalls.set(delta.index, { callId: storableText(delta.id), name: delta.name, literal: '' });
        else output.callStart(delta.index, delta.id, delta.name, this.#originOf(delta.index));
      } else if (delta.type === 'refusal') {
        this.#outputLength += delta.json.length - 2;
        this.#hasRefused = true;
        output.refusal(delta.json);
      } else if (delta.type === 'logprobs') {
        output.logprobs(delta.tokens);
      } else if (delta.type === 'service.tier') {
        this.serviceTier = delta.tier;
      } else if (delta.type === 'warnings') {
        this.warnings = delta.warnings;
      } else if (delta.type === 'usage') {
        this.#reported = delta.usage;
      } else {
        this.finish = delta.reason;
        this.stopSequence = delta.stopSequence;
      }
    }
    // A cut answer ends like one that reaches the model's token limit: clients know how to handle that.
    if (output.isFull) this.finish = 'length';
  }

  /** Leaves out calls of other tools when one tool is forced, and all calls after the first when calls may not be parallel. */
  #takesCall(name: string): boolean {
    const { toolChoice, parallelToolCalls } = this.request;
    if (typeof toolChoice === 'object' && name !== toolChoice.name) return false;
    return parallelToolCalls !== false || !this.hasCalled;
  }

  /** Whether the model finished by itself, without a call and without a refusal: its text is the answer. */
  get isAnswer(): boolean {
    return !this.hasCalled && !this.#hasRefused && (this.finish === 'stop' || this.finish === 'tool_calls');
  }

  /** The full id of the model that answered; undefined when none did. */
  get answeringModel(): string | undefined {
    if (this.selection === undefined || this.selection.model === '') return undefined;
    const { provider, model } = this.selection;
    return model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
  }

  /** The calls of tools that run in this service, in the order they began. */
  get wholeCalls(): readonly WholeCall[] {
    return [...this.serverCalls].map(([index, { callId, name, literal }]) => {
      const call = { callId, name, arguments: literal === '' ? '{}' : decodeLiteral(literal) };
      const origin = this.#originOf(index);
      return origin === undefined ? call : { ...call, origin };
    });
  }

  #originOf(index: number): CallOrigin | undefined {
    return this.#answer === undefined ? undefined : { answer: this.#answer, index };
  }

  /** Takes what ended the call before its answer was whole. */
  fail(error: unknown): void {
    this.errorCode = error instanceof ModelError ? error.code : 'SERVER_ERROR';
  }

  /** @throws ModelError when the stream ended without a finish reason. */
  requireFinish(): void {
    if (this.finish === undefined) throw new ModelError('UPSTREAM_ERROR', 'The model ended its answer without saying so', false);
  }

  /**
   * The tokens of the call: as the upstream reported, else estimated at four characters a token. Undefined when the upstream refused before its
   * first token, which costs nothing. A call that was cut off before its first token did reach the model, so it counts.
   */
  usage(wasCut: boolean): TokenUsage | undefined {
    if (this.#reported !== undefined) return this.#reported;
    if (!this.#hasBegun && !wasCut) return undefined;
    const outputTokens = Math.ceil(this.#outputLength / 4);
    return { inputTokens: estimateInput(this.request), outputTokens, cachedTokens: 0, reasoningTokens: 0, isEstimated: true };
  }
}

/** What a model call that is over is booked with. */
interface CallBooks {
  readonly spending: RunSpending;
  readonly timings: RunTimings | undefined;
  /** Tokens held of the organization's limit until the call is over. */
  readonly hold: TokenHold;
  readonly trace: ModelCallTrace | undefined;
  readonly startedMs: number;
}

/** Charges for a model call that is over, well or not, and tells metrics and trace. @param wasCut  the run was stopped during the call. */
export function bookCall(call: ModelCall, wasCut: boolean, { spending, timings, hold, trace, startedMs }: CallBooks): void {
  const { selection, finish } = call;
  const model = call.answeringModel ?? call.request.model;
  const usage = call.usage(wasCut);
  const firstTokenMs = selection?.firstTokenMs ?? null;
  const errorCode = finish !== undefined ? null : wasCut ? 'CLIENT_CLOSED_REQUEST' : call.errorCode;
  spending.book({ modelId: model, usage, startedMs, firstTokenMs, errorCode });
  hold.release();
  timings?.modelCall(model, finish !== undefined ? 'ok' : wasCut ? 'cut' : 'error', firstTokenMs, startedMs);
  trace?.end({ selection, finish, usage, wasCut });
}

function estimateInput(request: ModelRequest): number {
  let length = request.ending?.length ?? 0;
  for (const message of request.messages) {
    if (typeof message.content === 'string') length += message.content.length;
    else if (message.content !== null)
      for (const part of message.content) length += part.type === 'text' ? part.text.length : 1_000;
    if (message.role === 'assistant')
      for (const call of message.toolCalls ?? []) length += call.name.length + call.arguments.length;
  }
  for (const tool of request.tools) length += tool.name.length + tool.description.length + JSON.stringify(tool.parameters).length;
  return Math.ceil(length / 4);
}
