import type { Route } from '../compile.ts';

/** The error object of every face, and the replies that carry it. */
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
        type: { type: 'string', description: 'The kind of failure.', examples: ['invalid_request_error'] },
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

const descriptions = {
  '400': 'The request is wrong; `error.param` names the member.',
  '401': 'No API key, or one that is unknown, revoked or expired.',
  '403': 'The key lacks the scope, or the caller the right.',
  '404': 'There is no such thing, or the caller may not see it.',
  '409': 'It does not fit the state the thing is in.',
  '413': 'The body or the file is too large.',
  '415': 'The body is of another media type.',
  '422': 'The Idempotency-Key came with another request before.',
  '429': 'Too many runs at once, or a limit of the organization is reached.',
  '500': 'A failure on our side; the request id finds it in the logs.',
  '503': 'The service is full; try again shortly.',
} as const;
type ErrorStatus = keyof typeof descriptions;

const retryHeaders = {
  'Retry-After': { description: 'Seconds after which another try may succeed.', schema: { type: 'integer' } },
};

export const errorResponses = Object.fromEntries(
  Object.entries(descriptions).map(([status, description]) => [
    `Error${status}`,
    {
      description,
      headers: { 'x-request-id': requestIdHeader(), ...(status === '429' || status === '503' ? retryHeaders : {}) },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  ]),
);

/** The failures that a row's callers can meet. */
export function errorsOf(route: Route): Readonly<Record<string, unknown>> {
  const { row } = route;
  const statuses: ErrorStatus[] = ['400', '401', '404', '500'];
  if (route.scope !== null) statuses.push('403');
  if (row.method !== 'get') statuses.push('409');
  if (row.body !== undefined || row.upload !== undefined) statuses.push('413', '415');
  if (row.method === 'post') statuses.push('422');
  if (route.isRun) statuses.push('429', '503');
  return Object.fromEntries(statuses.sort().map((status) => [status, { $ref: `#/components/responses/Error${status}` }]));
}

export function requestIdHeader() {
  return { description: 'Names this request in the logs.', schema: { type: 'string' } };
}
