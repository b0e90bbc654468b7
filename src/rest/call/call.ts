import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Response } from 'express';
import type { Upload } from '../../http/body/upload.ts';
import type { CallContext } from '../../http/context.ts';
import type { Route } from '../compile.ts';
import { type RequestParts, streamMember } from '../input/variables.ts';
import type { DeclaredRoute } from '../route.ts';

/** One authenticated request of a route. */
export interface Call {
  readonly req: IncomingMessage;
  readonly res: Response;
  readonly route: Route;
  readonly context: CallContext;
  readonly path: PathValues;
  /** What follows the `?`. */
  readonly query: string;
  /** The largest file that the upload ticket allows; Infinity without a ticket. */
  readonly fileMaxBytes: number;
  body: CallBody;
}

export interface CallBody {
  /** The parsed JSON; undefined without. */
  readonly value?: unknown;
  /** The JSON text; '' without. */
  readonly text: string;
  readonly upload?: Upload;
  /** Lets go of the upload and its place. */
  dispose?(): Promise<void>;
}

/** The variable parts of a path, decoded. */
export type PathValues = Readonly<Record<string, string>>;

/** A middleware of a route. `authenticate` makes the call; the middleware after it finds the call in `res.locals`. */
export type Step = RequestHandler<PathValues, unknown, unknown, unknown, { call: Call }>;

/** The parts of a request that become variables. */
export function requestParts({ req, route, path, query, body }: Call): RequestParts {
  const { stream } = route.row;
  const resumeAfter = stream?.resumesFrames === true ? lastEventSequence(req) : undefined;
  return {
    path,
    query,
    body: body.value,
    ...(body.upload === undefined ? {} : { upload: body.upload }),
    ...(resumeAfter === undefined ? {} : { resumeAfter }),
  };
}

/** The sequence number of `Last-Event-ID: <runId>:<sequence>`. A value of another form counts as no header, as the standard says. */
function lastEventSequence(req: IncomingMessage): number | undefined {
  const lastEventId = req.headers['last-event-id'];
  const digits = typeof lastEventId === 'string' ? /(?:^|:)(\d{1,9})$/.exec(lastEventId)?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}

/** The ticket that admits a request instead of a key. A request that also has a key is authenticated by the key. */
export function readTicket(row: DeclaredRoute, req: IncomingMessage): string | undefined {
  if (row.ticket === undefined || req.headers.authorization !== undefined) return undefined;
  return new URLSearchParams(readQuery(req)).get(row.ticket) ?? undefined;
}

export function readQuery({ url = '' }: IncomingMessage): string {
  const split = url.indexOf('?');
  return split === -1 ? '' : url.slice(split + 1);
}

export function wantsStream({ req, route: { row }, query, body }: Call): boolean {
  if (row.stream === undefined) return false;
  if (row.stream.when === 'always') return true;
  if (row.stream.when === 'query') return new URLSearchParams(query).get('stream') === 'true';
  const streamValue = streamMember(body.value);
  if (streamValue === true) return true;
  if (row.stream.when !== 'stream-or-accept' || streamValue === false) return false;
  return (req.headers.accept ?? '').includes('text/event-stream');
}
