import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { GraphQLSchema } from 'graphql';
import { sendBody } from '../http/reply/reply.ts';
import type { Route } from './compile.ts';
import { printOpenApi } from './openapi/document.ts';

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley API reference</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="data:,">
</head>
<body>
<noscript>The description is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const startScript = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  showExtensions: true,
  validatorUrl: null,
});
`;

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

const assetHeaders: readonly string[] = [
  'content-security-policy',
  pagePolicy,
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'cache-control',
  'no-cache',
];

interface Asset {
  readonly type: string;
  readonly load: () => string | Promise<Buffer>;
}

/**
 * Serves the description of the REST face at /openapi.json and its reference page at /docs; anything else goes to `next`. Needs no key:
 * it tells nothing about what is stored. Everything comes from this process, so the page works without internet.
 */
export function createReference(
  schema: GraphQLSchema,
  routes: readonly Route[],
  version: string,
): (req: IncomingMessage, res: ServerResponse, next: () => void) => void {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  let openapi: string | undefined;
  const assets = new Map<string, Asset>([
    [
      '/openapi.json',
      {
        type: 'application/json; charset=utf-8',
        // Printed at the first call: most processes are never asked.
        load: () => {
          openapi ??= JSON.stringify(printOpenApi(schema, routes, version));
          return openapi;
        },
      },
    ],
    ['/docs', { type: 'text/html; charset=utf-8', load: () => page }],
    ['/docs/', { type: 'text/html; charset=utf-8', load: () => page }],
    ['/docs/start.js', { type: 'text/javascript; charset=utf-8', load: () => startScript }],
    ['/docs/swagger-ui.css', { type: 'text/css; charset=utf-8', load: () => readFile(join(folder, 'swagger-ui.css')) }],
    [
      '/docs/swagger-ui-bundle.js',
      { type: 'text/javascript; charset=utf-8', load: () => readFile(join(folder, 'swagger-ui-bundle.js')) },
    ],
  ]);
  return (req, res, next) => {
    const asset = assets.get((req.url ?? '').split('?')[0] ?? '');
    if (asset === undefined || (req.method !== 'GET' && req.method !== 'HEAD')) return next();
    void send(res, asset, next);
  };
}

async function send(res: ServerResponse, asset: Asset, next: () => void): Promise<void> {
  let content: string | Buffer;
  try {
    content = await asset.load();
  } catch {
    return next();
  }
  sendBody(res, 200, ['content-type', asset.type, ...assetHeaders], content);
}
