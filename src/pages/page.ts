import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestIdOf } from '../http/context.ts';
import { sendBody } from '../http/reply/reply.ts';
import { escapeHtml } from '../lib/html.ts';

/** Pages load files of this process only, run no inline script, and cannot be framed. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** On every page and its files, a flat list of names and values. */
export const pageHeaders = [
  'content-security-policy',
  pagePolicy,
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
] as const;

export interface Page {
  readonly title: string;
  /** HTML of the main part. */
  readonly main: string;
  /** Address of a script of this process. */
  readonly script?: string;
}

/** The complete HTML of a page. */
export function renderPage({ title, main, script }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/pages/style.css">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="brand" href="/"><img src="/favicon.svg" alt="" width="24" height="24">Parley</a>
<nav aria-label="Pages">
<a href="/manual">Manual</a>
<a href="/docs">REST reference</a>
<a href="/graphql">GraphiQL</a>
</nav>
</header>
<main id="main" tabindex="-1">
${main}
</main>
${script === undefined ? '' : `<script type="module" src="${script}"></script>\n`}</body>
</html>
`;
}

/** Sends a page to anybody. */
export function sendPage(
  req: IncomingMessage,
  res: ServerResponse,
  type: string,
  body: string,
  {
    status = 200,
    headers = [...pageHeaders, 'cache-control', 'no-cache'],
  }: { readonly status?: number; readonly headers?: readonly string[] } = {},
): void {
  sendBody(res, status, ['content-type', type, 'vary', 'accept', 'x-request-id', requestIdOf(req), ...headers], body);
}

/** The headers of a page with a form that is sent to this service, and is kept by nobody. */
export const formHeaders: readonly string[] = [
  ...pageHeaders.map((value) => (value === pagePolicy ? pagePolicy.replace("form-action 'none'", "form-action 'self'") : value)),
  'cache-control',
  'no-store',
];

export const htmlType = 'text/html; charset=utf-8';
