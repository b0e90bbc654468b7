interface ErrorKind {
  readonly status: number;
  /** The `type` member of the common error object. */
  readonly type: string;
}

const invalid = (status: number): ErrorKind => ({ status, type: 'invalid_request_error' });
const server = (status: number): ErrorKind => ({ status, type: 'server_error' });

/**
 * Every failure a caller can see, the HTTP status REST gives it, and its type on the wire. The only list of codes.
 * GraphQL shows the key as `extensions.code`; REST shows it in lower case as `error.code`.
 */
export const errorCodes = {
  INVALID_JSON: invalid(400),
  MISSING_REQUIRED_PARAMETER: invalid(400),
  INVALID_TYPE: invalid(400),
  INVALID_VALUE: invalid(400),
  EMPTY_ARRAY: invalid(400),
  DUPLICATE_TOOL_NAME: invalid(400),
  TOOL_NAME_CONFLICT: invalid(400),
  UNKNOWN_TOOL_TYPE: invalid(400),
  /** A tool that the contract knows and this installation does not serve. */
  TOOL_NOT_AVAILABLE: invalid(400),
  /** `tool_choice` forces a call of an MCP server that cannot be used. */
  MCP_UNAVAILABLE: invalid(400),
  /** A value that the contract knows and that would have no effect here. */
  UNSUPPORTED_VALUE: invalid(400),
  CONTEXT_LENGTH_EXCEEDED: invalid(400),
  MUTUALLY_EXCLUSIVE_PARAMETERS: invalid(400),
  /** The reply would be larger than REPLY_MAX_BYTES. */
  REPLY_TOO_LARGE: invalid(400),
  PREVIOUS_RESPONSE_NOT_FOUND: invalid(400),
  /** `options.flow.override` names no flow, or no version, that may answer. */
  FLOW_NOT_FOUND: invalid(400),
  CONTENT_FILTER: invalid(400),
  WEBSOCKET_CONNECTION_LIMIT_REACHED: invalid(400),
  /** The bytes are no valid HTTP. */
  MALFORMED_REQUEST: invalid(400),
  INVALID_API_KEY: invalid(401),
  INSUFFICIENT_SCOPE: { status: 403, type: 'permission_error' },
  FORBIDDEN: { status: 403, type: 'permission_error' },
  /** The role of the caller changed while a subscription was open. */
  RIGHTS_CHANGED: { status: 403, type: 'permission_error' },
  NOT_FOUND: { status: 404, type: 'not_found' },
  MODEL_NOT_FOUND: invalid(404),
  METHOD_NOT_ALLOWED: invalid(405),
  NOT_ACCEPTABLE: invalid(406),
  REQUEST_TIMEOUT: invalid(408),
  CONFLICT: invalid(409),
  RUN_ACTIVE: invalid(409),
  TOOL_OUTPUT_CONFLICT: invalid(409),
  RESPONSE_NOT_ACTIVE: invalid(409),
  RESPONSE_NOT_PAUSED: invalid(409),
  IDEMPOTENCY_IN_PROGRESS: invalid(409),
  REQUEST_TOO_LARGE: invalid(413),
  UNSUPPORTED_MEDIA_TYPE: invalid(415),
  IDEMPOTENCY_MISMATCH: invalid(422),
  /** The agent's flow came to no answer. */
  FLOW_FAILED: invalid(422),
  HEADERS_TOO_LARGE: invalid(431),
  THREAD_QUEUE_FULL: { status: 429, type: 'rate_limit_error' },
  RATE_LIMIT_EXCEEDED: { status: 429, type: 'rate_limit_error' },
  INSUFFICIENT_QUOTA: { status: 429, type: 'insufficient_quota' },
  CLIENT_CLOSED_REQUEST: invalid(499),
  SERVER_ERROR: server(500),
  /** The process that called a tool died. Whether the call took effect is unknown, and it must not be repeated. */
  TOOL_OUTCOME_UNKNOWN: server(500),
  /** The model's answer does not have the requested form. */
  MODEL_ERROR: server(502),
  UPSTREAM_ERROR: server(502),
  OVERLOADED: server(503),
  UPSTREAM_TIMEOUT: server(504),
  STORAGE_FULL: server(507),
} as const satisfies Record<string, ErrorKind>;
export type ErrorCode = keyof typeof errorCodes;

/** What a value must fit, as keywords of JSON Schema. GraphQL shows them, so that a front end can say them beside its field. */
export interface Allowed {
  readonly type?: 'integer';
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** Characters of a text. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Items of a list. */
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface ErrorDetail {
  /** The member that was wrong, as the caller wrote it: `messages[2].content`. */
  readonly param?: string;
  /** What the member must fit, where that is known. */
  readonly allowed?: Allowed;
  /** Seconds after which another try may succeed; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** The budget that refused a call. */
  readonly budgetId?: string;
  /** How to get a key or a token; becomes `WWW-Authenticate`. */
  readonly challenge?: string;
  /** Every fault of a body when there are several; `param` and `message` repeat the first. */
  readonly faults?: readonly Fault[];
}

export interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly param: string;
  readonly allowed?: Allowed;
}

