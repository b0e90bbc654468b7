type Translate = (message: string) => string;

/** What a code means to a person. A test finds every code of the service without words here. */
export function describeCode(t: Translate, code: string): string | undefined {
  const isOfProgram = code.startsWith('GRAPHQL_') || ofPrograms.includes(code);
  return isOfProgram ? t('The console asked for something that the service does not take. Load the page again.') : words(t)[code];
}

/** What only a fault of the console itself, or of a program, can cause. */
const ofPrograms = [
  ...['BAD_REQUEST', 'OPERATION_RESOLUTION_FAILURE', 'MALFORMED_REQUEST', 'METHOD_NOT_ALLOWED', 'NOT_ACCEPTABLE'],
  ...['HEADERS_TOO_LARGE', 'IDEMPOTENCY_MISMATCH', 'PERSISTED_QUERY_NOT_FOUND', 'UNTRUSTED_DOCUMENT'],
];

const words = (t: Translate): Readonly<Record<string, string>> => ({
  CLIENT_CLOSED_REQUEST: t('It was stopped before there was an answer.'),
  CONFLICT: t('It does not fit what is there now.'),
  CONTENT_FILTER: t('The answer was withheld by a filter.'),
  CONTEXT_LENGTH_EXCEEDED: t('The conversation is too long for this model.'),
  DUPLICATE_TOOL_NAME: t('Two tools have the same name.'),
  EMPTY_ARRAY: t('At least one is needed.'),
  FLOW_FAILED: t('The flow of the agent came to no answer.'),
  FLOW_NOT_FOUND: t('This flow, or this version of it, is gone.'),
  FORBIDDEN: t('You may not do this.'),
  IDEMPOTENCY_IN_PROGRESS: t('This is being done already.'),
  INSUFFICIENT_QUOTA: t('All tokens that may be used are used up.'),
  INSUFFICIENT_SCOPE: t('You may not do this.'),
  INVALID_API_KEY: t('The session has ended. Sign in again.'),
  INVALID_JSON: t('This is not valid JSON.'),
  INVALID_TYPE: t('This is not the kind of value that is needed here.'),
  INVALID_VALUE: t('This does not fit here.'),
  MCP_UNAVAILABLE: t('An MCP server that is needed cannot be used.'),
  MISSING_REQUIRED_PARAMETER: t('This is needed.'),
  MODEL_ERROR: t('The model answered in a form that cannot be read.'),
  MODEL_NOT_FOUND: t('This model is gone, or the agent is not shared with you.'),
  MUTUALLY_EXCLUSIVE_PARAMETERS: t('Only one of these can be set.'),
  NOT_FOUND: t('It is gone, or it is not shared with you.'),
  NO_ANSWER: t('The service does not answer.'),
  OVERLOADED: t('The service has too much to do at the moment. Try again shortly.'),
  PREVIOUS_RESPONSE_NOT_FOUND: t('What this goes on from is gone.'),
  RATE_LIMIT_EXCEEDED: t('Too many requests in a short time. Wait a moment.'),
  REPLY_TOO_LARGE: t('This is more than can be shown at once.'),
  REQUEST_TIMEOUT: t('It took too long to arrive. Try again.'),
  REQUEST_TOO_LARGE: t('This is too large.'),
  RESPONSE_NOT_ACTIVE: t('The answer has ended already.'),
  RESPONSE_NOT_PAUSED: t('The answer does not wait for this.'),
  RIGHTS_CHANGED: t('Your rights have changed.'),
  RUN_ACTIVE: t('An answer is being written in this chat. Wait for its end, or stop it.'),
  SERVER_ERROR: t('Something went wrong in the service.'),
  STORAGE_FULL: t('The service has no room left; nothing was stored.'),
  THREAD_QUEUE_FULL: t('Too many questions wait in this chat already.'),
  TOOL_NAME_CONFLICT: t('Another tool has this name.'),
  TOOL_NOT_AVAILABLE: t('This tool is not available here.'),
  TOOL_OUTCOME_UNKNOWN: t('The service stopped while a tool was at work: what the tool did is unknown.'),
  TOOL_OUTPUT_CONFLICT: t('This was decided otherwise already.'),
  UNAUTHENTICATED: t('The session has ended. Sign in again.'),
  UNKNOWN_TOOL_TYPE: t('There is no such tool.'),
  UNSUPPORTED_MEDIA_TYPE: t('Files of this kind are not accepted.'),
  UNSUPPORTED_VALUE: t('This has no effect here.'),
  UPSTREAM_ERROR: t('The provider of the model, or another service, failed.'),
  UPSTREAM_TIMEOUT: t('The provider of the model, or another service, took too long.'),
  WEBSOCKET_CONNECTION_LIMIT_REACHED: t('The connection was open for as long as it may be.'),
});

/** Codes whose message says more than the code does: which value, which limit, which other service. */
export const tellingCodes: ReadonlySet<string> = new Set([
  ...[
    'CONFLICT',
    'FORBIDDEN',
    'INVALID_JSON',
    'INVALID_VALUE',
    'UNSUPPORTED_VALUE',
    'UNSUPPORTED_MEDIA_TYPE',
    'REQUEST_TOO_LARGE',
  ],
  ...['INSUFFICIENT_QUOTA', 'RATE_LIMIT_EXCEEDED', 'FLOW_FAILED', 'MCP_UNAVAILABLE', 'MODEL_ERROR', 'UPSTREAM_ERROR'],
  ...['MUTUALLY_EXCLUSIVE_PARAMETERS', 'TOOL_NAME_CONFLICT', 'TOOL_NOT_AVAILABLE', 'DUPLICATE_TOOL_NAME', 'UNKNOWN_TOOL_TYPE'],
]);
