import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import type { Tracing } from '../../engine/tracing/tracing.ts';
import { type BreakReason, findBreakReason, reportedStatus } from '../connections/connection.ts';
import { findRequestId } from '../context.ts';
import { loggedPath } from './logged-path.ts';
import type { ServiceLogger } from './logging.ts';
import { beginRequestSpan, endRequestSpan } from './request-trace.ts';

const flushEveryMs = 100;
const flushAtReplies = 500;
const infoLevel = 30;

const keyOfRequest = Symbol('keyId');

/** Notes the key of a request for its log line. */
export function noteKey(req: IncomingMessage, keyId: string): void {
  (req as NotedRequest)[keyOfRequest] = keyId;
}

interface NotedRequest extends IncomingMessage {
  [keyOfRequest]?: string;
}

/** Begins every request. At the end of its reply: one log line (who, what, status, duration; no query, header or body) and one measurement. */
export interface AccessLog {
  readonly begin: RequestHandler;
  /** Writes the waiting lines. Later lines are written at once. */
  stop(): void;
}

/** What the log line of a reply is made of. Without the request: it would hold everything of a call until the lines are written. */
interface LoggedReply {
  readonly method: string;
  readonly url: string;
  readonly keyId: string | undefined;
  readonly requestId: string;
  /** Undefined while tracing is off. */
  readonly traceId: string | undefined;
  readonly status: number;
  /** Why the client did not get the reply whole. */
  readonly aborted: BreakReason | undefined;
  readonly atMs: number;
  readonly durationMs: number;
}

/**
 * Makes the first middleware of the application. Lines are put together by hand, many at a time and behind the replies: through the logger
 * each would cost several times the rest of a small request.
 *
 * @param write  takes finished lines and hides secrets in them; undefined: no reply is logged.
 */
export function createAccessLog(write: ServiceLogger['writeLines'] | undefined, tracing?: Tracing): AccessLog {
  let waiting: LoggedReply[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    let lines = '';
    for (const reply of waiting) lines += writeLine(reply);
    waiting = [];
    write?.(lines);
  };
  const add = (reply: LoggedReply) => {
    waiting.push(reply);
    if (isStopped || waiting.length >= flushAtReplies) flush();
    else timer ??= setTimeout(flush, flushEveryMs).unref();
  };
  return {
    begin: (req, res, next) => {
      const startedMs = performance.now();
      res.locals = { startedMs };
      const span = tracing === undefined ? undefined : beginRequestSpan(tracing, req, req.originalUrl);
      res.once('close', () => {
        const { meter } = res.locals;
        const status = reportedStatus(res);
        meter?.finished(status, startedMs);
        if (span !== undefined) endRequestSpan(span, req, res, meter);
        if (write === undefined) return;
        const durationMs = performance.now() - startedMs;
        const traceId = span?.spanContext().traceId;
        const { method, originalUrl: url, [keyOfRequest]: keyId } = req as NotedRequest & Request;
        const aborted = findBreakReason(res);
        add({ method, url, keyId, requestId: findRequestId(req), traceId, status, aborted, atMs: Date.now(), durationMs });
      });
      if (span === undefined) next();
      else tracing?.within(span, next);
    },
    stop() {
      isStopped = true;
      flush();
    },
  };
}

function writeLine({
  method,
  url,
  keyId,
  requestId,
  traceId,
  status,
  aborted: abortReason,
  atMs,
  durationMs,
}: LoggedReply): string {
  return `{"level":${infoLevel},"time":"${new Date(atMs).toISOString()}","requestId":"${requestId}","method":"${method}","path":${JSON.stringify(
    loggedPath(url),
  )},"status":${status},"durationMs":${Math.round(durationMs * 10) / 10}${keyId === undefined ? '' : `,"keyId":"${keyId}"`}${
    abortReason === undefined ? '' : `,"aborted":"${abortReason}"`
  }${traceId === undefined ? '' : `,"traceId":"${traceId}"`},"msg":"reply"}\n`;
}
