import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { sendBody } from '../reply/reply.ts';

/** Counts one route's requests. Made once for each route, so that a request pays for no look-up by label. */
export interface RouteMeter {
  /** @param startedMs  `performance.now()` at the beginning. */
  finished(status: number, startedMs: number): void;
}

const countAtReplies = 256;

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
    labelNames: ['operation'] as const,
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 120],
    registers: [this.#registry],
  });
  readonly #uncounted: (() => void)[] = [];

  constructor() {
    collectDefaultMetrics({ register: this.#registry, prefix: 'parley_' });
  }

  meter(operation: string): RouteMeter {
    const byStatus = new Map<number, { inc(): void }>();
    let statuses: number[] = [];
    let durationsMs: number[] = [];
    const duration = this.#durations.labels(operation);
    // Replies are noted one by one and counted many at a time: the counters cost more than the note, and nobody waits for them.
    const count = () => {
      for (const [index, status] of statuses.entries()) {
        let counter = byStatus.get(status);
        if (counter === undefined) {
          counter = this.#requests.labels(operation, String(status));
          byStatus.set(status, counter);
        }
        counter.inc();
        duration.observe((durationsMs[index] ?? 0) / 1_000);
      }
      statuses = [];
      durationsMs = [];
    };
    this.#uncounted.push(count);
    return {
      finished: (status, startedMs) => {
        statuses.push(status);
        durationsMs.push(performance.now() - startedMs);
        if (statuses.length >= countAtReplies) count();
      },
    };
  }

  /** Everything measured until now, in the text format of Prometheus. */
  async text(): Promise<{ readonly type: string; readonly text: string }> {
    for (const count of this.#uncounted) count();
    return { type: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  /**
   * Counts that somebody else keeps, read when somebody asks.
   *
   * @param name  without the `parley_` in front.
   * @param read  a total for each value of the label; values come from a list of ours, never from callers.
   */
  counter(name: string, help: string, label: string, read: () => Iterable<readonly [string, number]>): void {
    const counter: Counter<string> = new Counter({
      name: `parley_${name}`,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect: () => {
        counter.reset();
        for (const [value, total] of read()) counter.inc({ [label]: value }, total);
      },
    });
  }

  /** A number that is read when somebody asks. @param name  without the `parley_` in front. */
  gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({
      name: `parley_${name}`,
      help,
      registers: [this.#registry],
      collect: () => gauge.set(read()),
    });
  }
}

/** GET /metrics, in the text format of Prometheus. */
export function metricsHandler(metrics: Metrics): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (_req, res) => {
    const { type, text } = await metrics.text();
    sendBody(res, 200, ['content-type', type, 'cache-control', 'no-store'], text);
  };
}
