import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import { siteHead, siteHeader } from '../../http/page/header.ts';
import { jsonType } from '../../http/reply/reply.ts';
import { StaticContent } from '../../http/reply/static.ts';
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

const headers = ['content-security-policy', pagePolicy, 'x-content-type-options', 'nosniff', 'referrer-policy', 'no-referrer'];

const htmlType = 'text/html; charset=utf-8';
const scriptType = 'text/javascript; charset=utf-8';

/**
 * Serves the description of the REST API at /openapi.json and its reference page at /docs. Needs no key: it tells nothing about what is
 * stored. Everything comes from this process, so the page works without internet.
 */
export function createReference(schema: GraphQLSchema, routes: readonly Route[], version: string): Router {
  const openapi = () => JSON.stringify(printOpenApi(schema, routes, version));
  const file = (path: string) => () => readFile(path);
  const ownFolder = join(import.meta.dirname, 'page');
  const swaggerFolder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const page = async () => {
    const html = await readFile(join(ownFolder, 'index.html'), 'utf8');
    return html.replace('{{head}}', siteHead).replace('{{header}}', siteHeader('reference'));
  };
  const servedFiles: readonly [paths: string[], type: string, make: () => string | Promise<string | Buffer>][] = [
    [['/openapi.json'], jsonType, openapi],
    [['/docs', '/docs/', '/docs/index.html'], htmlType, page],
    [['/docs/start.js'], scriptType, file(join(ownFolder, 'start.js'))],
    [['/docs/reference.css'], 'text/css; charset=utf-8', file(join(ownFolder, 'reference.css'))],
    [['/docs/swagger-ui.css'], 'text/css; charset=utf-8', file(join(swaggerFolder, 'swagger-ui.css'))],
    [['/docs/swagger-ui-bundle.js'], scriptType, file(join(swaggerFolder, 'swagger-ui-bundle.js'))],
  ];
  const router = Router({ strict: true, caseSensitive: true });
  for (const [paths, type, make] of servedFiles) {
    const content = new StaticContent(['content-type', type, ...headers], make);
    router.get(paths, (req, res) => content.send(req, res));
  }
  return router;
}
