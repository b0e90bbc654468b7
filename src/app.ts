import type { IncomingMessage, RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import express from 'express';
import packageJson from '../package.json' with { type: 'json' };
import type { Deps } from './domain/deps.ts';
import { DomainError, publicError } from './entities/errors.ts';
import { buildSchema } from './graphql/schema.ts';
import { createGraphqlHandler } from './graphql/server.ts';
import { createAccessLog } from './http/access-log.ts';
import { requestIdOf } from './http/context.ts';
import { sendError } from './http/errors.ts';
import { healthHandler, readyHandler } from './http/health.ts';
import { RunAdmission } from './http/limits.ts';
import { Metrics, metricsHandler } from './http/metrics.ts';
import { SseStreams } from './http/sse.ts';
import { createRestRouter } from './rest/adapter.ts';
import { createReference } from './rest/reference.ts';
import { createResponseSocket } from './rest/responses-socket.ts';
import { allRoutes } from './rest/routes/index.ts';

export interface App {
  readonly handle: RequestListener;
  /** For connections that want another protocol. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Tells balancers to send no more and ends the streams that follow something without an end of its own. */
  stop(): void;
}

/** Joins both faces over one schema. The only file that sees every layer. */
export function createApp(deps: Deps): App {
  let isStopping = false;
  const { settings } = deps;
  const metrics = new Metrics();
  const streams = new SseStreams({
    heartbeatMs: settings.SSE_HEARTBEAT_MS,
    bufferMaxBytes: settings.SSE_BUFFER_MAX_BYTES,
    stallMs: settings.SSE_STALL_TIMEOUT_MS,
  });
  const admission = new RunAdmission(settings.RUNS_ACTIVE_MAX);
  const schema = buildSchema();
  const graphql = createGraphqlHandler({ schema, deps, metrics, streams, admission });
  const rest = createRestRouter({ schema, rows: allRoutes, deps, metrics, streams, admission });
  const sockets = createResponseSocket(deps, schema, admission);
  const reference = createReference(schema, allRoutes, packageJson.version);
  const pages = createPages(deps, metrics, () => isStopping);
  measure(metrics, deps, streams, admission);
  // The faces stand before Express, which costs more than they do.
  const log = createAccessLog(deps.logger, (req, res) =>
    rest(req, res, () => graphql.handle(req, res, () => reference(req, res, () => pages(req, res)))),
  );
  return {
    handle: log.handle,
    upgrade(req, socket, head) {
      if (!sockets.upgrade(req, socket, head)) socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
    },
    stop() {
      isStopping = true;
      log.stop();
      graphql.close();
      sockets.close();
    },
  };
}

/** What the process does, for dashboards. No label has more values than a list of ours. */
function measure(metrics: Metrics, { runs, jobs }: Deps, streams: SseStreams, admission: RunAdmission): void {
  metrics.gauge('streams_open', 'Open event streams.', () => streams.openCount);
  metrics.gauge('runs_active', 'Requests that hold a run at this moment.', () => admission.activeCount);
  metrics.counter('runs_total', 'Runs that ended in this process, by status.', 'status', () => runs.counts.ended);
  metrics.counter('tokens_total', 'Tokens of upstream calls, by direction.', 'direction', () => runs.counts.tokens);
  metrics.gauge('jobs_running', 'Jobs this process works on at this moment.', () => jobs.counts.running);
  metrics.counter('jobs_completed_total', 'Jobs done, by name.', 'job', () => jobs.counts.completed);
  metrics.counter('jobs_failed_total', 'Tries of jobs that failed, by name.', 'job', () => jobs.counts.failed);
}

/** What is neither face: health, metrics, and the answer to every other path. */
function createPages(deps: Deps, metrics: Metrics, isStopping: () => boolean): RequestListener {
  const pages = express();
  pages.disable('x-powered-by');
  pages.disable('etag');
  pages.get('/healthz', healthHandler());
  pages.get(
    '/readyz',
    readyHandler(async () => {
      await deps.storage.db.pool.query('SELECT 1');
    }, isStopping),
  );
  pages.get('/metrics', metricsHandler(metrics));
  pages.use((req, res) => {
    const missing = new DomainError('NOT_FOUND', `There is nothing at ${req.method} ${req.path}`);
    sendError(res, publicError(missing), requestIdOf(req));
  });
  return pages;
}
