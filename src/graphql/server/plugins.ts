import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention';
import { type ExecutionResult, GraphQLError } from 'graphql';
import { type FetchAPI, isAsyncIterable } from 'graphql-yoga';
import { DomainError, publicError } from '../../entities/ground/errors.ts';
import { preflightHeaders } from '../../http/authenticate/session-cookie.ts';
import { errorHeaders, type MadeError, unwrapError } from '../../http/errors.ts';
import { documentFaults } from '../ground/errors/document-faults.ts';
import { presentError } from '../ground/errors/present.ts';
import type { Call, CallPlugin, ServerContext } from './call.ts';

/** A GET needs no header: it is a query, of which another site sees no answer. Sessions ask for more (`requireOwnPage`). */
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

/**
 * Takes the results of a subscription as they are, where Yoga would make a web stream of bytes of them: that costs a third of an event. Yoga has chosen an
 * event stream by then, the only form that it has for them.
 */
export function useResultStream(): CallPlugin {
  return {
    onResultProcess: ({ result, resultProcessor, setResultProcessor, serverContext: { call } }) => {
      if (resultProcessor === undefined || !isAsyncIterable<ExecutionResult>(result)) return;
      const headers = { 'content-type': eventStreamType };
      const take = (_result: unknown, { Response }: FetchAPI) => {
        call.results = result;
        return new Response(null, { headers });
      };
      setResultProcessor(take, eventStreamType);
    },
  };
}

const eventStreamType = 'text/event-stream';

/**
 * Presents the errors of replies that Yoga makes. Its own masking is told nothing of the request, whose id stands in each error.
 *
 * @throws AggregateError of what is answered by `errorReply` instead: errors that graphql-sse would not show, and those of a request that was not
 * run, which Yoga would send as an event stream where the client asked for one.
 */
export function useErrors(): CallPlugin {
  return {
    onParams: ({ params: { operationName = null } }) => {
      if (operationName === null || typeof operationName === 'string') return;
      throw new GraphQLError('operationName must be a string', { extensions: { code: 'BAD_REQUEST' } });
    },
    onValidate:
      ({ params }) =>
      ({ valid, result, context }) => {
        const { call } = context as unknown as ServerContext;
        if (valid) return;
        const errors = result as readonly GraphQLError[];
        const faults = documentFaults(params.schema, params.documentAST, errors);
        for (const [index, { extensions }] of errors.entries()) {
          extensions.code ??= 'GRAPHQL_VALIDATION_FAILED';
          extensions.faults = faults[index];
        }
        if (call.isStreamPath) throw new AggregateError(result);
      },
    onResultProcess: ({ request, result, setResult, serverContext: { call } }) => {
      if (!('errors' in result) || result.errors === undefined) return;
      const wasRun = 'data' in result || result.errors.some(({ path }) => path !== undefined);
      if (!wasRun && request.headers.get('accept')?.includes('text/event-stream') === true)
        throw new AggregateError(result.errors);
      const errors = result.errors.map((error) => {
        const shownError = presentError(error, call.errors);
        // An operation that was run is answered with 200, also where its reply is too large.
        if (!wasRun) shownError.extensions.http = toErrorHttp(error);
        return shownError;
      });
      setResult({ ...result, ...call.extensions, errors });
    },
  };
}

/** The reply to a request that was not run, whatever was thrown. */
export function errorReply({ errors: context, extensions }: Call, thrownError: unknown): MadeError {
  const errors: readonly unknown[] = thrownError instanceof AggregateError ? thrownError.errors : [thrownError];
  const { status, headers } = toErrorHttp(errors[0]);
  const text = JSON.stringify({ errors: errors.map((error) => presentError(error, context)), ...extensions });
  return { status, text, headers: Object.entries(headers).flat() };
}

interface ErrorHttp {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the specification answers application/json with 200. */
  readonly spec?: boolean;
}

/** The status and the headers that an error gives its reply. A request that was never run is the caller's mistake. */
function toErrorHttp(error: unknown): ErrorHttp {
  const cause = unwrapError(error);
  if (cause instanceof GraphQLError) {
    const { http, code } = cause.extensions;
    // Yoga says this of requests that are not well-formed.
    return { status: 400, headers: {}, ...(http as Partial<ErrorHttp>), spec: code !== 'BAD_REQUEST' };
  }
  const shownError = publicError(cause);
  return { status: shownError.status, headers: errorHeaders(shownError) };
}
