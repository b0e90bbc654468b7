import { type ErrorCode, errorCodes } from '../../entities/errors.ts';
import { enumOf, textOnRest } from '../types/enums.ts';

/** The codes of requests and documents that cannot be run, in addition to the codes of entities/errors.ts. */
const documentErrorCodes = [
  'BAD_REQUEST',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'GRAPHQL_DOCUMENT_TOO_LONG',
  'GRAPHQL_TOO_MANY_TOKENS',
  'GRAPHQL_TOO_MANY_FIELDS',
  'GRAPHQL_TOO_MANY_OPERATIONS',
  'GRAPHQL_TOO_DEEP',
  'GRAPHQL_TOO_MANY_ALIASES',
  'GRAPHQL_TOO_MANY_DIRECTIVES',
  'GRAPHQL_TOO_MANY_FRAGMENTS',
  'GRAPHQL_TOO_COSTLY',
] as const;
export type DocumentErrorCode = (typeof documentErrorCodes)[number];
/** Every code that an error of GraphQL may have. */
export type GraphErrorCode = ErrorCode | DocumentErrorCode;

const codes: readonly GraphErrorCode[] = [...documentErrorCodes, ...(Object.keys(errorCodes) as ErrorCode[])];

export function isErrorCode(code: unknown): code is GraphErrorCode {
  return (codes as readonly unknown[]).includes(code);
}

export const ErrorCodeType = enumOf(
  'ErrorCode',
  'Why something failed: `extensions.code` of each error, `code` of each of its faults, and the code of a failed run.',
  codes,
  {
    BAD_REQUEST: 'The request is no GraphQL request: the query, the variables or the operation name have the wrong type.',
    GRAPHQL_PARSE_FAILED: 'The document is no GraphQL.',
    GRAPHQL_VALIDATION_FAILED: 'The document does not fit the schema.',
    OPERATION_RESOLUTION_FAILURE: 'The document has no such operation, or none that this method may run.',
    GRAPHQL_DOCUMENT_TOO_LONG: 'The document has too many characters. Send long values as variables.',
    GRAPHQL_TOO_MANY_TOKENS: 'The document has too many tokens.',
    GRAPHQL_TOO_MANY_FIELDS: 'The operation has too many fields, fragments unfolded.',
    GRAPHQL_TOO_MANY_OPERATIONS: 'The document has too many operations.',
    GRAPHQL_TOO_DEEP: 'The document is nested too deeply.',
    GRAPHQL_TOO_MANY_ALIASES: 'The document has too many aliases.',
    GRAPHQL_TOO_MANY_DIRECTIVES: 'The document has too many directives.',
    GRAPHQL_TOO_MANY_FRAGMENTS: 'The document has too many fragments.',
    GRAPHQL_TOO_COSTLY: 'The reply could become too large. Ask for shorter lists or fewer fields.',
    INVALID_JSON: 'The body, or a text that must be JSON, is not valid JSON.',
    MISSING_REQUIRED_PARAMETER: 'A member that is required is missing.',
    INVALID_TYPE: 'A value has the wrong type.',
    INVALID_VALUE: 'A value is not allowed here.',
    EMPTY_ARRAY: 'A list needs at least one item.',
    DUPLICATE_TOOL_NAME: 'Two functions of the request have the same name.',
    TOOL_NAME_CONFLICT: 'A function has the name of another tool of the run.',
    UNKNOWN_TOOL_TYPE: 'There is no tool of this type.',
    TOOL_NOT_AVAILABLE: 'This installation does not serve the tool.',
    MCP_UNAVAILABLE: 'The request forces a call of an MCP server that cannot be used.',
    UNSUPPORTED_VALUE: 'The value or the member would have no effect here.',
    CONTEXT_LENGTH_EXCEEDED: 'The conversation is too long for the model.',
    MUTUALLY_EXCLUSIVE_PARAMETERS: 'Only one of these members may be given.',
    REPLY_TOO_LARGE: 'The reply would be larger than REPLY_MAX_BYTES.',
    PREVIOUS_RESPONSE_NOT_FOUND: 'The response that the request continues does not exist, or the caller may not see it.',
    FLOW_NOT_FOUND: 'The request names a flow, or a version of a flow, that does not exist or may not answer.',
    CONTENT_FILTER: 'The model or a filter withheld the answer.',
    WEBSOCKET_CONNECTION_LIMIT_REACHED: 'The WebSocket connection has lived for its longest time. Connect again.',
    MALFORMED_REQUEST: 'The bytes are no valid HTTP.',
    INVALID_API_KEY: 'The API key is missing, unknown, expired or revoked.',
    INSUFFICIENT_SCOPE: 'The API key has no scope for this.',
    FORBIDDEN: 'The caller sees the thing and may not do this with it.',
    NOT_FOUND: 'The thing does not exist, or the caller may not see it.',
    MODEL_NOT_FOUND: 'There is no such model, or the caller may not see the agent.',
    METHOD_NOT_ALLOWED: 'The path does not take this method of HTTP.',
    NOT_ACCEPTABLE: 'The client accepts no form in which this can be answered. Subscriptions are event streams.',
    REQUEST_TIMEOUT: 'The request did not arrive in time, or what it refers to could not be read in time.',
    CONFLICT: 'It does not fit the state of the thing.',
    RUN_ACTIVE: 'The chat is being answered. Wait for the end of the run, or cancel it.',
    TOOL_OUTPUT_CONFLICT: 'The call already has another output or decision.',
    RESPONSE_NOT_ACTIVE: 'The response has ended or is paused.',
    RESPONSE_NOT_PAUSED: 'The response is not paused.',
    IDEMPOTENCY_IN_PROGRESS: 'The first request with this idempotency key is still running.',
    REQUEST_TOO_LARGE: 'The body or a file is too large.',
    UNSUPPORTED_MEDIA_TYPE: 'The body has a media type that is not read here.',
    IDEMPOTENCY_MISMATCH: 'The idempotency key came with another request before.',
    FLOW_FAILED: 'The flow of the agent came to no answer.',
    HEADERS_TOO_LARGE: 'The headers of the request are too large.',
    THREAD_QUEUE_FULL: 'Too many requests wait for this conversation. Try again after `retryAfterSeconds`.',
    RATE_LIMIT_EXCEEDED: 'Too many requests at once or in a short time. Try again after `retryAfterSeconds`.',
    INSUFFICIENT_QUOTA: 'The tokens of the organization or the agent are used up.',
    CLIENT_CLOSED_REQUEST: 'The client closed the request before it was answered.',
    SERVER_ERROR: 'Something went wrong in the service. The request id finds it in the logs.',
    TOOL_OUTCOME_UNKNOWN: 'The process that called a tool died. Whether the call took effect is unknown.',
    MODEL_ERROR: "The model's answer does not have the requested form.",
    UPSTREAM_ERROR: 'A model provider or another service failed.',
    OVERLOADED: 'The service has no room at the moment. Try again after `retryAfterSeconds`.',
    UPSTREAM_TIMEOUT: 'A model provider or another service took too long.',
    STORAGE_FULL: 'The service has no room left to store this; nothing was kept.',
  },
  textOnRest,
);
