import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { DomainError, publicError } from '../../../entities/ground/errors.ts';
import { isAbort, unwrapError } from '../../../http/errors.ts';
import { type GraphErrorCode, isErrorCode } from './codes.ts';
import type { GraphFault } from './input-faults.ts';
import { domainFaults, inWordsOfGraphql } from './places.ts';

export interface ErrorContext {
  readonly requestId: string;
  readonly logger: Logger;
}

/** `extensions` of every error. */
export interface ErrorExtensions {
  readonly code: GraphErrorCode;
  /** The values of the request that are wrong; empty when the failure is about none. */
  readonly faults: readonly GraphFault[];
  readonly requestId: string;
  /** Absent when another try is not known to help. */
  readonly retryAfterSeconds?: number;
}

/**
 * Presents every failure that leaves through GraphQL: of a query, a mutation, a refused or a failed subscription. DomainErrors and faults of the
 * request keep their message; anything else is logged in full and shown as SERVER_ERROR.
 */
export function presentError(error: unknown, context: ErrorContext): GraphQLError {
  // Presented already: the results of a subscription are, before they are sent.
  if (error instanceof GraphQLError && error.extensions.requestId === context.requestId) return error;
  const graphError = error instanceof GraphQLError ? error : undefined;
  const cause = unwrapError(error);
  if (graphError !== undefined && isFaultOfRequest(graphError, cause)) {
    const { code, faults } = graphError.extensions;
    return placed(graphError.message, graphError, {
      code: isErrorCode(code) ? code : 'GRAPHQL_VALIDATION_FAILED',
      faults: (faults ?? []) as readonly GraphFault[],
      requestId: context.requestId,
    });
  }
  const { code, message, detail } = publicError(cause);
  if (!(cause instanceof DomainError) && !isAbort(cause)) {
    context.logger.error({ err: cause, requestId: context.requestId, path: graphError?.path }, 'a GraphQL field failed');
  }
  const { retryAfterSeconds } = detail;
  const faults = cause instanceof DomainError ? domainFaults(cause) : [];
  // The message of an error is that of its first fault.
  const isOfFault = cause instanceof DomainError && (detail.faults?.[0]?.message ?? message) === message;
  return placed((isOfFault ? faults[0]?.message : undefined) ?? inWordsOfGraphql(message), graphError, {
    ...{ code, faults, requestId: context.requestId },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

function placed(message: string, graphError: GraphQLError | undefined, extensions: ErrorExtensions): GraphQLError {
  if (graphError === undefined) return new GraphQLError(message, { extensions: { ...extensions } });
  const { nodes = null, source = null, positions = null, path = null } = graphError;
  return new GraphQLError(message, { nodes, source, positions, path, extensions: { ...extensions } });
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
function isFaultOfRequest(error: GraphQLError, cause: unknown): boolean {
  if (error.extensions.faults !== undefined) return true;
  return cause instanceof GraphQLError && (error.path === undefined || isOfArgument(error));
}

/** What graphql-js says of an argument when it calls a field: a variable that is null or was not given, for example. */
export function isOfArgument({ message }: GraphQLError): boolean {
  return message.startsWith('Argument "');
}
