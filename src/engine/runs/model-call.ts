import { storableText } from '../../lib/text.ts';
import { type FinishReason, type ModelDelta, ModelError, type ModelRequest, type TokenUsage } from '../models/port.ts';
import type { Selection } from '../models/route-stream.ts';
import type { ModelRouter } from '../models/router.ts';
import type { ServerTools } from '../tools/server-tool.ts';
import { decodeLiteral } from './answer/literal.ts';
import type { RunOutput } from './answer/output.ts';
import type { WholeCall } from './tools/open-call.ts';

/** A call of a tool that runs here. */
export interface ServerCall {
  readonly callId: string;
  readonly name: string;
  /** Inside of a JSON string literal. */
  literal: string;
}

/** One upstream call: its deltas go to the output, what it came to is kept here. */
export class ModelCall {
  readonly request: ModelRequest;
  readonly serverCalls = new Map<number, ServerCall>();
  finish: FinishReason | undefined;
  selection: Selection | undefined;
  /** As the provider reported it. */
  serviceTier: string | undefined;
  #reported: TokenUsage | undefined;
  #outputLength = 0;
  #hasBegun = false;
  /** Whether a call was begun that the request takes. */
  hasCalled = false;
  /** Whether the model called a tool although its caller takes no call. */
  hasCalledInVain = false;
  readonly #takesCalls: boolean;
  #hasRefused = false;

  /** @param takesCalls  false: every call is left out, as the caller asks with `tool_choice: "none"`. */
  constructor(request: ModelRequest, takesCalls = true) {
    this.request = request;
    this.#takesCalls = takesCalls;
  }

  /**
   * Begins the call: one array of deltas for each upstream read, to be handed to `take`.
   *
   * @throws ModelError, or the signal's reason, while it is read.
   */
  start(models: ModelRouter, signal: AbortSignal): AsyncIterable<readonly ModelDelta[]> {
    const routed = models.stream(this.request, signal);
    this.selection = routed.selection;
    return routed.deltas;
  }

  /**
   * Puts the deltas of one read into `output`.
   *
   * @param onlyTools  the only ones that may be called, when the request limits them.
   * @throws ModelError when the model calls another.
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
        output.reasoning(delta.json);
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
        else output.callStart(delta.index, delta.id, delta.name);
      } else if (delta.type === 'refusal') {
        this.#outputLength += delta.json.length - 2;
        this.#hasRefused = true;
        output.refusal(delta.json);
      } else if (delta.type === 'logprobs') {
        output.logprobs(delta.tokens);
      } else if (delta.type === 'service.tier') {
        this.serviceTier = delta.tier;
      } else if (delta.type === 'usage') {
        this.#reported = delta.usage;
      } else {
        this.finish = delta.reason;
      }
    }
    // As if the model had come to the end of its tokens: every client knows what to make of that.
    if (output.isFull) this.finish = 'length';
  }

  /** Where one tool must be called, calls of others are left out; where no calls may be parallel, those behind the first. */
  #takesCall(name: string): boolean {
    const { toolChoice, parallelToolCalls } = this.request;
    if (typeof toolChoice === 'object' && name !== toolChoice.name) return false;
    return parallelToolCalls !== false || !this.hasCalled;
  }

  /** Whether it came to its own end, without asking for a call and without refusing: what it said is its answer. */
  get isAnswer(): boolean {
    return !this.hasCalled && !this.#hasRefused && (this.finish === 'stop' || this.finish === 'tool_calls');
  }

  /** Its full id; undefined while none has answered. */
  get answeringModel(): string | undefined {
    if (this.selection === undefined || this.selection.model === '') return undefined;
    const { provider, model } = this.selection;
    return model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
  }

  /** The calls of tools that run here, in the order in which they were begun. */
  get wholeCalls(): readonly WholeCall[] {
    return [...this.serverCalls.values()].map(({ callId, name, literal }) => ({
      callId,
      name,
      arguments: literal === '' ? '{}' : decodeLiteral(literal),
    }));
  }

  /** @throws ModelError when the answer ended without saying so. */
  requireFinish(): void {
    if (this.finish === undefined) throw new ModelError('UPSTREAM_ERROR', 'The model ended its answer without saying so', false);
  }

  /**
   * What the call cost: as the upstream reported it, else estimated at four characters a token. Undefined for a call that was refused
   * before its first token: those cost nothing. One that was cut off before its first token did reach the model.
   */
  usage(wasCut: boolean): TokenUsage | undefined {
    if (this.#reported !== undefined) return this.#reported;
    if (!this.#hasBegun && !wasCut) return undefined;
    const outputTokens = Math.ceil(this.#outputLength / 4);
    return { inputTokens: estimateInput(this.request), outputTokens, cachedTokens: 0, reasoningTokens: 0 };
  }
}

function estimateInput(request: ModelRequest): number {
  let length = 0;
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
