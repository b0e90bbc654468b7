import { DomainError, type PublicError, publicError } from '../../entities/ground/errors.ts';
import { ContentTypeError } from './message.ts';

/** Failures of the A2A protocol, as JSON-RPC has them: the codes of the protocol, and the members that are wrong. */

/** Failures that the protocol has a code of its own for. */
const protocolErrors = {
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  VERSION_NOT_SUPPORTED: -32009,
} as const;
export type ProtocolReason = keyof typeof protocolErrors;

/** Failures of JSON-RPC itself. */
const rpcErrors = { INVALID_REQUEST: -32600, METHOD_NOT_FOUND: -32601 } as const;
const invalidParams = -32602;
const parseError = -32700;
const internalError = -32603;
/** What the protocol has no code for: a key, a limit, an overload. */
const serviceError = -32000;

/** A failure that the protocol, or JSON-RPC, names. */
export class TaskError extends DomainError {
  readonly reason: ProtocolReason | keyof typeof rpcErrors;

  constructor(reason: ProtocolReason | keyof typeof rpcErrors, message: string, param?: string) {
    super('INVALID_VALUE', message, param === undefined ? {} : { param });
    this.reason = reason;
  }
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: readonly object[];
}

/** @param shown  the failure as clients see it, where it is logged as well. */
export function toRpcError(error: unknown, shown: PublicError = publicError(error)): RpcError {
  const { message, detail, code } = shown;
  const reason =
    error instanceof TaskError ? error.reason : error instanceof ContentTypeError ? 'CONTENT_TYPE_NOT_SUPPORTED' : code;
  const faults = detail.faults ?? (detail.param === undefined ? [] : [{ param: detail.param, message }]);
  const fieldViolations = faults.map((fault) => ({ field: fault.param, description: fault.message }));
  const info = { '@type': `${typePrefix}ErrorInfo`, reason, domain: reason in protocolErrors ? 'a2a-protocol.org' : 'parley' };
  const request = { '@type': `${typePrefix}BadRequest`, fieldViolations };
  return { code: toRpcCode(reason, shown), message, data: fieldViolations.length === 0 ? [info] : [info, request] };
}

const typePrefix = 'type.googleapis.com/google.rpc.';

function toRpcCode(reason: string, { status, code }: PublicError): number {
  if (Object.hasOwn(protocolErrors, reason)) return protocolErrors[reason as ProtocolReason];
  if (Object.hasOwn(rpcErrors, reason)) return rpcErrors[reason as keyof typeof rpcErrors];
  if (code === 'INVALID_JSON') return parseError;
  if (code === 'SERVER_ERROR') return internalError;
  return status === 400 || status === 404 || status === 422 ? invalidParams : serviceError;
}

/** A method that was called is answered with 200, also with an error; what is refused before it has the status of its failure. */
export function httpStatus(error: unknown, { status }: PublicError): number {
  const isOfMethod = error instanceof TaskError || error instanceof ContentTypeError;
  return isOfMethod || status === 400 || status === 422 ? 200 : status;
}
