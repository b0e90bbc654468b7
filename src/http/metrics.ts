import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Counts one route's requests. Made once for each route, so that a request pays for no look-up by label. */
export interface RouteMeter {
  /** @param startedMs  `performance.now()` at the beginning. */
  finished(status: number, startedMs: number): void;
}

/** The measurements of one process. Labels are operation names and statuses, never ids or paths of callers. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests: Counter<'operation' | 'status'>;
  readonly #durations: Histogram<'operation'>;

  constructor() {
    this.#requests = new Counter({
      name: 'parley_http_requests_total',
      help: 'Requests answered, by operation and status.',
      labelNames: ['operation', 'status'],
      registers: [this.registry],
    });
    this.#durations = new Histogram({
      name: 'parley_http_request_duration_seconds',
      help: 'Time from the first byte of a request to the last of its reply.',
      labelNames: ['operation'],
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 120],
      registers: [this.registry],
    });
    collectDefaultMetrics({ register: this.registry, prefix: 'parley_' });
  }

  meter(operation: string): RouteMeter {
    const duration = this.#durations.labels(operation);
    const byStatus = new Map<number, { inc(): void }>();
    return {
      finished: (status, startedMs) => {
        let counter = byStatus.get(status);
        if (counter === undefined) {
          counter = this.#requests.labels(operation, String(status));
          byStatus.set(status, counter);
        }
        counter.inc();
        duration.observe((performance.now() - startedMs) / 1_000);
      },
    };
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
      registers: [this.registry],
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
      registers: [this.registry],
      collect: () => gauge.set(read()),
    });
  }
}

/** GET /metrics, in the text format of Prometheus. */
export function metricsHandler(metrics: Metrics): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (_req, res) => {
    const text = await metrics.registry.metrics();
    res.writeHead(200, { 'content-type': metrics.registry.contentType, 'cache-control': 'no-store' });
    res.end(text);
  };
}
