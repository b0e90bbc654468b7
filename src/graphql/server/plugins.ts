import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention';
import { type DocumentNode, GraphQLError, getOperationAST } from 'graphql';
import { DomainError, publicError } from '../../entities/errors.ts';
import { type ErrorContext, presentError, rootCause } from '../errors.ts';
import type { Call, CallPlugin, ServerContext } from './call.ts';

/** Any of these shows that a browser has asked first whether it may send the request. Parley allows it for the origins of CORS_ORIGINS only. */
const preflightHeaders = ['x-graphql-yoga-csrf', 'apollo-require-preflight', 'graphql-require-preflight', 'x-requested-with'];

/** A GET needs no header: its key stands in a header that a browser never sends to another site without asking. */
export function useCsrfPrevention(): CallPlugin {
  const { onRequestParse } = useCSRFPrevention({ requestHeaders: preflightHeaders });
  return {
    onRequestParse: async (payload) => {
      if (payload.request.method === 'GET') return;
      try {
        await onRequestParse?.(payload);
      } catch {
        throw new DomainError('FORBIDDEN', `A body that is not JSON needs one of the headers ${preflightHeaders.join(', ')}`);
      }
    },
  };
}

/** Notes for the metrics what kind of operation a request asks for. */
export function useKindNotes(): CallPlugin {
  return {
    onParse:
      () =>
      ({ result, context }) => {
        if (result === null || result instanceof Error) return;
        const { call, params } = context as unknown as { call: Call; params: { operationName?: string | null } };
        call.measuredAs = getOperationAST(result as DocumentNode, params.operationName)?.operation ?? 'none';
      },
  };
}

/** Refuses what Yoga lets through, and in its place what graphql-sse refuses without saying why. */
export function useRefusals(): CallPlugin {
  return {
    onParams: ({ params: { operationName } }) => {
      if (operationName === undefined || operationName === null || typeof operationName === 'string') return;
      throw new GraphQLError('operationName must be a string', { extensions: { code: 'BAD_REQUEST' } });
    },
    onValidate:
      () =>
      ({ valid, result, context }) => {
        const { call } = context as unknown as ServerContext;
        if (!valid && call.isStreamPath) call.refusal = result as readonly unknown[];
      },
  };
}

/**
 * Presents the errors of replies that Yoga makes. Its own masking is told nothing of the request, whose id stands in each error. A request
 * that was not run is refused with its status also where the client asked for an event stream.
 */
export function usePresentedErrors(): CallPlugin {
  return {
    onResultProcess: ({ request, result, setResult, serverContext: { call } }) => {
      if (!('errors' in result) || result.errors === undefined) return;
      const isRefused = !('data' in result) && result.errors.every(({ path }) => path === undefined);
      if (isRefused && request.headers.get('accept')?.includes('text/event-stream') === true) call.refusal ??= result.errors;
      // An operation that was run is answered with 200, also where its reply is too large.
      const present = 'data' in result ? presentError : withStatus;
      setResult({ ...result, errors: result.errors.map((error) => present(error, call.errors)) });
    },
  };
}

function withStatus(error: GraphQLError, context: ErrorContext): GraphQLError {
  const shown = presentError(error, context);
  if (shown.path !== undefined) return shown;
  const { message, nodes = null, source = null, positions = null, extensions } = shown;
  return new GraphQLError(message, { nodes, source, positions, extensions: { ...extensions, http: httpOf(error) } });
}

interface ErrorHttp {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the specification answers application/json with 200. */
  readonly spec?: boolean;
}

/** The status and the headers that an error gives its reply. A request that was never run is the caller's mistake. */
export function httpOf(error: unknown): ErrorHttp {
  const cause = rootCause(error);
  if (cause instanceof GraphQLError) {
    const { http = { status: 400 }, code } = cause.extensions;
    // Yoga says this of requests that are not well-formed.
    return { ...(http as ErrorHttp), spec: code !== 'BAD_REQUEST' };
  }
  const { status, detail } = publicError(cause);
  const headers: Record<string, string> = {};
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (detail.retryAfterSeconds !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(detail.retryAfterSeconds)));
  return { status, headers };
}
