import type { IncomingMessage, ServerResponse } from 'node:http';
import { jsonType, sendBody } from './reply/reply.ts';

const readyTimeoutMs = 2_000;

/** GET /healthz: the process is alive. Does not ask the database: a slow database must not get a healthy process killed. */
export function healthHandler(): (req: IncomingMessage, res: ServerResponse) => void {
  return (_req, res) => answer(res, 200, { status: 'ok' });
}

/** What keeps a process from serving, or makes it serve worse. Empty when all is well. */
export interface Readiness {
  /** What is missing; balancers send no requests then. `detail` is for people. */
  readonly unavailable?: { readonly reason: 'storage_full' | 'signals'; readonly detail: string };
  /** What works in a slower way. */
  readonly degraded?: string;
}

/**
 * GET /readyz: the process can serve, so a balancer may send it requests.
 *
 * @param check  asks the database; throws or takes too long when it is away.
 * @param isStopping  true from SIGTERM on.
 */
export function readyHandler(
  check: () => Promise<Readiness>,
  isStopping: () => boolean,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (_req, res) => {
    if (isStopping()) return answer(res, 503, { status: 'stopping' });
    try {
      const { unavailable, degraded } = await withTimeout(check(), readyTimeoutMs);
      if (unavailable !== undefined) answer(res, 503, { status: 'unavailable', ...unavailable });
      else answer(res, 200, { status: 'ready', ...(degraded === undefined ? {} : { degraded }) });
    } catch {
      answer(res, 503, { status: 'unavailable', reason: 'database' });
    }
  };
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('too slow')), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function answer(res: ServerResponse, status: number, body: Readonly<Record<string, string>>): void {
  sendBody(res, status, ['content-type', jsonType, 'cache-control', 'no-store'], JSON.stringify(body));
}
