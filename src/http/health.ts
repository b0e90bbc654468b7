import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Health } from '../entities/operations/installation.ts';
import { jsonType, sendBody } from './reply/reply.ts';

/** GET /healthz: the process is alive. Does not ask the database: a slow database must not get a healthy process killed. */
export function healthHandler(): (req: IncomingMessage, res: ServerResponse) => void {
  return (_req, res) => answer(res, 200, { status: 'ok' });
}

/**
 * GET /readyz: the process can serve, so a balancer may send it requests.
 *
 * @param check  never rejects.
 * @param isStopping  true from SIGTERM on.
 */
export function readyHandler(
  check: () => Promise<Health>,
  isStopping: () => boolean,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (_req, res) => {
    if (isStopping()) return answer(res, 503, { status: 'stopping' });
    const health = await check();
    const problems = health.problems.join(' ');
    if (health.state === 'unavailable') answer(res, 503, { status: 'unavailable', reason: health.reason, detail: problems });
    else if (health.state === 'degraded') answer(res, 200, { status: 'ready', degraded: problems });
    else answer(res, 200, { status: 'ready' });
  };
}

function answer(res: ServerResponse, status: number, body: Readonly<Record<string, string>>): void {
  sendBody(res, status, ['content-type', jsonType, 'cache-control', 'no-store'], JSON.stringify(body));
}
