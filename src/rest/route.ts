import type { Readable } from 'node:stream';
import type { Deps } from '../domain/deps.ts';
import type { Faults } from '../domain/faults.ts';
import type { Caller } from '../entities/accounts/caller.ts';
import type { PublicError } from '../entities/errors.ts';
import type { RunEvent } from '../entities/runs/event.ts';

/**
 * One REST operation as data: the declaration of a route. Declarations are parsed and checked against the schema at start: the server does
 * not start with a wrong one.
 *
 * - Every `{name}` of `path` and every member of `query` is a variable of `document` with that name; text is coerced to its type.
 * - `document` is one static operation with exactly one root field. A query or a mutation is executed; its aliases are the reply mapping
 *   (`finish_reason: finishReason`). The events of a subscription are folded into one body (`fold`) or sent by the encoder of `stream`.
 * - The key's scope is not repeated here: it is that of the root field (domain/access/operation-scopes.ts).
 */
export interface DeclaredRoute {
  readonly operationId: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/api/v1/ais/{aiId}`. */
  readonly path: string;
  /** Stock clients of the common format ask for this operation: it is served below each of their base addresses too (paths.ts). */
  readonly forClients?: boolean;
  /** The last name of the path, when its value may hold slashes that the caller did not escape: `provider/name` of a model. */
  readonly slashesIn?: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** The contract's name of this operation; absent for those it does not name. */
  readonly spec?: string;
  readonly document: string;
  /** Query parameters taken, by variable name, with what each means. `limit` and `cursor` of a list are named here too. */
  readonly query?: Readonly<Record<string, string>>;
  /** The variable that the whole JSON body becomes. Members unknown to its input type are ignored. */
  readonly body?: string;
  /** `snake`: members of the body are read in snake_case (camelCase is taken too). Default: camelCase. */
  readonly bodyCase?: 'snake' | 'camel';
  /** Members that are written as GraphQL has them in spite of `bodyCase: 'snake'`: `generateCitations`. */
  readonly camelMembers?: readonly string[];
  /** A multipart upload: `file` becomes the variable of type File, other fields become members of `body` or variables. */
  readonly upload?: {
    readonly file: string;
    readonly sizeBytesMaxSetting: 'UPLOAD_MAX_BYTES' | 'CHAT_FILE_MAX_BYTES';
    /** The body is the file itself instead of a form that holds it; its type is that of the header content-type. */
    readonly isRaw?: boolean;
    /** A JSON body is taken instead of the form: it becomes `body`, and a form brings the file alone. */
    readonly orJson?: boolean;
    /** Form fields that have another name than their variable. */
    readonly formNames?: Readonly<Record<string, string>>;
  };
  /**
   * The query parameter that admits a request without a key: it holds the ticket of a link that the service signed
   * (domain/knowledge/upload-tickets.ts). A request that also has a key is authenticated by the key.
   */
  readonly ticket?: string;
  /** Status of a good reply; default 200. */
  readonly status?: number;
  /** `data`: a list or a connection's nodes under `data`. Default: the root field's value is the body. */
  readonly wrap?: 'data';
  /**
   * Further members next to `data`, from a connection that selects `pageInfo { hasNextPage endCursor }` or `totalCount`:
   * `pagination: {nextCursor}`, `total` with `nextCursor`, or `nextCursor` alone.
   */
  readonly page?: 'pagination' | 'total' | 'cursor';
  /** Members left out of the reply when null. */
  readonly omitNull?: readonly string[];
  /** The operation is one that the common format does not have: the id of its behavior (docs/responses.md). */
  readonly extension?: string;
  /** What the service adds to a common format: left out of the reply, when null, under `x-parley-extensions: off`. */
  readonly extensionMembers?: readonly string[];
  /** Makes the reply from the events of `document`, which is a subscription then: its source stream is read to its end. */
  readonly fold?: FoldFactory;
  /** The wire schema of what `fold` makes, or of a root field that GraphQL calls JSON. */
  readonly reply?: string;
  /** What `fold` makes has the form of this operation's reply. */
  readonly repliesAs?: string;
  /**
   * Names of the reply's component schemas in OpenAPI, by GraphQL type, where another route selects other members of the type:
   * `{ Chat: 'ChatDetail' }`.
   */
  readonly schemas?: Readonly<Record<string, string>>;
  /** Answers as SSE when `when` says so. */
  readonly stream?: StreamReply;
  /** The reply is bytes, served inert: the document says who may have them and that they are there, then this opens them. */
  readonly download?: OpenDownload;
  /** How the format of this route shows a failure; default: the common error object. */
  readonly errorForm?: (shown: PublicError) => PublicError;
  /**
   * Notes faults of the members of the body that could be read, when others could not: one reply then names the faults of both. Without
   * faults, the resolver finds them itself.
   */
  readonly checkBody?: (input: Variables, faults: Faults) => void;
  /** Asks a model, and so may fail as a model does, though it is no run. */
  readonly asksModel?: boolean;
  readonly isDeprecated?: boolean;
  /** Sent with every reply. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers that some replies have, with what each means. */
  readonly replyHeaders?: Readonly<Record<string, string>>;
  /** The declared schemas of the messages of a WebSocket on the same path. */
  readonly socket?: { readonly request: string; readonly event: string };
  /** The largest example body that works, for OpenAPI and for the table-wide tests. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** What OpenAPI shows first: a body in short, the reply to it, and an event of its stream. A test sends the one and compares the others. */
  readonly shown?: RouteExample;
}

export interface RouteExample {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly reply: unknown;
  readonly event?: unknown;
}

export interface StreamReply {
  /**
   * The body member that asks for a stream; `stream-or-accept` also takes `Accept: text/event-stream`; `query` takes `?stream=true`;
   * `always` needs no asking.
   */
  readonly when: 'stream' | 'stream-or-accept' | 'query' | 'always';
  /** A subscription with the same variables; its source stream is read directly, never executed per event. */
  readonly document: string;
  /** The Int variable that takes the sequence number of `Last-Event-ID` (`<runId>:<sequence>`), for a client that reconnects. */
  readonly resume?: string;
  /** Instead of `resume`: the encoder numbers its own frames, always gets the whole stream, and finds that number under `lastFrame`. */
  readonly resumesFrames?: boolean;
  readonly encoder: StreamEncoderFactory;
  /** The wire schema of the `data` of its frames. */
  readonly event?: string;
}

/** Opens what the document found, for its caller. @throws DomainError NOT_FOUND */
export type OpenDownload = (
  deps: Deps,
  caller: Caller,
  variables: Variables,
) => Promise<{
  readonly filename: string;
  readonly contentType?: string;
  readonly sizeBytes: number | null;
  open(): Promise<Readable>;
}>;

/** The request's coerced variables, for what a frame repeats (the model as it was named). */
export type Variables = Readonly<Record<string, unknown>>;

/** Turns batches of run events into the text of SSE frames, one string per batch: one write per upstream read. */
export interface StreamEncoder {
  /** Frames for a batch; '' when there is nothing to send. */
  encode(events: readonly RunEvent[]): string;
  /** Frames that end the stream well. */
  end(): string;
  /** Frames that end the stream after a failure once the head is out. */
  fail(error: unknown): string;
}
export type StreamEncoderFactory = (variables: Variables, context: EncoderContext) => StreamEncoder;

/** What an encoder gets of a call besides its variables. */
export interface EncoderContext {
  readonly requestId: string;
  readonly nowMs: number;
  /** A header of the request. */
  header?(name: string): string | undefined;
  /** What the resolver noted for the reply. */
  readonly notes?: ReadonlyMap<string, string>;
}

/** The fold of a run's events into one JSON body. `headers` are set on the reply. */
export interface RunFold {
  add(events: readonly RunEvent[]): void;
  /** The body as JSON text. @throws DomainError when the run failed. */
  body(): string;
  headers?(): Readonly<Record<string, string>>;
}
export type FoldFactory = (variables: Variables, context: EncoderContext) => RunFold;
