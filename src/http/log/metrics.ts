import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { sendBody } from '../reply/reply.ts';

/** Counts one route's requests. Made once for each route, so that a request pays for no look-up by label. */
export interface RouteMeter {
  /** @param startedMs  `performance.now()` at the beginning. */
  finished(status: number, startedMs: number): void;
}

const countAtReplies = 256;

type Library = typeof import('prom-client');

/** The counters of the library, once it is loaded. */
interface Counters {
  readonly registry: Registry;
  readonly requests: Counter<'operation' | 'status'>;
  readonly durations: Histogram<'operation'>;
}

/** The measurements of one process. Labels are operation names and statuses, never ids or paths of callers. */
export class Metrics {
  readonly #pending: ((counters: Counters) => void)[] = [];
  readonly #kept: ((library: Library, registry: Registry) => void)[] = [];
  #loading: Promise<Counters> | undefined;
  #counters: Counters | undefined;

  meter(operation: string): RouteMeter {
    const byStatus = new Map<number, { inc(): void }>();
    let statuses: number[] = [];
    let durationsMs: number[] = [];
    // Replies are noted one by one and counted many at a time: the counters cost more than the note, and nobody waits for them.
    const count = ({ requests, durations }: Counters) => {
      const duration = durations.labels(operation);
      for (const [index, status] of statuses.entries()) {
        let counter = byStatus.get(status);
        if (counter === undefined) {
          counter = requests.labels(operation, String(status));
          byStatus.set(status, counter);
        }
        counter.inc();
        duration.observe((durationsMs[index] ?? 0) / 1_000);
      }
      statuses = [];
      durationsMs = [];
    };
    this.#pending.push(count);
    return {
      finished: (status, startedMs) => {
        statuses.push(status);
        durationsMs.push(performance.now() - startedMs);
        if (statuses.length < countAtReplies) return;
        if (this.#counters !== undefined) count(this.#counters);
        else if (statuses.length === countAtReplies) void this.open();
      },
    };
  }

  /** Everything measured until now, in the text format of Prometheus. */
  async text(): Promise<{ readonly type: string; readonly text: string }> {
    const counters = await this.open();
    for (const count of this.#pending) count(counters);
    return { type: counters.registry.contentType, text: await counters.registry.metrics() };
  }

  /**
   * Counts that somebody else keeps, read when somebody asks.
   *
   * @param name  without the `parley_` in front.
   * @param read  a total for each value of the label; values come from a list of ours, never from callers.
   */
  counter(name: string, help: string, label: string, read: () => Iterable<readonly [string, number]>): void {
    this.#keep((library, registry) => {
      const counter: Counter<string> = new library.Counter({
        name: `parley_${name}`,
        help,
        labelNames: [label],
        registers: [registry],
        collect: () => {
          counter.reset();
          for (const [value, total] of read()) counter.inc({ [label]: value }, total);
        },
      });
    });
  }

  /** A number that is read when somebody asks. @param name  without the `parley_` in front. */
  gauge(name: string, help: string, read: () => number): void {
    this.#keep((library, registry) => {
      const gauge: Gauge = new library.Gauge({
        name: `parley_${name}`,
        help,
        registers: [registry],
        collect: () => gauge.set(read()),
      });
    });
  }

  /** For measurements that are named at the start, before anybody can have asked for any. */
  #keep(register: (library: Library, registry: Registry) => void): void {
    if (this.#loading !== undefined) throw new Error('measurements are named before the first is read');
    this.#kept.push(register);
  }

  /** Loads the library, once: a start does not wait for what nobody asks for before it is over. */
  open(): Promise<Counters> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<Counters> {
    const library = await import('prom-client');
    const registry = new library.Registry();
    const requests = new library.Counter({
      name: 'parley_http_requests_total',
      help: 'Requests answered, by operation and status.',
      labelNames: ['operation', 'status'] as const,
      registers: [registry],
    });
    const durations = new library.Histogram({
      name: 'parley_http_request_duration_seconds',
      help: 'Time from the first byte of a request to the last of its reply.',
      labelNames: ['operation'] as const,
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 120],
      registers: [registry],
    });
    library.collectDefaultMetrics({ register: registry, prefix: 'parley_' });
    for (const register of this.#kept) register(library, registry);
    this.#counters = { registry, requests, durations };
    return this.#counters;
  }
}

/** GET /metrics, in the text format of Prometheus. */
export function metricsHandler(metrics: Metrics): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (_req, res) => {
    const { type, text } = await metrics.text();
    sendBody(res, 200, ['content-type', type, 'cache-control', 'no-store'], text);
  };
}
