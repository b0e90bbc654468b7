import type { IncomingMessage, RequestListener } from 'node:http';
import { type Logger, symbols } from 'pino';
import { requestIdOf } from './context.ts';

const flushEveryMs = 100;
const flushAtChars = 32_768;
/** Longer parts of a path are tokens of signed links, or nothing of ours. */
const segmentCharsMax = 64;
const infoLevel = 30;

const keyOfRequest = Symbol('keyId');

/** Tells the log which key a request came with. */
export function noteKey(req: IncomingMessage, keyId: string): void {
  (req as NotedRequest)[keyOfRequest] = keyId;
}

interface NotedRequest extends IncomingMessage {
  [keyOfRequest]?: string;
}

/** One line for every reply: who asked for what, how it went, how long it took. Never a query, a header or a body. */
export interface AccessLog {
  readonly handle: RequestListener;
  /** Writes what waits, and from here on every line at once. */
  stop(): void;
}

/**
 * Puts the log in front of a handler. Lines are put together by hand and written many at a time: through the logger each would cost
 * several times the rest of a small request. They pass the logger's own filter of secrets.
 */
export function createAccessLog(logger: Logger, handle: RequestListener): AccessLog {
  if (!logger.isLevelEnabled('info')) return { handle, stop: () => undefined };
  const target = streamOf(logger);
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting !== '') target.write(waiting);
    waiting = '';
  };
  const add = (line: string) => {
    waiting += line;
    if (isStopped || waiting.length >= flushAtChars) flush();
    else timer ??= setTimeout(flush, flushEveryMs).unref();
  };
  return {
    handle: (req, res) => {
      const startedMs = performance.now();
      const requestId = requestIdOf(req);
      res.once('close', () => add(lineOf(req, requestId, res.statusCode, res.writableFinished, performance.now() - startedMs)));
      handle(req, res);
    },
    stop() {
      isStopped = true;
      flush();
    },
  };
}

function lineOf(req: NotedRequest, requestId: string, status: number, isWhole: boolean, durationMs: number): string {
  const keyId = req[keyOfRequest];
  return `{"level":${infoLevel},"time":"${new Date().toISOString()}","requestId":"${requestId}","method":"${req.method}","path":${shownPath(
    req.url ?? '/',
  )},"status":${status},"durationMs":${Math.round(durationMs * 10) / 10}${keyId === undefined ? '' : `,"keyId":"${keyId}"`}${
    isWhole ? '' : ',"isWhole":false'
  },"msg":"reply"}\n`;
}

/** As JSON text, without the query. */
function shownPath(url: string): string {
  const split = url.indexOf('?');
  const path = split === -1 ? url : url.slice(0, split);
  if (path.length <= segmentCharsMax) return JSON.stringify(path);
  const segments = path.slice(0, 2_000).split('/');
  return JSON.stringify(segments.map((segment) => (segment.length > segmentCharsMax ? '[long]' : segment)).join('/'));
}

/** Where the logger's finished lines go: http/logging.ts gave it, so it hides secrets. */
function streamOf(logger: Logger): { write(lines: string): void } {
  const stream: unknown = (logger as unknown as Record<symbol, unknown>)[symbols.streamSym];
  if (typeof stream !== 'object' || stream === null || !('write' in stream)) throw new Error('the logger writes nowhere');
  return stream as { write(lines: string): void };
}
