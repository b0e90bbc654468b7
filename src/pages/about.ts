import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { htmlType, renderPage, sendPage } from '../http/page/page.ts';
import { escapeHtml } from '../lib/text/html.ts';

/** The page about the service: its version, whether it is ready, and first requests to try. */
export function showAbout(version: string): RequestHandler {
  return (req, res) => {
    const text = readFileSync(join(import.meta.dirname, 'about', 'main.html'), 'utf8');
    const main = text.replaceAll('{{version}}', escapeHtml(version)).replaceAll('{{address}}', escapeHtml(addressOf(req)));
    sendPage(req, res, htmlType, renderPage({ title: 'About Parley', main, script: '/pages/about.js' }));
  };
}

/** The host that the visitor asked; the script of the page knows the scheme too. A host with other characters is not shown. */
function addressOf({ headers: { host = '' } }: IncomingMessage): string {
  return /^[\w.:[\]-]{1,255}$/.test(host) ? `http://${host}` : 'http://localhost';
}
