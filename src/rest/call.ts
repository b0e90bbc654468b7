import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Upload } from '../http/body/upload.ts';
import type { CallContext } from '../http/context.ts';
import type { MadeRefusals } from '../http/limits.ts';
import type { RouteMeter } from '../http/log/metrics.ts';
import type { Route } from './compile.ts';
import type { RouteRow } from './route.ts';
import { type RequestParts, streamMember } from './variables.ts';

/** A route as the face serves it. */
export interface Served {
  readonly route: Route;
  readonly meter: RouteMeter;
  /** Flat list of the row's own headers. */
  readonly headers: readonly string[];
  /** Where every call of it holds a run, and can be refused unread: with what. */
  readonly refusals: MadeRefusals | undefined;
}

/** One request on its way. */
export interface Call {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  readonly served: Served;
  readonly path: readonly string[];
  readonly query: string;
  readonly context: CallContext;
  /** The most bytes that whoever opened the door for this call allows. */
  readonly sizeBytesMax: number;
}

export function requestParts(call: Call, body: unknown, upload?: Upload): RequestParts {
  const { stream } = call.served.route.row;
  const resumeAfter = stream?.resume === undefined && stream?.resumesFrames !== true ? undefined : lastEventSequence(call.req);
  return {
    path: call.path,
    query: call.query,
    body,
    ...(upload === undefined ? {} : { upload }),
    ...(resumeAfter === undefined ? {} : { resumeAfter }),
  };
}

/** Sequence numbers are written `<runId>:<sequence>`. What is not of that form is as good as no header, as the standard has it. */
function lastEventSequence(req: IncomingMessage): number | undefined {
  const given = req.headers['last-event-id'];
  const digits = typeof given === 'string' ? /(?:^|:)(\d{1,9})$/.exec(given)?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}

/** What opens the door instead of a key. Whoever sends a key as well is asked for that. */
export function ticketOf(row: RouteRow, req: IncomingMessage, query: string): string | undefined {
  if (row.ticket === undefined || req.headers.authorization !== undefined) return undefined;
  return new URLSearchParams(query).get(row.ticket) ?? undefined;
}

export function isJson(req: IncomingMessage): boolean {
  return !/^multipart\//i.test(req.headers['content-type'] ?? '');
}

export function wantsStream(row: RouteRow, { req, query }: Call, body: unknown): boolean {
  if (row.stream === undefined) return false;
  if (row.stream.when === 'always') return true;
  if (row.stream.when === 'query') return new URLSearchParams(query).get('stream') === 'true';
  const asked = streamMember(body);
  if (asked === true) return true;
  if (row.stream.when !== 'stream-or-accept' || asked === false) return false;
  return (req.headers.accept ?? '').includes('text/event-stream');
}
