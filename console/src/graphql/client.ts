import { type Fault, ParleyError, upload as sendForm, type UploadOptions } from '@parley/client';
import {
  type CombinedError,
  cacheExchange,
  createClient,
  createRequest,
  fetchExchange,
  makeOperation,
  mapExchange,
} from '@urql/core';
import type { Document } from './document.ts';
import { nextMoment, stampReply } from './readings.ts';

/** Every request of a session needs a header that no form of another site can send. */
const headers = { 'graphql-require-preflight': 'true' };

const endedListeners = new Set<() => void>();

/** Calls back when the service says that the session is over. @returns a function that stops it. */
export function onSessionEnded(listener: () => void): () => void {
  endedListeners.add(listener);
  return () => endedListeners.delete(listener);
}

/** Tells the rest of the console that the session is over. */
function reportSessionEnded(): void {
  for (const listener of endedListeners) listener();
}

const doubtListeners = new Set<() => void>();

/** Calls back when the service refused something for want of a right: the role of the person may have changed. @returns a function that stops it. */
export function onRightsDoubted(listener: () => void): () => void {
  doubtListeners.add(listener);
  return () => doubtListeners.delete(listener);
}

/** Looks at an error for what it says of the session as a whole. */
export function noteSession(error: ParleyError): void {
  if (isUnauthenticated(error)) reportSessionEnded();
  if (error.code === 'FORBIDDEN') for (const listener of doubtListeners) listener();
}

const service = { url: '/graphql', preferGetMethod: false, fetchOptions: { headers, credentials: 'same-origin' } } as const;
const sessionExchange = mapExchange({
  onResult: ({ error }) => {
    if (error !== undefined) noteSession(toParleyError(error));
  },
});

const queryMoments = new Map<number, number>();
let lastMutation = 0;
/** Notes when each query was sent. One that a mutation overtook is asked again: its reply may be older than what was changed. */
const orderExchange = mapExchange({
  onOperation: ({ kind, key }) => {
    if (kind === 'query') queryMoments.set(key, nextMoment());
  },
  onResult: ({ operation, data }) => {
    if (operation.kind === 'mutation') lastMutation = nextMoment();
    const moment = queryMoments.get(operation.key);
    if (operation.kind !== 'query' || moment === undefined) return;
    stampReply(data, moment);
    if (moment >= lastMutation) return;
    // Once this reply is taken: a query that is on its way is not sent twice.
    void Promise.resolve().then(() =>
      client.reexecuteOperation(makeOperation('query', operation, { ...operation.context, requestPolicy: 'network-only' })),
    );
  },
});

/** The client of pages and mutations. Its document cache asks a query again when a mutation returned a type that the query shows. */
export const client = createClient({ ...service, exchanges: [sessionExchange, cacheExchange, orderExchange, fetchExchange] });

const stampExchange = mapExchange({
  onOperation: ({ key }) => void queryMoments.set(key, nextMoment()),
  onResult: ({ operation: { key }, data }) => {
    stampReply(data, queryMoments.get(key) ?? 0);
    queryMoments.delete(key);
  },
});
/** Sends queries past the cache. */
const uncachedClient = createClient({ ...service, exchanges: [sessionExchange, stampExchange, fetchExchange] });
let queriesSent = 0;

/** A query of its own: urql gives one that is asked twice at a time the reply of the first, which may be older than what made the second necessary. */
function sendQuery<Result, Variables extends object>(document: Document<Result, Variables>, variables: Variables) {
  queriesSent += 1;
  const request = { ...createRequest<Result, Variables>(document, variables), key: queriesSent };
  return uncachedClient.executeQuery<Result>(request, { requestPolicy: 'network-only' });
}

/**
 * Runs a mutation, or a query past the cache.
 *
 * @throws ParleyError with words for the reader, when the service refuses or does not answer.
 */
export async function run<Result, Variables extends object>(
  document: Document<Result, Variables>,
  variables: Variables,
): Promise<Result> {
  const isMutation = document.startsWith('mutation');
  const { data, error } = isMutation
    ? await client.mutation<Result>(document, variables).toPromise()
    : await sendQuery(document, variables).toPromise();
  if (error !== undefined) throw toParleyError(error);
  if (data === undefined) throw new ParleyError('The service answered without a result.', { code: 'SERVER_ERROR' });
  return data;
}

/** Runs a mutation with files in its variables, and says how much of them is sent. @throws ParleyError */
export async function upload<Result, Variables>(
  document: Document<Result, Variables>,
  variables: Variables,
  options: UploadOptions = {},
): Promise<Result> {
  try {
    return await sendForm<Result>(
      { url: '/graphql', headers, fetch: (...parts) => fetch(...parts) },
      document,
      variables,
      options,
    );
  } catch (error) {
    if (error instanceof ParleyError) {
      noteSession(error);
      throw error;
    }
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ParleyError('The service does not answer.', { code: 'NO_ANSWER' });
  }
}

export function isUnauthenticated({ code, status }: ParleyError): boolean {
  return code === 'UNAUTHENTICATED' || code === 'INVALID_API_KEY' || status === 401;
}

/** An error of urql as the one kind of error of the console. */
export function toParleyError(error: CombinedError): ParleyError {
  const [first] = error.graphQLErrors;
  if (first === undefined) {
    const response: unknown = error.response;
    const status = response instanceof Response ? response.status : undefined;
    if (status === undefined || status === 200)
      return new ParleyError('The service does not answer.', { code: 'NO_ANSWER', status });
    return new ParleyError(`The service answered with status ${status}.`, { status });
  }
  const { code, faults, requestId, retryAfterSeconds } = first.extensions as {
    readonly code?: string;
    readonly faults?: readonly Fault[];
    readonly requestId?: string;
    readonly retryAfterSeconds?: number;
  };
  return new ParleyError(first.message, {
    code,
    ...(faults === undefined ? {} : { faults }),
    requestId,
    retryAfterSeconds,
  });
}

/** Whatever was thrown, as an error with words for the reader. */
export function readableError(cause: unknown): ParleyError {
  if (cause instanceof ParleyError) return cause;
  return new ParleyError(cause instanceof Error ? cause.message : String(cause));
}
