import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { PassageView } from '../domain/knowledge/linked.ts';
import { sendBody } from '../http/reply/reply.ts';
import { escapeHtml } from '../lib/text/html.ts';

const style = `
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem 1.25rem 3rem; font: 1rem/1.6 system-ui, sans-serif; }
h1 { font-size: 1.4rem; line-height: 1.3; margin: 0 0 .25rem; overflow-wrap: anywhere; }
.place, .note { margin: 0 0 1rem; opacity: .75; overflow-wrap: anywhere; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: .5rem; padding: 1rem; margin: 1rem 0; }
mark { background: #ffe58a; color: #1a1a1a; border-radius: .2rem; padding: .1em 0; }
a { color: LinkText; }
.links a { margin-right: 1.25rem; }
`;
const styleHash = createHash('sha256').update(style).digest('base64');

/** Nothing runs, nothing is loaded, nothing frames the page. Documents may be saved from it. */
const pagePolicy = [
  'sandbox allow-downloads',
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Sends a page to somebody who opened a signed link. Its text is of strangers, and the link in its address is for its holder only. */
export function sendContentPage(res: ServerResponse, status: number, html: string, requestId: string): void {
  const headers = [
    ...['content-type', 'text/html; charset=utf-8', 'content-security-policy', pagePolicy],
    ...['x-content-type-options', 'nosniff', 'cross-origin-resource-policy', 'same-origin'],
    ...['cache-control', 'private, no-store', 'referrer-policy', 'no-referrer', 'x-robots-tag', 'noindex'],
    ...['vary', 'accept', 'x-request-id', requestId],
  ];
  sendBody(res, status, headers, html);
}

/**
 * A cited passage, marked within the text around it.
 *
 * @param addresses  where the document is shown, and where it is saved.
 */
export function passagePage(passage: PassageView, addresses: { readonly original: string; readonly download: string }): string {
  const { name, headingPath, page, before, text, after, isCutBefore, isCutAfter, isCurrent } = passage;
  const place = [headingPath, page === null ? '' : `page ${page}`].filter((part) => part !== '').join(' · ');
  const main = [
    `<h1>${escapeHtml(name)}</h1>`,
    ...(place === '' ? [] : [`<p class="place">${escapeHtml(place)}</p>`]),
    ...(isCurrent
      ? []
      : ['<p class="note">The document was read again after it was cited, so the passage may stand elsewhere in it.</p>']),
    `<p class="links"><a href="#passage">Go to the passage</a> ${writeLinks(passage, addresses)}</p>`,
    `<div class="text">${isCutBefore ? '… ' : ''}${escapeHtml(before)}<mark id="passage">${escapeHtml(text)}</mark>${escapeHtml(after)}${isCutAfter ? ' …' : ''}</div>`,
  ];
  return writePage(name, main.join('\n'));
}

/** Says why a link does not open. */
export function refusedLinkPage(message: string, status: number): string {
  const title = status === 404 ? 'This document is gone' : 'This link does not open';
  return writePage(title, `<h1>${title}</h1>\n<p>${escapeHtml(message)}.</p>`);
}

function writeLinks(
  { original, page }: PassageView,
  addresses: { readonly original: string; readonly download: string },
): string {
  if (original === 'none') return 'The document itself is not kept here.';
  const download = `<a href="${escapeHtml(addresses.download)}">Download the document</a>`;
  if (original === 'download') return download;
  const isAtPage = original === 'pdf' && page !== null;
  const originalLink = `<a href="${escapeHtml(addresses.original)}${isAtPage ? `#page=${page}` : ''}">Open the document${isAtPage ? ` at page ${page}` : ''}</a>`;
  return `${originalLink} ${download}`;
}

function writePage(title: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;
}
