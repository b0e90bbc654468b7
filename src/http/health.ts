import type { IncomingMessage, ServerResponse } from 'node:http';

const readyTimeoutMs = 2_000;

/** GET /healthz: the process is alive. Asks nobody, so a slow database never gets a healthy process killed. */
export function healthHandler(): (req: IncomingMessage, res: ServerResponse) => void {
  return (_req, res) => answer(res, 200, { status: 'ok' });
}

/**
 * GET /readyz: the process can serve, so a balancer may send it requests.
 *
 * @param check  asks the database; throws or takes too long when it is away.
 * @param isStopping  true from SIGTERM on.
 */
export function readyHandler(
  check: () => Promise<void>,
  isStopping: () => boolean,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (_req, res) => {
    if (isStopping()) return answer(res, 503, { status: 'stopping' });
    try {
      await withTimeout(check(), readyTimeoutMs);
      answer(res, 200, { status: 'ready' });
    } catch {
      answer(res, 503, { status: 'unavailable', reason: 'database' });
    }
  };
}

async function withTimeout(work: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('too slow')), timeoutMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function answer(res: ServerResponse, status: number, body: Readonly<Record<string, string>>): void {
  res.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  res.end(JSON.stringify(body));
}
