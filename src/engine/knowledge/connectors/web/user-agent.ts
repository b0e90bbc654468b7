import { readFileSync } from 'node:fs';
import type { Settings } from '../../../../settings.ts';

const packageFile = new URL('../../../../../package.json', import.meta.url);

/** What the crawler calls itself: CRAWL_USER_AGENT, or the version and where people find who runs it. */
export function crawlUserAgent({ CRAWL_USER_AGENT, PUBLIC_URL }: Pick<Settings, 'CRAWL_USER_AGENT' | 'PUBLIC_URL'>): string {
  if (CRAWL_USER_AGENT !== undefined) return CRAWL_USER_AGENT;
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
  return `Parley/${version}${PUBLIC_URL === undefined ? '' : ` (+${PUBLIC_URL})`}`;
}

/** The name by which robots.txt and robots tags address it: the user agent up to its version, in lower case. */
export function productToken(userAgent: string): string {
  return (userAgent.split(/[/\s(]/)[0] ?? '').toLowerCase();
}
