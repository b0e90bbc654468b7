import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { CorsOrigins } from '../lib/settings/cors-origins.ts';
import { findRequestId } from './context.ts';
import { sendEmpty } from './reply/reply.ts';

/** Tells browsers which other origins may call the service. A key is sent by the page itself: cookies and other credentials are never allowed. */
export interface Cors {
  /** Answers preflights of allowed origins and marks every other reply, errors and streams included. */
  readonly handle: RequestHandler;
  /** Marks a reply that the middleware does not see. */
  mark(req: IncomingMessage, res: ServerResponse): void;
}

export function createCors(origins: CorsOrigins): Cors {
  const mark = (req: IncomingMessage, res: ServerResponse): boolean => {
    // The reply differs by origin, so a cache must not give it to another one.
    if (origins !== '*') res.setHeader('vary', 'Origin');
    const { origin } = req.headers;
    if (origin === undefined || (origins !== '*' && !origins.has(origin))) return false;
    res.setHeader('access-control-allow-origin', origins === '*' ? '*' : origin);
    return true;
  };
  return {
    mark: (req, res) => {
      if (mark(req, res)) res.setHeader('access-control-expose-headers', exposedHeaders);
    },
    handle: (req, res, next) => {
      const isAllowed = mark(req, res);
      if (isAllowed && isPreflight(req)) return answerPreflight(req, res, origins);
      if (isAllowed) res.setHeader('access-control-expose-headers', exposedHeaders);
      next();
    },
  };
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function answerPreflight(req: IncomingMessage, res: ServerResponse, origins: CorsOrigins): void {
  const variedHeader = 'Access-Control-Request-Headers';
  res.setHeader('vary', origins === '*' ? variedHeader : `Origin, ${variedHeader}`);
  const askedHeaders = (req.headers['access-control-request-headers'] ?? '').split(',').map((name) => name.trim().toLowerCase());
  const further = askedHeaders.filter((name) => isOfFamily(name) && !allowedHeaders.includes(name));
  sendEmpty(res, 204, findRequestId(req), [
    'access-control-allow-methods',
    'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers',
    [...allowedHeaders, ...further].join(', '),
    'access-control-max-age',
    String(preflightMaxAgeSeconds),
  ]);
}

/** Browsers keep a preflight for two hours at most. */
const preflightMaxAgeSeconds = 7_200;

/** What the service reads, and what common clients and tracing add by themselves. */
const allowedHeaders: readonly string[] = [
  'accept',
  'accept-language',
  'authorization',
  'cache-control',
  'content-language',
  'content-type',
  'idempotency-key',
  'last-event-id',
  'range',
  'user-agent',
  'x-api-key',
  'x-request-id',
  'x-requested-with',
  'x-graphql-event-stream-token',
  'x-graphql-yoga-csrf',
  'apollo-require-preflight',
  'graphql-require-preflight',
  'apollographql-client-name',
  'apollographql-client-version',
  'x-apollo-operation-name',
  'baggage',
  'traceparent',
  'tracestate',
];

/** Families of headers whose names grow with the clients: the `openai` package (x-stainless-…, OpenAI-…), and switches of this service. */
const isOfFamily = (name: string): boolean => /^(x-stainless|openai|x-parley)-[a-z0-9-]{1,60}$/.test(name);

/** Headers of replies that a page may read; browsers hide all but a few others. */
const exposedHeaders = [
  'x-api-key',
  'x-request-id',
  'retry-after',
  'x-should-retry',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
  'x-ratelimit-limit-cost',
  'x-ratelimit-remaining-cost',
  'x-ratelimit-reset-cost',
  'allow',
  'content-disposition',
  'content-length',
  'idempotency-replayed',
  'www-authenticate',
  'x-parley-model',
  'x-parley-warnings',
  'x-thread-attached',
].join(', ');
