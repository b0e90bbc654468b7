import { z } from 'zod';
import type { Fault, PublicError } from '../../entities/ground/errors.ts';
import { component, constant, object, oneOfTexts, type Sent, text } from '../ground/schema.ts';

const errorTypes = [
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'rate_limit_error',
  'timeout_error',
  'overloaded_error',
  'api_error',
] as const;

const errorReply = component('MessagesError', 'What went wrong, in the Messages format.', {
  type: constant('error'),
  error: object('The failure.', {
    type: oneOfTexts('The kind of failure.', errorTypes),
    message: text('What was wrong, and what is allowed. It begins with the member: `messages.2.content.0.text: …`.'),
    details: object('For programs.', {
      error_code: constant('thread_unsupported_request'),
      unsupported: z.array(z.string()).meta({ description: 'What is not served.' }),
    })
      .optional()
      .meta({ description: 'Present where `thread` is refused: the client sends the whole conversation instead.' }),
  }),
  request_id: text('Finds the request in the logs.').nullable(),
});

/** The status by which clients of the format know that the service is full. */
const overloadedStatus = 529;

/** A failure in the Messages format. */
export function messagesError(shownError: PublicError): PublicError {
  const status = shownError.status === 503 ? overloadedStatus : shownError.status;
  return { ...shownError, status, toBody: (error, requestId) => toErrorBody(error, requestId) };
}

export function toErrorBody(error: PublicError, requestId: string | null): Sent<typeof errorReply> {
  const failure = { type: toErrorType(error.status), message: toMessage(error) };
  return { type: 'error', error: asksForThread(error) ? { ...failure, details: threadDetails } : failure, request_id: requestId };
}

/** By these, the runner of tools of the stock client knows that it must go on without threads. */
const threadDetails = { error_code: 'thread_unsupported_request', unsupported: ['thread'] } as const;

function asksForThread({ param, detail: { faults = [] } }: PublicError): boolean {
  return param === 'thread' || faults.some((fault) => fault.param === 'thread');
}

function toErrorType(status: number): (typeof errorTypes)[number] {
  switch (status) {
    case 401:
      return 'authentication_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 408:
    case 504:
      return 'timeout_error';
    case 413:
      return 'request_too_large';
    case 429:
      return 'rate_limit_error';
    case 503:
    case overloadedStatus:
      return 'overloaded_error';
    default:
      return status < 500 ? 'invalid_request_error' : 'api_error';
  }
}

/** All faults of a request, each behind the place of its member. */
function toMessage({ message, param, detail: { faults } }: PublicError): string {
  if (faults === undefined || faults.length < 2) return inWords(placed(message, param));
  return faults.map((fault: Fault) => inWords(placed(fault.message, fault.param))).join('; ');
}

function placed(message: string, param: string | null): string {
  if (param === null || param === '' || !message.startsWith(param)) return message;
  return `${param.replace(/\[(\d+)\]/g, '.$1')}: ${message.slice(param.length).replace(/^:?\s+/, '')}`;
}

/** The domain speaks of completions, and other clients send their key in one header only. */
function inWords(message: string): string {
  return message
    .replace('one tool message for each call', 'one tool_result block for each call')
    .replace('may be "required" only with tools', 'may be {"type": "any"} only with tools')
    .replace('the header "Authorization: Bearer', 'the header "x-api-key: <API_KEY>" or "Authorization: Bearer');
}