/** A failure the caller can act on. Anything else thrown is a bug: logged whole, shown as SERVER_ERROR with the request id. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message);
    this.code = code;
    this.detail = detail;
  }
}

/** For a number that must be whole and within bounds. */
export function outOfRange(param: string, min: number, max: number): DomainError {
  return new DomainError('INVALID_VALUE', `${param} must be from ${min} to ${max}`, { param, allowed: allowedRange(min, max) });
}

export function allowedRange(minimum: number, maximum: number, isWhole = true): Allowed {
  return isWhole ? { type: 'integer', minimum, maximum } : { minimum, maximum };
}

/** For a text that is too long. */
export function tooLong(param: string, maxLength: number): DomainError {
  const message = `${param} must have at most ${maxLength} characters`;
  return new DomainError('INVALID_VALUE', message, { param, allowed: { maxLength } });
}

/** A failure as every API shows it. */
export interface PublicError {
  readonly status: number;
  readonly type: string;
  /** As in `errorCodes`, upper case. */
  readonly code: ErrorCode;
  readonly message: string;
  readonly param: string | null;
  readonly detail: ErrorDetail;
  /** The body of a format that has another error object. @param requestId  null where one reply is made for many requests. */
  readonly toBody?: (error: PublicError, requestId: string | null) => object;
}

/** The one translation of a failure into its public form: unknown errors lose their message. */
export function publicError(error: unknown): PublicError {
  if (error instanceof DomainError) {
    return {
      ...errorCodes[error.code],
      code: error.code,
      message: error.message,
      param: error.detail.param ?? null,
      detail: error.detail,
    };
  }
  if (isDiskFull(error)) {
    return {
      ...errorCodes.STORAGE_FULL,
      code: 'STORAGE_FULL',
      message: 'The service has no room left to store this; nothing was kept, and it works again once there is room',
      param: null,
      detail: {},
    };
  }
  if (isOutOfTime(error)) {
    return {
      ...errorCodes.OVERLOADED,
      code: 'OVERLOADED',
      message: 'The database took longer for this than it may; ask for less, or try again shortly',
      param: null,
      detail: { retryAfterSeconds: 1 },
    };
  }
  if (isDatabaseAway(error)) {
    return {
      ...errorCodes.OVERLOADED,
      code: 'OVERLOADED',
      message: 'The service does not reach its database at the moment; try again shortly',
      param: null,
      detail: { retryAfterSeconds: 1 },
    };
  }
  return {
    ...errorCodes.SERVER_ERROR,
    code: 'SERVER_ERROR',
    message: 'Something went wrong on our side; the request id finds it in the logs',
    param: null,
    detail: {},
  };
}

/** Whether a call was refused for want of a valid key. */
export function isWithoutKey(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'INVALID_API_KEY';
}

/** Of the file system (a quota is as good as a full disk), or of the database, which has a number for it. */
const diskFullCodes: readonly unknown[] = ['ENOSPC', 'EDQUOT', '53100'];
/** Of the network; of PostgreSQL: stopped, starting, connection lost, no connection left; of Prisma: not reached, closed, no connection. */
const databaseAwayCodes: readonly unknown[] = [
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH'],
  ...['57P01', '57P02', '57P03', '08000', '08001', '08003', '08006', '53300', 'P1001', 'P1017', 'P2024'],
];
/** Of PostgreSQL: a statement exceeded its time limit. */
const outOfTimeCode = '57014';
const causesMax = 5;

function isDiskFull(error: unknown): boolean {
  return listCauses(error).some((cause) => listCodes(cause).some((code) => diskFullCodes.includes(code)));
}

function isOutOfTime(error: unknown): boolean {
  return listCauses(error).some((cause) => listCodes(cause).includes(outOfTimeCode));
}

/** Broken and refused connections, and a server that stops, starts or has none to give; the client library has no code for its own. */
function isDatabaseAway(error: unknown): boolean {
  return listCauses(error).some(
    (cause) =>
      listCodes(cause).some((code) => databaseAwayCodes.includes(code)) ||
      /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/.test(
        cause.message,
      ),
  );
}

/** What the driver of Prisma says of an error of the database: an object beside the error, not an error. */
interface DriverError {
  readonly cause?: { readonly originalCode?: unknown };
}

/** Its code, and the database's own, which Prisma keeps behind one of its own; at the begin and the end of a transaction Prisma passes the driver's error on. */
function listCodes(error: Error): readonly unknown[] {
  const { code, meta, cause } = error as DriverError & { code?: unknown; meta?: { driverAdapterError?: DriverError } };
  return [code, meta?.driverAdapterError?.cause?.originalCode, cause?.originalCode].filter(
    (errorCode) => errorCode !== undefined,
  );
}

function listCauses(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let cause = error; causes.length < causesMax && cause instanceof Error; cause = cause.cause) causes.push(cause);
  return causes;
}

/** `{"error":{…}}` as v1, completions and v2 show it. */
export function errorBody(error: PublicError): { error: { message: string; type: string; param: string | null; code: string } } {
  return { error: { message: error.message, type: error.type, param: error.param, code: error.code.toLowerCase() } };
}
