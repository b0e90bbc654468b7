import {
  APICallError,
  EmptyResponseBodyError,
  InvalidArgumentError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import { isOfTransport, malformed, refusal, refusalInStream } from '../openai/errors.ts';
import { ModelError } from '../port.ts';

/**
 * The error of a call of an AI SDK model in the terms of the port. What is neither the provider's nor the network's is returned as it is: it is a
 * fault of this service, and no other attempt would help.
 *
 * @param provider  its id, which the error names.
 */
export function modelError(error: unknown, provider: string): unknown {
  const failure = toFailure(error);
  return failure instanceof ModelError ? failure.of(provider) : failure;
}

function toFailure(error: unknown): unknown {
  if (error instanceof ModelError) return error;
  if (APICallError.isInstance(error)) {
    const { statusCode, responseBody = '', responseHeaders } = error;
    if (statusCode !== undefined && statusCode >= 400) return refusal(statusCode, responseBody, responseHeaders?.['retry-after']);
    if (statusCode !== undefined) return malformed('it cannot be read');
    return isOfTransport(error) ? new ModelError('UPSTREAM_ERROR', 'The model provider cannot be reached', true) : error;
  }
  if (isRefusedRequest(error)) {
    return new ModelError('UNSUPPORTED_VALUE', `This model does not take the request: ${error.message}`, false);
  }
  if (isUnreadable(error)) return malformed('it cannot be read');
  // Errors inside of a stream are plain objects.
  if (typeof error === 'object' && error !== null && !(error instanceof Error)) return refusalInStream(error);
  if (isOfTransport(error)) return new ModelError('UPSTREAM_ERROR', 'The connection to the model provider broke off', true);
  return error;
}

/** The adapter cannot say the request in the provider's format. */
function isRefusedRequest(error: unknown): error is Error {
  return (
    UnsupportedFunctionalityError.isInstance(error) ||
    InvalidPromptError.isInstance(error) ||
    InvalidArgumentError.isInstance(error)
  );
}

/** The adapter does not understand the answer. */
function isUnreadable(error: unknown): boolean {
  return (
    TypeValidationError.isInstance(error) ||
    JSONParseError.isInstance(error) ||
    InvalidResponseDataError.isInstance(error) ||
    EmptyResponseBodyError.isInstance(error)
  );
}
