import type { Readable } from 'node:stream';
import type { Deps } from '../domain/deps.ts';
import type { Faults } from '../domain/ground/faults.ts';
import type { PublicError } from '../entities/ground/errors.ts';
import type { Caller } from '../entities/people/caller.ts';
import type { StreamEncoderFactory, Variables, WireReply } from '../wire/ground/encoder.ts';
import type { RequestForm } from '../wire/ground/request-form.ts';
import type { MemberShape } from '../wire/ground/shape.ts';
import type { HeaderClient } from './header-client.ts';

/**
 * One REST operation as data: the declaration of a route. Declarations are parsed and checked against the schema at start: the server does
 * not start with a wrong one.
 *
 * - Every `{name}` of `path` and every member of `query` is a variable of `document` with that name; text is coerced to its type.
 * - `document` is one static operation with exactly one root field. It is executed, and its aliases are the reply mapping
 *   (`nextRunAt: next_run_at`). A route with `reply` or `stream` has a reply of a third-party format: the resolver of the root field is called
 *   without a selection, and the encoder in wire/ makes the reply of what it gives: a value, or the events of a subscription.
 * - The key's scope is not repeated here: it is that of the root field (domain/ground/access/operation-scopes.ts).
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
  /**
   * What only REST says of a call: resolvers find it in `terms` of their context, encoders among the variables. A name of the path or of the query that the document does not have,
   * or else a field of the form, with its type; or `true`, which every call of the route says.
   */
  readonly terms?: Readonly<Record<string, TermType>>;
  /** The body is of another format than the input of the document, and is read by its own schema. */
  readonly form?: RequestForm;
  /** Clients whose key and version come in headers of their own. */
  readonly client?: HeaderClient;
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
  /** The member of the root field's value that is the reply, where a payload of GraphQL says more. What the document selects beside it stands in it. */
  readonly member?: string;
  /** `data`: a list or a connection's nodes under `data`. Default: the root field's value is the body. */
  readonly wrap?: 'data';
  /**
   * Further members next to `data`, from a connection that selects `pageInfo { hasNextPage endCursor }` or `totalCount`:
   * `pagination: {nextCursor}`, `total` with `nextCursor`, or `nextCursor` alone.
   */
  readonly page?: 'pagination' | 'total' | 'cursor';
  /** Members left out of the reply when null. */
  readonly omitNull?: readonly string[];
  /** Members that REST shows as an empty text when they are null, with what OpenAPI says of each. */
  readonly blankNull?: Readonly<Record<string, string>>;
  /** Members that are a connection in the document and the list of its nodes in the reply, with what OpenAPI says of each. */
  readonly lists?: Readonly<Record<string, string>>;
  /**
   * Members that REST shows in another form than GraphQL: the document selects under their names what they are made of. One that is `unshown`
   * is selected for the shapes beside it. Here and in `blankNull`, `Chat.name` is the member of one type, for OpenAPI.
   */
  readonly shapes?: Readonly<Record<string, MemberShape | 'unshown'>>;
  /** The operation is one that the common format does not have: the id of its behavior (docs/responses.md). */
  readonly extension?: string;
  /** The encoder of the reply; default: what the document selects. */
  readonly reply?: WireReply;
  /**
   * Names of the reply's component schemas in OpenAPI, by GraphQL type, where another route selects other members of the type:
   * `{ Chat: 'ChatDetail' }`.
   */
  readonly schemas?: Readonly<Record<string, string>>;
  /** Answers as SSE when `when` says so. */
  readonly stream?: StreamReply;
  /** The reply is bytes, served inert: the document says who may have them and that they are there, then this opens them. */
  readonly download?: OpenDownload;
  /** What the encoder of the reply shows, where the schema has it in another form only: the document says which scope reads it. */
  readonly read?: (deps: Deps, caller: Caller, variables: Variables) => Promise<unknown>;
  /** How the format of this route shows a failure; default: the common error object. */
  readonly errorForm?: (shownError: PublicError) => PublicError;
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

export type TermType = 'ID' | 'String' | 'String!' | 'String[]' | 'Int' | 'Boolean' | true;

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
  /**
   * The encoder numbers its own frames and always gets the whole stream. Under `lastFrame` it finds the number of `Last-Event-ID`
   * (`<runId>:<frame>`), from a client that reconnects.
   */
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
