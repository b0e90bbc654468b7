import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { writeCacheWrites } from '../../../entities/conversations/runs/usage.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import { membersOf, readString } from '../../../lib/json/json.ts';
import { malformed } from '../openai/errors.ts';
import type { FinishReason, ModelDelta, TokenUsage } from '../port.ts';
import { toWarning } from './warnings.ts';

type CallBeginning = Pick<Extract<LanguageModelV4StreamPart, { readonly type: 'tool-call' }>, 'toolName' | 'providerMetadata'>;
type Finish = Extract<LanguageModelV4StreamPart, { readonly type: 'finish' }>;

/** Said for a model whose provider gives no words of its own. */
const refusalText = 'The model declined to answer this.';

/** Turns the parts of a stream of the AI SDK into deltas. */
export class PartReader {
  isOver = false;
  /** Of the thought that is open. */
  #sealed: SharedV4ProviderMetadata | undefined;
  readonly #calls = new Map<string, { readonly index: number; hasArguments: boolean }>();
  /** Not told yet: they come with the first delta, because another model may be asked until then. */
  #warnings: readonly Warning[];
  #hasText = false;

  /** @param warnings  that are known before the provider is asked. */
  constructor(warnings: readonly Warning[]) {
    this.#warnings = warnings;
  }

  read(part: LanguageModelV4StreamPart, out: ModelDelta[]): void {
    const before = out.length;
    this.#readPart(part, out);
    if (out.length === before || this.#warnings.length === 0) return;
    out.unshift({ type: 'warnings', warnings: this.#warnings });
    this.#warnings = [];
  }

  #readPart(part: LanguageModelV4StreamPart, out: ModelDelta[]): void {
    switch (part.type) {
      case 'stream-start':
        this.#warnings = [...this.#warnings, ...part.warnings.map(toWarning)];
        break;
      case 'text-delta':
        if (part.delta === '') break;
        this.#hasText = true;
        out.push({ type: 'text', json: JSON.stringify(part.delta) });
        break;
      case 'reasoning-start':
        this.#seal(part.providerMetadata);
        break;
      case 'reasoning-delta':
        this.#seal(part.providerMetadata);
        if (part.delta !== '') out.push({ type: 'reasoning', json: JSON.stringify(part.delta) });
        break;
      case 'reasoning-end':
        this.#seal(part.providerMetadata);
        if (this.#sealed !== undefined) out.push({ type: 'thought', opaque: this.#sealed });
        this.#sealed = undefined;
        break;
      case 'tool-input-start':
        if (part.providerExecuted !== true) this.#begin(part, part.id, out);
        break;
      case 'tool-input-delta':
        this.#addArguments(part.id, part.delta, out);
        break;
      case 'tool-call':
        if (part.providerExecuted === true) break;
        // Some providers send a whole call at once, without its deltas.
        if (!this.#calls.has(part.toolCallId)) this.#begin(part, part.toolCallId, out);
        if (this.#calls.get(part.toolCallId)?.hasArguments === false) {
          this.#addArguments(part.toolCallId, part.input.trim() === '' ? '{}' : part.input, out);
        }
        break;
      case 'error':
        throw part.error;
      case 'finish':
        this.#finish(part, out);
        break;
      default:
        break;
    }
  }

  #finish(part: Finish, out: ModelDelta[]): void {
    this.isOver = true;
    const { unified } = part.finishReason;
    const isSilent = !this.#hasText && this.#calls.size === 0;
    if (hasFailed(part.finishReason, isSilent)) throw malformed(`it ended with ${part.finishReason.raw ?? 'an error'}`);
    const isRefusal = unified === 'content-filter' && isSilent;
    if (isRefusal) out.push({ type: 'refusal', json: JSON.stringify(findWords(part.providerMetadata) ?? refusalText) });
    out.push({ type: 'usage', usage: toUsage(part.usage) });
    // A refusal is a whole answer; a filter that stops an answer cuts it.
    const stopSequence = readString(membersOf(membersOf(part.providerMetadata).anthropic).stopSequence);
    const reason = isRefusal ? 'stop' : toFinishReason(unified, this.#calls.size > 0);
    out.push({ type: 'finish', reason, ...(stopSequence === undefined ? {} : { stopSequence }) });
  }

  /** What a provider says about a thought anywhere in it is given back with it. */
  #seal(metadata: SharedV4ProviderMetadata | undefined): void {
    if (metadata !== undefined) this.#sealed = { ...this.#sealed, ...metadata };
  }

  #begin({ toolName: name, providerMetadata }: CallBeginning, id: string, out: ModelDelta[]): void {
    const index = this.#calls.size;
    this.#calls.set(id, { index, hasArguments: false });
    if (providerMetadata !== undefined) out.push({ type: 'thought', opaque: providerMetadata, callIndex: index });
    out.push({ type: 'tool.start', index, id, name });
  }

  #addArguments(id: string, piece: string, out: ModelDelta[]): void {
    const call = this.#calls.get(id);
    if (call === undefined || piece === '') return;
    call.hasArguments = true;
    out.push({ type: 'tool.arguments', index: call.index, json: JSON.stringify(piece) });
  }
}

/**
 * Whether an answer ended otherwise than whole, cut or refused. Gemini names failures in capitals, such as UNEXPECTED_TOOL_CALL and
 * MISSING_THOUGHT_SIGNATURE, and adds to them. A reason that is unknown ends an answer that said something; without any the stream was cut.
 */
function hasFailed({ unified, raw }: LanguageModelV4FinishReason, isSilent: boolean): boolean {
  if (unified === 'error' || unified === 'interrupted') return true;
  return unified === 'other' && (isSilent || raw === undefined || /^[A-Z_]+$/.test(raw));
}

/** How a provider explains a refusal: Anthropic with its stop, Google with its finish or the block of the prompt. */
function findWords(metadata: Finish['providerMetadata']): string | undefined {
  const { anthropic, google } = membersOf(metadata);
  const explanation = readString(membersOf(membersOf(anthropic).stopDetails).explanation);
  const wordParts = [
    explanation,
    readString(membersOf(google).finishMessage),
    readString(membersOf(membersOf(google).promptFeedback).blockReasonMessage),
  ];
  return wordParts.find((text) => text !== undefined && text.trim() !== '');
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenUsage {
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    cachedTokens: inputTokens.cacheRead ?? 0,
    ...writeCacheWrites(inputTokens.cacheWrite),
    reasoningTokens: outputTokens.reasoning ?? 0,
  };
}

function toFinishReason(unified: string, hasCalls: boolean): FinishReason {
  if (unified === 'length') return 'length';
  if (unified === 'content-filter') return 'content_filter';
  return hasCalls ? 'tool_calls' : 'stop';
}
