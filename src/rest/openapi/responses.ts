import { DomainError, errorBody, errorCodes, type PublicError, publicError } from '../../entities/ground/errors.ts';
import { responseError } from '../../wire/responses/errors.ts';
import type { Route } from '../compile.ts';

/** Statuses of both APIs, and of the responses format. */
const errorTypes = [
  ...new Set([
    ...Object.values(errorCodes).map(({ type }) => type),
    ...['invalid_request', 'not_found', 'too_many_requests', 'model_error', 'server_error'],
  ]),
];

/** The error object of the REST API, and the replies that carry it. */
export const errorSchema = {
  type: 'object',
  description: 'What went wrong, in the shape of the common formats.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: { type: 'string', description: 'What was wrong, and what is allowed.' },
        type: {
          type: 'string',
          enum: errorTypes,
          description:
            'The kind of failure. The responses operations have five of their own: `invalid_request`, `not_found`, `too_many_requests`, `model_error`, `server_error`.',
        },
        param: {
          type: ['string', 'null'],
          description: 'The member that was wrong, as the caller wrote it.',
          examples: ['messages[2].content'],
        },
        code: { type: 'string', description: 'What went wrong, for programs.', examples: ['missing_required_parameter'] },
        errors: {
          type: 'array',
          description: 'Every fault, when a request has several.',
          items: {
            type: 'object',
            required: ['message', 'param', 'code'],
            properties: { message: { type: 'string' }, param: { type: 'string' }, code: { type: 'string' } },
          },
        },
      },
    },
  },
} as const;

/** The meaning of a status, with an example failure. Statuses with the same meaning for a client are together. */
const failures = {
  '400': [
    'The request is wrong; `error.param` names the member, `error.errors` each one when there are several.',
    new DomainError('INVALID_VALUE', 'limit must be from 1 to 100', { param: 'limit' }),
  ],
  '401': [
    'No API key, or one that is unknown, revoked or expired.',
    new DomainError('INVALID_API_KEY', 'The API key is unknown, revoked or expired'),
  ],
  '403': [
    'The key lacks the scope, or the caller the right.',
    new DomainError('INSUFFICIENT_SCOPE', 'createResponse needs a key with the scope CHATS:WRITE'),
  ],
  '404': [
    'There is no such thing, or the caller may not see it.',
    new DomainError('NOT_FOUND', 'There is no such response', { param: 'responseId' }),
  ],
  '409': ['It does not fit the state the thing is in.', new DomainError('CONFLICT', 'The thread changes too fast; try again')],
  '429': [
    'The key or the organization asks too often, has its share of what the service does at one time, or has used up a limit.',
    new DomainError('RATE_LIMIT_EXCEEDED', 'This organization has its share of concurrent runs; let some end first'),
  ],
  '4XX': [
    'The body cannot be taken: it came too slowly (408), is too large (413) or of another media type (415), or its Idempotency-Key came with another request before (422).',
    new DomainError('REQUEST_TOO_LARGE', 'The body is too large'),
  ],
  '5XX': [
    'A failure on our side (500; the request id finds it in the logs), no room left (507), the service is full (503), or the provider of a model failed (502, and 500 in the responses format) or was too slow (504).',
    new Error('never shown'),
  ],
} as const satisfies Record<string, readonly [string, Error]>;
type ErrorStatus = keyof typeof failures;

const retryHeaders = {
  'Retry-After': { description: 'Seconds after which another try may succeed.', schema: { type: 'integer' } },
};

/** Refusals in the form of one format, by the names of their components. */
function makeErrorResponses(prefix: string, form: (shownError: PublicError) => PublicError) {
  return Object.entries(failures).map(([status, [description, failure]]) => [
    `${prefix}${status}`,
    {
      description,
      headers: { ...replyHeaders(), ...(status === '429' || status === '5XX' ? retryHeaders : {}) },
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          example: errorBody(form(publicError(failure))),
        },
      },
    },
  ]);
}

export const errorResponses = Object.fromEntries([
  ...makeErrorResponses('Error', (shownError) => shownError),
  ...makeErrorResponses('ResponsesError', responseError),
]);

/** The failures that callers of a route can meet. */
export function collectErrors(route: Route): Readonly<Record<string, unknown>> {
  const { row } = route;
  const hasBody = row.body !== undefined || row.upload !== undefined;
  const statuses: readonly ErrorStatus[] = [
    ...(['400', '401'] as const),
    ...(route.scope === null ? [] : (['403'] as const)),
    '404',
    ...(row.method === 'get' ? [] : (['409'] as const)),
    '429',
    ...(hasBody || row.method === 'post' ? (['4XX'] as const) : []),
    '5XX',
  ];
  const prefix = row.errorForm === undefined ? 'Error' : 'ResponsesError';
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${prefix}${status}` }]));
}

/** Headers of every reply. */
export function replyHeaders() {
  const toLimitHeader = (description: string) => ({ description, schema: { type: 'integer' } });
  return {
    'x-request-id': { description: 'Names this request in the logs.', schema: { type: 'string' } },
    'X-RateLimit-Limit': toLimitHeader('Requests a minute: of the key, or of its organization where that has less left.'),
    'X-RateLimit-Remaining': toLimitHeader('How many of them are left.'),
    'X-RateLimit-Reset': toLimitHeader('Seconds until all of them are there again.'),
  };
}
