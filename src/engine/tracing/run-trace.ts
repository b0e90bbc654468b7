import type { Attributes, Span } from '@opentelemetry/api';
import type { RunEvent } from '../../entities/conversations/runs/event.ts';
import type { Retrieval } from '../../entities/knowledge/retrieval.ts';
import type { TokenUsage } from '../models/port.ts';
import type { Selection } from '../models/route-stream.ts';
import { asSpan, failSpan, type Tracing, toErrorType, toTraceparent } from './tracing.ts';

/** What a span tells of a run. */
export interface TracedRun {
  readonly runId: string;
  readonly modelId: string;
  readonly agentId: string | null;
  readonly isStreaming: boolean;
}

/** The outcome of a model call. */
export interface ModelCallEnd {
  readonly selection: Selection | undefined;
  readonly finish: string | undefined;
  readonly usage: TokenUsage | undefined;
  readonly wasCut: boolean;
}

/**
 * The spans of one run, by the semantic conventions for generative AI: the run, and below it each retrieval, model call and tool call.
 *
 * Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
export class RunTrace {
  readonly #tracing: Tracing;
  readonly #span: Span;
  /** Whether the span says how the run ended. A reader that leaves cancels the run. */
  #isTold = false;

  /** Begins the span of the run. */
  constructor(tracing: Tracing, { runId, modelId, agentId, isStreaming }: TracedRun) {
    const isAgent = agentId !== null;
    const attributes: Attributes = {
      ...(isAgent ? { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.id': agentId } : {}),
      'gen_ai.request.model': modelId,
      'gen_ai.request.stream': isStreaming,
      'parley.run.id': runId,
    };
    this.#tracing = tracing;
    this.#span = tracing.begin(isAgent ? 'invoke_agent' : 'run', 'internal', attributes);
  }

  /** Takes the last events of the run; the span ends with `end`. */
  close(events: readonly RunEvent[]): void {
    this.#isTold = true;
    const last = events.at(-1);
    if (last === undefined || !('run' in last)) return;
    const { status, error, incompleteReason, usage } = last.run;
    this.#span.setAttributes({ 'parley.run.status': status, ...usageAttributes(usage ?? undefined) });
    if (incompleteReason !== null) this.#span.setAttribute('parley.run.incomplete_reason', incompleteReason);
    if (error !== null) failSpan(this.#span, error.code);
  }

  /** The run ended with an error before its first event left. */
  fail(error: unknown): void {
    this.#isTold = true;
    this.#span.setAttribute('parley.run.status', 'failed');
    failSpan(this.#span, toErrorType(error));
  }

  end(): void {
    if (!this.#isTold) this.#span.setAttribute('parley.run.status', 'cancelled');
    this.#span.end();
  }

  /** Runs the search for passages as a span. */
  retrieval<T extends { readonly passages: readonly unknown[]; readonly retrieval: Retrieval }>(
    dataSourceIds: readonly string[],
    work: () => Promise<T>,
  ): Promise<T> {
    const [only] = dataSourceIds.length === 1 ? dataSourceIds : [];
    const attributes: Attributes = {
      'gen_ai.operation.name': 'retrieval',
      'parley.retrieval.data_sources': dataSourceIds.length,
      ...(only === undefined ? {} : { 'gen_ai.data_source.id': only }),
    };
    const span = this.#tracing.begin(only === undefined ? 'retrieval' : `retrieval ${only}`, 'internal', attributes, this.#span);
    return asSpan(this.#tracing, span, async () => {
      const workResult = await work();
      const { mode, reason } = workResult.retrieval;
      span.setAttribute('parley.retrieval.passages', workResult.passages.length);
      span.setAttribute('parley.retrieval.mode', mode);
      if (reason !== null) span.setAttribute('parley.retrieval.reason', reason);
      return workResult;
    });
  }

  modelCall(modelId: string): ModelCallTrace {
    const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': modelId };
    return new ModelCallTrace(this.#tracing.begin(`chat ${modelId}`, 'client', attributes, this.#span));
  }

  /** Makes a tool call as a span. Runs of subagents are below it. @param errorOf  the code of a failed call; undefined for a good one. */
  toolCall<T>(
    call: { readonly name: string; readonly callId: string },
    work: () => Promise<T>,
    errorOf: (result: T) => string | undefined,
  ): Promise<T> {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': call.name,
      'gen_ai.tool.call.id': call.callId,
      'gen_ai.tool.type': 'function',
    };
    const span = this.#tracing.begin(`execute_tool ${call.name}`, 'internal', attributes, this.#span);
    return asSpan(this.#tracing, span, async () => {
      const result = await work();
      const error = errorOf(result);
      if (error !== undefined) failSpan(span, error);
      return result;
    });
  }
}

/** One model call with its retries and fallbacks. */
export class ModelCallTrace {
  readonly #span: Span;

  constructor(span: Span) {
    this.#span = span;
  }

  get traceparent(): string {
    return toTraceparent(this.#span);
  }

  fail(error: unknown): void {
    failSpan(this.#span, toErrorType(error));
  }

  end({ selection, finish, usage, wasCut }: ModelCallEnd): void {
    const span = this.#span;
    if (selection !== undefined && selection.model !== '') {
      span.setAttributes({ 'gen_ai.provider.name': selection.provider, 'gen_ai.response.model': selection.model });
      if (selection.firstTokenMs !== null)
        span.setAttribute('gen_ai.response.time_to_first_chunk', selection.firstTokenMs / 1_000);
      if (selection.fallbackChain.length > 0) span.setAttribute('parley.model.fallbacks', selection.fallbackChain.length);
    }
    if (finish !== undefined) span.setAttribute('gen_ai.response.finish_reasons', [finish]);
    if (wasCut) span.setAttribute('parley.model.cut_off', true);
    span.setAttributes(usageAttributes(usage));
    span.end();
  }
}

/** The tokens of a call or a run. */
function usageAttributes(usage: TokenUsage | undefined): Attributes {
  if (usage === undefined) return {};
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    ...(usage.cachedTokens > 0 ? { 'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens } : {}),
    ...((usage.cacheWriteTokens ?? 0) > 0 ? { 'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens } : {}),
    ...(usage.reasoningTokens > 0 ? { 'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens } : {}),
  };
}
