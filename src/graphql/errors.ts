import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { DomainError, publicError } from '../entities/errors.ts';
import { isAbort, unwrapError } from '../http/errors.ts';

/** The codes of documents that cannot be run, in addition to the codes of entities/errors.ts. */
export type DocumentErrorCode =
  | 'GRAPHQL_PARSE_FAILED'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'OPERATION_RESOLUTION_FAILURE'
  | 'GRAPHQL_DOCUMENT_TOO_LONG'
  | 'GRAPHQL_TOO_MANY_TOKENS'
  | 'GRAPHQL_TOO_MANY_FIELDS'
  | 'GRAPHQL_TOO_MANY_OPERATIONS'
  | 'GRAPHQL_TOO_DEEP'
  | 'GRAPHQL_TOO_MANY_ALIASES'
  | 'GRAPHQL_TOO_MANY_DIRECTIVES'
  | 'GRAPHQL_TOO_MANY_FRAGMENTS'
  | 'GRAPHQL_TOO_COSTLY';

export interface ErrorContext {
  readonly requestId: string;
  readonly logger: Logger;
}

/**
 * Presents every failure that leaves through GraphQL: of a query, a mutation, a refused or a failed subscription. DomainErrors and faults of the
 * request keep their message; anything else is logged in full and shown as SERVER_ERROR.
 */
export function presentError(error: unknown, context: ErrorContext): GraphQLError {
  // Presented already: the results of a subscription are, before they are sent.
  if (error instanceof GraphQLError && error.extensions.requestId === context.requestId) return error;
  const located = error instanceof GraphQLError ? error : undefined;
  const cause = unwrapError(error);
  if (located !== undefined && !(cause instanceof DomainError) && isFaultOfRequest(located)) {
    return placed(located.message, located, { ...requestFault(located), requestId: context.requestId });
  }
  const shown = publicError(cause);
  if (!(cause instanceof DomainError) && !isAbort(cause)) {
    context.logger.error({ err: cause, requestId: context.requestId, path: located?.path }, 'a GraphQL field failed');
  }
  return placed(shown.message, located, {
    code: shown.code,
    param: shown.param,
    ...(shown.detail.faults === undefined ? {} : { faults: shown.detail.faults }),
    ...(shown.detail.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: shown.detail.retryAfterSeconds }),
    requestId: context.requestId,
  });
}

function placed(message: string, located: GraphQLError | undefined, extensions: Record<string, unknown>): GraphQLError {
  if (located === undefined) return new GraphQLError(message, { extensions });
  const { nodes = null, source = null, positions = null, path = null } = located;
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}

/** Presents all errors of a result; a result without errors is returned as it is. */
export function presentResult<Result extends { readonly errors?: readonly unknown[] | undefined }>(
  result: Result,
  context: ErrorContext,
): Result {
  if (result.errors === undefined || result.errors.length === 0) return result;
  return { ...result, errors: result.errors.map((error) => presentError(error, context)) };
}

/**
 * graphql-js refuses documents and variables before any field runs, so those errors have no path; an error about an argument has one. A GraphQLError
 * of a field for any other reason is a bug of ours.
 */
function isFaultOfRequest(error: GraphQLError): boolean {
  return error.path === undefined || error.message.startsWith('Argument "');
}

/** Members are named as the domain names them: relative to the input object. */
function requestFault(error: GraphQLError): { code: string; param: string | null } {
  const { code } = error.extensions;
  if (typeof code === 'string') return { code, param: null };
  const { message } = error;
  const variable = /^Variable "\$(\w+)"/.exec(message)?.[1];
  const place = / at "([^"]+)"/.exec(message)?.[1] ?? variable ?? /^Argument "(\w+)"/.exec(message)?.[1];
  if (place === undefined) return { code: 'GRAPHQL_VALIDATION_FAILED', param: null };
  const missing = /Field "(\w+)" of required type/.exec(message)?.[1];
  const isMissing = missing !== undefined || message.includes('was not provided');
  const path = missing === undefined ? place : `${place}.${missing}`;
  return { code: isMissing ? 'MISSING_REQUIRED_PARAMETER' : 'INVALID_VALUE', param: path.replace(/^input\./, '') };
}
