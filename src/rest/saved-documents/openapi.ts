import type { JsonSchema } from '../../wire/ground/json-schema.ts';
import { replyHeaders } from '../openapi/responses.ts';

const error = (name: string) => ({ $ref: `#/components/responses/Error${name}` });

/** `POST /api/v1/documents/{name}` in the description of the API: what it takes and answers is the document's own. */
export const runSavedDocument: {
  readonly path: string;
  readonly operation: JsonSchema &
    Readonly<Record<'operationId' | 'summary' | 'description', string>> & { readonly tags: readonly string[] };
} = {
  path: '/api/v1/documents/{name}',
  operation: {
    operationId: 'runSavedDocument',
    summary: 'Run a saved document',
    description:
      'With the members of the body as its variables: `inputSchema` of the document says which, `outputSchema` what `data` has. The key needs the scopes of the fields.',
    tags: ['Saved documents'],
    security: [{ apiKey: [] }],
    parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
    requestBody: {
      required: false,
      content: {
        'application/json': {
          schema: { type: 'object', additionalProperties: true, description: 'The variables.' },
          example: { count: 2 },
        },
      },
    },
    responses: {
      200: {
        description: 'Done.',
        headers: replyHeaders(),
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['data'],
              properties: {
                data: { type: 'object', additionalProperties: true, description: 'The data of the document.' },
                errors: {
                  type: 'array',
                  description: 'Members that may be null and failed. Absent when there are none.',
                  items: {
                    type: 'object',
                    required: ['message', 'code', 'path'],
                    properties: {
                      message: { type: 'string' },
                      code: { type: 'string' },
                      path: { type: 'array', items: { type: ['string', 'integer'] } },
                    },
                  },
                },
              },
            },
          },
        },
      },
      ...Object.fromEntries(['400', '401', '403', '404', '409', '429', '4XX', '5XX'].map((status) => [status, error(status)])),
    },
  },
};
