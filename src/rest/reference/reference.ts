import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import express, { type RequestHandler, Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import { jsonType, sendBody } from '../../http/reply/reply.ts';
import type { Route } from '../compile.ts';
import { printOpenApi } from '../openapi/document.ts';

/** The page loads nothing from elsewhere and cannot be made to. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const headers = {
  'content-security-policy': pagePolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/** Of the files of Swagger UI, the ones that the page loads. */
const swaggerFiles = ['/swagger-ui.css', '/swagger-ui-bundle.js'];

/**
 * Serves the description of the REST API at /openapi.json and its reference page at /docs. Needs no key: it tells nothing about what is
 * stored. Everything comes from this process, so the page works without internet.
 */
export function createReference(schema: GraphQLSchema, routes: readonly Route[], version: string): Router {
  let openapi: string | undefined;
  const router = Router({ strict: true, caseSensitive: true });
  router.get('/openapi.json', (_req, res) => {
    // Printed at the first call: most processes are never asked.
    openapi ??= JSON.stringify(printOpenApi(schema, routes, version));
    sendBody(res, 200, ['content-type', jsonType, ...Object.entries(headers).flat()], openapi);
  });
  router.get('/docs', (req, _res, next) => {
    req.url = '/docs/index.html';
    next();
  });
  const swaggerFolder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const requireSwaggerFile: RequestHandler = (req, _res, next) =>
    next(swaggerFiles.includes(req.url.split('?')[0] ?? '') ? undefined : 'router');
  return router.use('/docs', serveFolder(join(import.meta.dirname, 'page')), requireSwaggerFile, serveFolder(swaggerFolder));
}

function serveFolder(path: string): RequestHandler {
  const setHeaders = (res: express.Response) => void res.setHeaders(new Map(Object.entries(headers)));
  return express.static(path, {
    acceptRanges: false,
    cacheControl: false,
    etag: false,
    lastModified: false,
    redirect: false,
    setHeaders,
  });
}
