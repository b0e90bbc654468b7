import { randomUUID } from 'node:crypto';
import { type Attributes, type Context, ROOT_CONTEXT, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Settings } from '../../settings.ts';
import { parseHeaderList } from './header-list.ts';
import type { SpanSide, Tracing } from './tracing.ts';

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

/** Names of tools and agents come from their authors, so texts have a limit. */
const textCharsMax = 256;
const attributesMax = 64;
const exportTimeoutMs = 5_000;

const kinds: Readonly<Record<SpanSide, SpanKind>> = {
  server: SpanKind.SERVER,
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
};

/** Traces that go to an OpenTelemetry collector, by the SDK of OpenTelemetry. Loaded only where OTEL_EXPORTER_OTLP_ENDPOINT is set. */
export function createOtlpTracing({ endpoint, version, settings, logger }: OtlpOptions): Tracing {
  const { OTEL_SERVICE_NAME, OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG } = settings;
  const exporter = new OTLPTraceExporter({
    url: tracesUrl(endpoint),
    headers: parseHeaderList(OTEL_EXPORTER_OTLP_HEADERS),
    timeoutMillis: exportTimeoutMs,
  });
  const provider = new TracerProvider({
    sampler: createSampler(OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG),
    spanLimits: { attributeValueLengthLimit: textCharsMax, attributeCountLimit: attributesMax, eventCountLimit: 0 },
    resource: resourceFromAttributes({
      'service.name': OTEL_SERVICE_NAME,
      'service.version': version,
      'service.instance.id': randomUUID(),
    }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new LoggedExporter(exporter, logger),
        scheduledDelayMillis: settings.OTEL_BSP_SCHEDULE_DELAY,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  });
  return new OtlpTracing(provider, provider.getTracer('parley', version));
}

class OtlpTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  /** Of its own: the global context of the API would let every library in the process write spans. */
  readonly #contexts = new AsyncLocalStorageContextManager().enable();
  readonly #propagator = new W3CTraceContextPropagator();

  constructor(provider: TracerProvider, tracer: Tracer) {
    this.#provider = provider;
    this.#tracer = tracer;
  }

  current(): Span | undefined {
    return trace.getSpan(this.#contexts.active());
  }

  begin(name: string, side: SpanSide, attributes: Attributes, parent = this.current()): Span {
    return this.#begin(name, side, attributes, parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent));
  }

  beginRequest(name: string, attributes: Attributes, traceparent: unknown): Span {
    return this.#begin(name, 'server', attributes, this.#propagator.extract(ROOT_CONTEXT, traceparent, onlyTraceparent));
  }

  within<T>(span: Span | undefined, work: () => T): T {
    return this.#contexts.with(span === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, span), work);
  }

  async close(timeMs: number): Promise<void> {
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeMs);
    await Promise.race([this.#provider.shutdown().catch(() => undefined), isLate]);
    clearTimeout(timer);
  }

  #begin(name: string, side: SpanSide, attributes: Attributes, context: Context): Span {
    return this.#tracer.startSpan(name.slice(0, textCharsMax), { kind: kinds[side], attributes }, context);
  }
}

/** `tracestate` is text of the caller, and would go on to model providers. */
const onlyTraceparent = {
  keys: () => ['traceparent'],
  get: (header: unknown, key: string) => (key === 'traceparent' && typeof header === 'string' ? header.trim() : undefined),
};

/** Says in the log that spans are dropped, once until spans arrive again. No failure reaches a caller. */
class LoggedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #logger: Logger;
  #isFailing = false;

  constructor(exporter: SpanExporter, logger: Logger) {
    this.#exporter = exporter;
    this.#logger = logger;
  }

  export(spans: ReadableSpan[], onResult: (result: ExportResult) => void): void {
    this.#exporter.export(spans, ({ code, error }) => {
      const hasFailed = code !== ExportResultCode.SUCCESS;
      if (hasFailed && !this.#isFailing) {
        const reason = error?.message ?? 'unknown';
        this.#logger.warn({ spans: spans.length, reason }, 'traces do not reach OTEL_EXPORTER_OTLP_ENDPOINT and are dropped');
      }
      this.#isFailing = hasFailed;
      onResult({ code: ExportResultCode.SUCCESS });
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/v1/traces`;
  return url.href;
}

/** @param ratio  part of the traces that the two `traceidratio` samplers record, 0 to 1. */
function createSampler(name: Settings['OTEL_TRACES_SAMPLER'], ratio: number): Sampler {
  const root = createRootSampler(name.replace('parentbased_', ''), ratio);
  if (name.startsWith('parentbased_')) return new ParentBasedSampler({ root });
  // A span below one of this process is recorded as that one is.
  return new ParentBasedSampler({ root, remoteParentSampled: root, remoteParentNotSampled: root });
}

function createRootSampler(name: string, ratio: number): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler();
  return name === 'always_off' ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}
