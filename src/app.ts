import express, { type Express } from 'express';
import type { Deps } from './domain/deps.ts';
import { DomainError, publicError } from './entities/errors.ts';
import { requestIdOf } from './http/context.ts';
import { sendError } from './http/errors.ts';
import { healthHandler, readyHandler } from './http/health.ts';
import { Metrics, metricsHandler } from './http/metrics.ts';

export interface AppOptions {
  /** True from SIGTERM on: a balancer is told to send no more. */
  readonly isStopping: () => boolean;
}

/** Joins both faces over one schema. The only file that sees every layer. */
export function createApp(deps: Deps, { isStopping }: AppOptions): Express {
  const metrics = new Metrics();
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/healthz', healthHandler());
  app.get(
    '/readyz',
    readyHandler(async () => {
      await deps.storage.db.pool.query('SELECT 1');
    }, isStopping),
  );
  app.get('/metrics', metricsHandler(metrics));
  app.use((req, res) => {
    const missing = new DomainError('NOT_FOUND', `There is nothing at ${req.method} ${req.path}`);
    sendError(res, publicError(missing), requestIdOf(req));
  });
  return app;
}
