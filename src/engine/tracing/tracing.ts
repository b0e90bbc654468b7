import type { Attributes, Span } from '@opentelemetry/api';

/** Where a span stands in the trace: a request that came in, work in this process, a request that goes out. */
export type SpanSide = 'server' | 'internal' | 'client';

/**
 * The traces of this process; undefined wherever it is passed on while tracing is off, so that a request pays for one check. Spans are those
 * of the OpenTelemetry API. They hold ids, names, counts and codes: never text of a prompt, an answer or a document, never arguments, keys or
 * secrets, and no message of an error.
 */
export interface Tracing {
  /** The span that the running code belongs to. */
  current(): Span | undefined;
  /** Begins a span below `parent`; default: below the current one. Without either, a new trace begins. */
  begin(name: string, side: SpanSide, attributes: Attributes, parent?: Span): Span;
  /** Begins the span of a request. @param traceparent  of the caller, whose trace goes on; a malformed one begins a new trace. */
  beginRequest(name: string, attributes: Attributes, traceparent: unknown): Span;
  /** Runs work, and everything it starts, with this span as the current one; undefined: with none. */
  within<T>(span: Span | undefined, work: () => T): T;
  /** Sends what has ended, for at most `timeMs`, and stops. Never rejects. */
  close(timeMs: number): Promise<void>;
}

/** The header `traceparent` of a request that leaves below this span (W3C Trace Context, version 00). */
export function toTraceparent(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${(traceFlags & 1) === 1 ? '01' : '00'}`;
}

/** Marks a span as failed. @param type  a code or the name of an error's class; never its message, which may quote what it failed on. */
export function failSpan(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: statusError });
}

/** `SpanStatusCode.ERROR` of the API, which is loaded only while tracing is on. */
const statusError = 2;

/** What an error is called in a span. */
export function toErrorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Runs work as a span of its own, which is the current one meanwhile and fails with the work. */
export async function asSpan<T>(tracing: Tracing, span: Span, work: () => T | Promise<T>): Promise<T> {
  try {
    return await tracing.within(span, work);
  } catch (error) {
    failSpan(span, toErrorType(error));
    throw error;
  } finally {
    span.end();
  }
}
