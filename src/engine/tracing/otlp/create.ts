import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes, randomUUID } from 'node:crypto';
import { type Attributes, type Span, type SpanContext, SpanKind, TraceFlags } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Settings } from '../../../settings.ts';
import { parseHeaderList } from '../header-list.ts';
import type { SpanSide, Tracing } from '../tracing.ts';
import { encodeSpans } from './encode.ts';
import { Exporter } from './exporter.ts';
import { createSampler, type Sampler } from './sampler.ts';
import { RecordedSpan } from './span.ts';

export type TracingSettings = Pick<
  Settings,
  | 'OTEL_SERVICE_NAME'
  | 'OTEL_EXPORTER_OTLP_HEADERS'
  | 'OTEL_TRACES_SAMPLER'
  | 'OTEL_TRACES_SAMPLER_ARG'
  | 'OTEL_BSP_SCHEDULE_DELAY'
>;

export interface OtlpOptions {
  readonly endpoint: string;
  /** Of Parley. */
  readonly version: string;
  readonly settings: TracingSettings;
  readonly logger: Logger;
}

const kinds: Readonly<Record<SpanSide, SpanKind>> = {
  server: SpanKind.SERVER,
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
};

/** Traces that go to an OpenTelemetry collector. Loaded only where OTEL_EXPORTER_OTLP_ENDPOINT is set. */
export function createOtlpTracing({ endpoint, version, settings, logger }: OtlpOptions): Tracing {
  const sender = { serviceName: settings.OTEL_SERVICE_NAME, version, instanceId: randomUUID() };
  const exporter = new Exporter({
    endpoint,
    headers: parseHeaderList(settings.OTEL_EXPORTER_OTLP_HEADERS),
    delayMs: settings.OTEL_BSP_SCHEDULE_DELAY,
    encode: (spans) => encodeSpans(spans, sender),
    logger,
  });
  return new OtlpTracing(createSampler(settings.OTEL_TRACES_SAMPLER, settings.OTEL_TRACES_SAMPLER_ARG), exporter);
}

class OtlpTracing implements Tracing {
  readonly #sampler: Sampler;
  readonly #exporter: Exporter;
  readonly #current = new AsyncLocalStorage<Span | undefined>();

  constructor(sampler: Sampler, exporter: Exporter) {
    this.#sampler = sampler;
    this.#exporter = exporter;
  }

  current(): Span | undefined {
    return this.#current.getStore();
  }

  begin(name: string, side: SpanSide, attributes: Attributes, parent = this.current()): Span {
    return this.#begin(name, kinds[side], attributes, parent?.spanContext());
  }

  beginRequest(name: string, attributes: Attributes, traceparent: unknown): Span {
    return this.#begin(name, SpanKind.SERVER, attributes, parseTraceparent(traceparent));
  }

  within<T>(span: Span | undefined, work: () => T): T {
    return this.#current.run(span, work);
  }

  close(timeMs: number): Promise<void> {
    return this.#exporter.close(timeMs);
  }

  #begin(name: string, kind: SpanKind, attributes: Attributes, parent: SpanContext | undefined): Span {
    const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
    const traceFlags = this.#sampler(traceId, parent) ? TraceFlags.SAMPLED : TraceFlags.NONE;
    const context: SpanContext = { traceId, spanId: randomBytes(8).toString('hex'), traceFlags };
    const start = { name, kind, context, parentSpanId: parent?.spanId, attributes };
    return new RecordedSpan(start, (span) => this.#exporter.add(span));
  }
}

/** Later versions may append members. Ids of zeros and version ff are invalid. Source: W3C Trace Context, 3.2. */
const traceparentForm = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

function parseTraceparent(header: unknown): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] =
    (typeof header === 'string' ? traceparentForm.exec(header.trim()) : null) ?? [];
  if (version === undefined || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
}
