import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/** OTLP's JSON form of `ExportTraceServiceRequest`, as strict as a collector that reads it by its protobuf schema. */
const attribute = z.strictObject({
  key: z.string().min(1),
  get value() {
    return anyValue;
  },
});
const anyValue = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  // The JSON form of protobuf reads a 64-bit number from either.
  z.strictObject({ intValue: z.union([z.int(), z.string().regex(/^-?\d+$/)]) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ arrayValue: z.strictObject({ values: z.array(z.strictObject({ stringValue: z.string() })) }) }),
]);
const id = (bytes: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${bytes * 2}}$`));
const nanoseconds = z.string().regex(/^\d{19}$/);
const span = z.strictObject({
  traceId: id(16),
  spanId: id(8),
  parentSpanId: id(8).optional(),
  flags: z.int(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes: z.array(attribute),
  droppedAttributesCount: z.int(),
  // Their messages and stacks would quote what a call failed on.
  events: z.array(z.never()),
  droppedEventsCount: z.int(),
  links: z.array(z.never()),
  droppedLinksCount: z.int(),
  status: z.strictObject({ code: z.int().min(0).max(2) }),
});
const request = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: z.array(attribute), droppedAttributesCount: z.int() }),
      scopeSpans: z.array(
        z.strictObject({ scope: z.strictObject({ name: z.string(), version: z.string() }), spans: z.array(span) }),
      ),
    }),
  ),
});

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  /** 2: failed. */
  readonly status: number;
  readonly seconds: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The resource it came from. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A stand-in for an OpenTelemetry collector: it takes OTLP over HTTP and refuses what is none. */
export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything that arrived, as text: bodies and headers. */
  readonly received: string;
  /** The bodies alone. */
  readonly bodies: string;
  /** Requests that were no OTLP. */
  readonly faults: readonly string[];
  readonly requestCount: number;
  /** From now on every request gets this status; 'hang': none gets an answer. */
  answer(status: number | 'hang'): void;
  /** The tree of a trace: each span with those below it, in the order in which they began. */
  tree(traceId: string): readonly Branch[];
  reset(): void;
  close(): Promise<void>;
}

export interface Branch {
  readonly name: string;
  readonly below?: readonly Branch[];
}

export async function startCollector(): Promise<Collector> {
  let spans: (CollectedSpan & { readonly startedAt: bigint })[] = [];
  let received = '';
  let bodies = '';
  let requestCount = 0;
  let faults: string[] = [];
  let answer: number | 'hang' = 200;
  const server = createServer(async (req, res) => {
    requestCount += 1;
    let body = '';
    for await (const chunk of req) body += chunk;
    bodies += `${body}\n`;
    received += `${JSON.stringify(req.headers)}\n${body}\n`;
    if (answer === 'hang') return;
    if (answer !== 200) return void res.writeHead(answer).end('{"message":"scripted"}');
    const isOtlp = req.method === 'POST' && req.url === '/v1/traces' && req.headers['content-type'] === 'application/json';
    const parsed = isOtlp ? request.safeParse(JSON.parse(body)) : undefined;
    if (parsed?.success !== true) {
      faults.push(`${req.method} ${req.url}: ${parsed === undefined ? 'no OTLP' : z.prettifyError(parsed.error)}`);
      return void res.writeHead(400).end();
    }
    for (const { resource, scopeSpans } of parsed.data.resourceSpans) {
      const of = valuesOf(resource.attributes);
      for (const each of scopeSpans.flatMap((scope) => scope.spans)) {
        const { traceId, spanId, parentSpanId, name, kind, attributes, status } = each;
        const startedAt = BigInt(each.startTimeUnixNano);
        const seconds = Number(BigInt(each.endTimeUnixNano) - startedAt) / 1e9;
        const rest = { attributes: valuesOf(attributes), status: status.code, seconds, startedAt, resource: of };
        spans.push({ traceId, spanId, parentSpanId, name, kind, ...rest });
      }
    }
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const below = (traceId: string, parent: string | undefined): Branch[] => {
    const ofTrace = spans.filter((each) => each.traceId === traceId);
    const isRoot = (each: CollectedSpan) => !ofTrace.some((other) => other.spanId === each.parentSpanId);
    return ofTrace
      .filter((each) => (parent === undefined ? isRoot(each) : each.parentSpanId === parent))
      .toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
      .map(({ name, spanId }) => {
        const children = below(traceId, spanId);
        return children.length === 0 ? { name } : { name, below: children };
      });
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get spans() {
      return spans;
    },
    get received() {
      return received;
    },
    get bodies() {
      return bodies;
    },
    get faults() {
      return faults;
    },
    get requestCount() {
      return requestCount;
    },
    answer(status) {
      answer = status;
    },
    tree: (traceId) => below(traceId, undefined),
    reset() {
      spans = [];
      received = '';
      bodies = '';
      faults = [];
      requestCount = 0;
      answer = 200;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function valuesOf(attributes: readonly z.infer<typeof attribute>[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: z.infer<typeof anyValue>): unknown {
  if ('arrayValue' in value) return value.arrayValue.values.map(plain);
  if ('intValue' in value) return Number(value.intValue);
  return Object.values(value)[0];
}
