import {
  type Attributes,
  type AttributeValue,
  type Span,
  type SpanContext,
  type SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';

/** Longer texts are cut: names of tools and agents come from their authors. */
const textCharsMax = 256;
/** Most attributes of a span. */
const attributesMax = 64;

/** An ended span, as the exporter takes it. */
export interface EndedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  /** Undefined for the first span of a trace. */
  readonly parentSpanId: string | undefined;
  /** Milliseconds since the epoch, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: ReadonlyMap<string, AttributeValue>;
  readonly status: SpanStatus;
}

export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parentSpanId: string | undefined;
  readonly attributes: Attributes;
}

/** A span of the OpenTelemetry API. One that is not sampled keeps nothing and passes its ids on. Events and links have no use here and are dropped. */
export class RecordedSpan implements Span {
  readonly #start: SpanStart;
  readonly #startMs = nowMs();
  readonly #onEnd: (span: EndedSpan) => void;
  readonly #attributes = new Map<string, AttributeValue>();
  #name: string;
  #status: SpanStatus = { code: SpanStatusCode.UNSET };
  #isOpen: boolean;

  constructor(start: SpanStart, onEnd: (span: EndedSpan) => void) {
    this.#start = start;
    this.#name = start.name;
    this.#onEnd = onEnd;
    this.#isOpen = (start.context.traceFlags & TraceFlags.SAMPLED) !== 0;
    this.setAttributes(start.attributes);
  }

  spanContext(): SpanContext {
    return this.#start.context;
  }

  isRecording(): boolean {
    return this.#isOpen;
  }

  setAttribute(name: string, value: AttributeValue): this {
    if (!this.#isOpen || (this.#attributes.size >= attributesMax && !this.#attributes.has(name))) return this;
    this.#attributes.set(name, typeof value === 'string' ? value.slice(0, textCharsMax).toWellFormed() : value);
    return this;
  }

  setAttributes(attributes: Attributes): this {
    for (const [name, value] of Object.entries(attributes)) if (value !== undefined) this.setAttribute(name, value);
    return this;
  }

  updateName(name: string): this {
    this.#name = name;
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.#status = status;
    return this;
  }

  addEvent(): this {
    return this;
  }

  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  /** Only the kind of the error: its message may quote what it failed on. */
  recordException(): void {
    this.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { kind, context, parentSpanId } = this.#start;
    this.#onEnd({
      name: this.#name.slice(0, textCharsMax).toWellFormed(),
      ...{ kind, context, parentSpanId, startMs: this.#startMs, endMs: nowMs() },
      attributes: this.#attributes,
      status: this.#status,
    });
  }
}

/** Monotonic within the process, unlike `Date.now()`. */
function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
