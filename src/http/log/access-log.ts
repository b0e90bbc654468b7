import type { IncomingMessage, RequestListener } from 'node:http';
import { type Logger, symbols } from 'pino';
import { type BreakReason, breakReasonOf, toldStatus } from '../connections/connection.ts';
import { requestIdOf } from '../context.ts';

const flushEveryMs = 100;
const flushAtReplies = 500;
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

/** What a line tells of one reply. */
interface LoggedReply {
  readonly req: NotedRequest;
  readonly requestId: string;
  readonly status: number;
  /** Why the client did not get the reply whole. */
  readonly aborted: BreakReason | undefined;
  readonly atMs: number;
  readonly durationMs: number;
}

/**
 * Puts the log in front of a handler. Lines are put together by hand, many at a time and behind the replies: through the logger each
 * would cost several times the rest of a small request. They pass the logger's own filter of secrets.
 */
export function createAccessLog(logger: Logger, handle: RequestListener): AccessLog {
  if (!logger.isLevelEnabled('info')) return { handle, stop: () => undefined };
  const target = streamOf(logger);
  let waiting: LoggedReply[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    let lines = '';
    for (const reply of waiting) lines += lineOf(reply);
    waiting = [];
    target.write(lines);
  };
  const add = (reply: LoggedReply) => {
    waiting.push(reply);
    if (isStopped || waiting.length >= flushAtReplies) flush();
    else timer ??= setTimeout(flush, flushEveryMs).unref();
  };
  return {
    handle: (req, res) => {
      const startedMs = performance.now();
      const requestId = requestIdOf(req);
      res.once('close', () => {
        const durationMs = performance.now() - startedMs;
        add({ req, requestId, status: toldStatus(res), aborted: breakReasonOf(res), atMs: Date.now(), durationMs });
      });
      handle(req, res);
    },
    stop() {
      isStopped = true;
      flush();
    },
  };
}

function lineOf({ req, requestId, status, aborted, atMs, durationMs }: LoggedReply): string {
  const keyId = req[keyOfRequest];
  return `{"level":${infoLevel},"time":"${new Date(atMs).toISOString()}","requestId":"${requestId}","method":"${req.method}","path":${shownPath(
    req.url ?? '/',
  )},"status":${status},"durationMs":${Math.round(durationMs * 10) / 10}${keyId === undefined ? '' : `,"keyId":"${keyId}"`}${
    aborted === undefined ? '' : `,"aborted":"${aborted}"`
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

/** Where the logger's finished lines go: http/log/logging.ts gave it, so it hides secrets. */
function streamOf(logger: Logger): { write(lines: string): void } {
  const stream: unknown = (logger as unknown as Record<symbol, unknown>)[symbols.streamSym];
  if (typeof stream !== 'object' || stream === null || !('write' in stream)) throw new Error('the logger writes nowhere');
  return stream as { write(lines: string): void };
}
