import { type ErrorCode, errorCodes, type PublicError } from '../../entities/ground/errors.ts';

/** A failure in the responses format, which has five error types. `code` is the same on every API. */
export function responseError(publicError: PublicError): PublicError {
  return { ...publicError, ...toErrorKind(publicError.code) };
}

const modelCodes: readonly ErrorCode[] = ['MODEL_ERROR', 'UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT'];

export function toErrorKind(code: ErrorCode): Pick<PublicError, 'type' | 'status'> {
  const { status } = errorCodes[code];
  // The responses format has no type for a failing upstream: for its callers, the model failed.
  if (modelCodes.includes(code)) return { status: 500, type: 'model_error' };
  if (status === 404) return { status, type: 'not_found' };
  if (status === 429) return { status, type: 'too_many_requests' };
  return { status, type: status < 500 ? 'invalid_request' : 'server_error' };
}
