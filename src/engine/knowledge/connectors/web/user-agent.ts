import { userAgent } from '../../../../lib/product.ts';
import type { Settings } from '../../../../settings.ts';

/** What the crawler calls itself: CRAWL_USER_AGENT, or the version and where people find who runs it. */
export function crawlUserAgent({ CRAWL_USER_AGENT, PUBLIC_URL }: Pick<Settings, 'CRAWL_USER_AGENT' | 'PUBLIC_URL'>): string {
  if (CRAWL_USER_AGENT !== undefined) return CRAWL_USER_AGENT;
  return `${userAgent}${PUBLIC_URL === undefined ? '' : ` (+${PUBLIC_URL})`}`;
}

/** The name by which robots.txt and robots tags address it: the user agent up to its version, in lower case. */
export function productToken(name: string): string {
  return (name.split(/[/\s(]/)[0] ?? '').toLowerCase();
}
