import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import type { TimingCounts } from '../../lib/flow/timing.ts';
import { sendBody } from '../reply/reply.ts';
import type { TracedRoute } from './request-trace.ts';

/** Counts one route's requests. Made once for each route, so that a request pays for no look-up by label. */
export interface RouteMeter extends TracedRoute {
  /** @param startedMs  `performance.now()` at the beginning. */
  finished(status: number, startedMs: number): void;
}

const countAtReplies = 256;

export interface MetricsText {
  readonly type: string;
  readonly text: string;
}
/** What one process measured, as values that JSON can carry. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[];

let sharedRegistry: Registry | undefined;
/**
 * Memory, processor time and the like of this process, made once: `collectDefaultMetrics` observes garbage collection for as long as the process lives,
 * and its observer would hold each registry that it was made for, and with it a whole service that has ended.
 */
function processMetrics(): Registry {
  if (sharedRegistry === undefined) {
    sharedRegistry = new Registry();
    collectDefaultMetrics({ register: sharedRegistry, prefix: 'parley_' });
  }
  return sharedRegistry;
}

/** The measurements of one process. Labels are operation names and statuses, never ids or paths of callers. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: 'parley_http_requests_total',
    help: 'Requests answered, by operation and status.',
    labelNames: ['operation', 'status'] as const,
    registers: [this.#registry],
  });
  readonly #durations = new Histogram({
    name: 'parley_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its reply.',
    labelNames: ['operation', 'status_class'] as const,
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 120],
    registers: [this.#registry],
  });
  readonly #uncounted: (() => void)[] = [];

  constructor() {
    const ofProcess = processMetrics();
    for (const { name } of ofProcess.getMetricsAsArray()) {
      const metric = ofProcess.getSingleMetric(name);
      if (metric !== undefined) this.#registry.registerMetric(metric);
    }
  }

  /** @param path  of the route, for traces; undefined for requests without one. */
  meter(operation: string, path?: string): RouteMeter {
    const byStatus = new Map<number, { inc(): void; observe(seconds: number): void }>();
    let statuses: number[] = [];
    let durationsMs: number[] = [];
    // Replies are noted one by one and counted many at a time: the counters cost more than the note, and nobody waits for them.
    const count = () => {
      for (const [index, status] of statuses.entries()) {
        let counter = byStatus.get(status);
        if (counter === undefined) {
          counter = this.#counterOf(operation, status);
          byStatus.set(status, counter);
        }
        counter.inc();
        counter.observe((durationsMs[index] ?? 0) / 1_000);
      }
      statuses = [];
      durationsMs = [];
    };
    this.#uncounted.push(count);
    return {
      operation,
      path,
      finished: (status, startedMs) => {
        statuses.push(status);
        durationsMs.push(performance.now() - startedMs);
        if (statuses.length >= countAtReplies) count();
      },
    };
  }

  /** Labels that all lines get. */
  label(labels: Readonly<Record<string, string>>): void {
    this.#registry.setDefaultLabels(labels);
  }

  /** Everything measured until now, in the text format of Prometheus. */
  async text(): Promise<MetricsText> {
    for (const count of this.#uncounted) count();
    return { type: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  /** The same, to be joined with that of others. */
  async values(): Promise<MetricValues> {
    for (const count of this.#uncounted) count();
    return this.#registry.getMetricsAsJSON();
  }

  #counterOf(operation: string, status: number): { inc(): void; observe(seconds: number): void } {
    const requests = this.#requests.labels(operation, String(status));
    const durations = this.#durations.labels(operation, `${Math.trunc(status / 100)}xx`);
    return { inc: () => requests.inc(), observe: (seconds) => durations.observe(seconds) };
  }

  /**
   * Counts that somebody else keeps, read when somebody asks.
   *
   * @param name  without the `parley_` in front.
   * @param read  a total for each set of labels.
   */
  counter(name: string, help: string, labelNames: readonly string[], read: () => Iterable<Sample<number>>): void {
    const counter: Counter<string> = new Counter({
      name: `parley_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [this.#registry],
      collect: () => {
        counter.reset();
        for (const { labels, value } of read()) counter.inc(labels, value);
      },
    });
  }

  /** A number that is read when somebody asks. @param name  without the `parley_` in front. */
  gauge(name: string, help: string, read: () => number): void {
    this.gauges(name, help, [], () => [{ labels: {}, value: read() }]);
  }

  /** Numbers that are read when somebody asks. @param name  without the `parley_` in front. */
  gauges(
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => Iterable<Sample<number>> | Promise<Iterable<Sample<number>>>,
  ): void {
    const gauge: Gauge<string> = new Gauge({
      name: `parley_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [this.#registry],
      collect: async () => {
        const samples = await read();
        gauge.reset();
        for (const { labels, value } of samples) gauge.set(labels, value);
      },
    });
  }

  /** Durations that somebody else counts. @param name  without the `parley_` in front. */
  histogram(
    name: string,
    help: string,
    labelNames: readonly string[],
    boundsSeconds: readonly number[],
    read: () => Iterable<Sample<TimingCounts>>,
  ): void {
    const options = { name: `parley_${name}`, help, labelNames: [...labelNames], buckets: [...boundsSeconds] };
    const histogram = new Histogram({ ...options, registers: [this.#registry] });
    const get = async () => ({
      ...{ name: options.name, help, type: 'histogram', aggregator: 'sum' },
      values: [...read()].flatMap((sample) => histogramLines(options.name, boundsSeconds, sample)),
    });
    // The registry asks a histogram for its lines by either method.
    Object.assign(histogram, { get, getForPromString: get });
  }
}

/** The values of several processes, which their labels tell apart, in the text format of Prometheus. */
export async function toText(parts: readonly MetricValues[]): Promise<MetricsText> {
  // No two values have the same labels, so that nothing is added up.
  const registry = AggregatorRegistry.aggregate(parts.map((values) => values.map((value) => ({ ...value, aggregator: 'sum' }))));
  return { type: registry.contentType, text: await registry.metrics() };
}

/** One value of a metric. Values of labels come from lists of ours, never from callers. */
export interface Sample<Value> {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: Value;
}

/** Prometheus wants how many took at most each bound: smaller ones included. */
function histogramLines(name: string, boundsSeconds: readonly number[], { labels, value }: Sample<TimingCounts>) {
  let upTo = 0;
  const buckets = boundsSeconds.map((upperBound, index) => {
    upTo += value.within[index] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: upperBound }, value: upTo };
  });
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: value.count },
    { metricName: `${name}_sum`, labels, value: value.sumSeconds },
    { metricName: `${name}_count`, labels, value: value.count },
  ];
}

/** GET /metrics, in the text format of Prometheus. */
export function metricsHandler(read: () => Promise<MetricsText>): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (_req, res) => {
    const { type, text } = await read();
    sendBody(res, 200, ['content-type', type, 'cache-control', 'no-store'], text);
  };
}
