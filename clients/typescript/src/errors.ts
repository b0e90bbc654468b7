/** A value of a request that is wrong. */
export interface Fault {
  /** Its place: `input.tools.0.url` for GraphQL, `tools[0].url` for REST; null when it has none. */
  readonly path: string | null;
  readonly code: string;
  readonly message: string;
  /** What the value must fit, as keywords of JSON Schema, such as `enum` or `maximum`; null when the service does not say. */
  readonly allowed?: Readonly<Record<string, unknown>> | null;
}

/** A failure that the service told. */
export class ParleyError extends Error {
  override readonly name = 'ParleyError';
  /** The status of HTTP; undefined for an error inside of a GraphQL result. */
  readonly status: number | undefined;
  /** For programs, such as `not_found`. */
  readonly code: string | undefined;
  /** The first value that was wrong: the path of the first fault. */
  readonly param: string | undefined;
  /** Every value that was wrong. */
  readonly faults: readonly Fault[];
  /** Seconds after which another try may succeed. */
  readonly retryAfterSeconds: number | undefined;
  /** Names the request in the logs of the service. */
  readonly requestId: string | undefined;

  constructor(
    message: string,
    { status, code, faults = [], requestId, retryAfterSeconds }: Partial<Omit<ParleyError, keyof Error | 'param'>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = faults[0]?.path ?? undefined;
    this.faults = faults;
    this.retryAfterSeconds = retryAfterSeconds;
    this.requestId = requestId;
  }
}

interface GraphqlError {
  readonly message: string;
  readonly extensions?: {
    readonly code?: string;
    readonly faults?: readonly Fault[];
    readonly requestId?: string;
    readonly retryAfterSeconds?: number;
  };
}
export interface GraphqlResult {
  readonly data?: unknown;
  readonly errors?: readonly GraphqlError[];
}
interface RestError {
  readonly message: string;
  readonly code: string;
  readonly param?: string | null;
  readonly errors?: readonly RestError[];
}

/** The data of a result. @throws ParleyError with the faults of all its errors. */
export function resultOf<Result>({ data, errors }: GraphqlResult): Result {
  if (errors !== undefined && errors.length > 0) throw graphqlError(errors);
  return data as Result;
}

/** What the head of a reply says. */
export interface ReplyHead {
  readonly status: number;
  readonly header: (name: string) => string | null;
}

/** The error of a reply that is none of 2xx. @param text  its body. */
export function errorOf({ status, header }: ReplyHead, text: string): ParleyError {
  const body = parsed(text) as ({ readonly error?: RestError } & GraphqlResult) | undefined;
  if (body?.errors !== undefined) return graphqlError(body.errors, status);
  const { error } = body ?? {};
  const requestId = header('x-request-id');
  const retryAfter = Number(header('retry-after'));
  return new ParleyError(error?.message ?? `The service answered ${status}`, {
    status,
    ...(error === undefined ? {} : { code: error.code, faults: restFaults(error) }),
    ...(requestId === null ? {} : { requestId }),
    ...(retryAfter > 0 ? { retryAfterSeconds: retryAfter } : {}),
  });
}

function graphqlError(errors: readonly GraphqlError[], status?: number): ParleyError {
  const [first] = errors;
  const faults = errors.flatMap(({ extensions }) => extensions?.faults ?? []);
  return new ParleyError(first?.message ?? 'The service told no error', {
    ...first?.extensions,
    faults,
    ...(status === undefined ? {} : { status }),
  });
}

function restFaults({ errors, ...first }: RestError): readonly Fault[] {
  const all = errors ?? (typeof first.param === 'string' ? [first] : []);
  return all.map(({ code, message, param }) => ({ path: param ?? null, code, message }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
