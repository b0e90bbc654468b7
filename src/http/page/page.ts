import type { IncomingMessage, ServerResponse } from 'node:http';
import { escapeHtml } from '../../lib/text/html.ts';
import { findRequestId } from '../context.ts';
import { sendBody } from '../reply/reply.ts';
import { type SitePart, siteHead, siteHeader } from './header.ts';

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
  /** HTML beside the main part; the page is a column without it. */
  readonly aside?: string;
  /** Whether the main part is as wide as a list of cards; it is as wide as a text without it. */
  readonly isWide?: boolean;
  /** The part of the site that the header marks. */
  readonly part?: SitePart;
  /** Address of a script of this process. */
  readonly script?: string;
}

/** What the keyboard reaches first. */
export const skipLink = '<a class="skip" href="#main" lang="en">Skip to the content</a>';

/** The complete HTML of a page. */
export function renderPage({ title, main, aside, isWide = false, part, script }: Page): string {
  const column = `<main id="main" tabindex="-1"${isWide ? ' class="wide"' : ''}>\n${main}\n</main>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
${siteHead}
<link rel="stylesheet" href="/pages/style.css">${aside === undefined ? '' : '\n<link rel="stylesheet" href="/pages/manual.css">'}
</head>
<body>
${skipLink}
${siteHeader(part)}
${aside === undefined ? column : `<div class="beside">\n${aside}\n${column}\n</div>`}
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
  sendBody(res, status, ['content-type', type, 'vary', 'accept', 'x-request-id', findRequestId(req), ...headers], body);
}

/** The headers of a page with a form that is sent to this service, and is kept by nobody. */
export const formHeaders: readonly string[] = [
  ...pageHeaders.map((value) => (value === pagePolicy ? pagePolicy.replace("form-action 'none'", "form-action 'self'") : value)),
  'cache-control',
  'no-store',
];

export const htmlType = 'text/html; charset=utf-8';
