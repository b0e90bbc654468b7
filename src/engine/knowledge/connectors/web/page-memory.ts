import { readString } from '../../../../lib/json/json.ts';
import type { ExistingItem } from '../connector.ts';
import type { Scope } from './address/scope.ts';
import { packAddress, unpackAddress } from './crawl-place.ts';

/** A page with more links is read whole each time. */
const linksMaxChars = 16 * 1024;
const validatorMaxChars = 500;

/**
 * What is kept of a page in the notes of its item: what makes the next request conditional, and where the page leads, because a page that did
 * not change is not sent again, and its links would be lost.
 */
export interface PageMemory {
  readonly etag?: string;
  readonly lastModified?: string;
  /** The addresses that the source covers, one a line, without the origin of the source. */
  readonly links?: string;
  /** The configuration under which the links were chosen. */
  readonly linkScope?: string;
  /** The change key of the content that all this belongs to. */
  readonly readKey?: string;
}

/** Empty when the server sent neither ETag nor Last-Modified. */
export function pageMemory(
  headers: Readonly<Record<string, string>>,
  links: readonly string[],
  scope: Scope,
  readKey: string,
): PageMemory {
  const { etag, 'last-modified': lastModified } = headers;
  if (etag === undefined && lastModified === undefined) return { readKey };
  if (`${etag ?? ''}${lastModified ?? ''}`.length > validatorMaxChars) return { readKey };
  const packedLinks = links.map((link) => packAddress(scope.origins[0] ?? '', link)).join('\n');
  if (packedLinks.length > linksMaxChars) return { readKey };
  return {
    ...(etag === undefined ? {} : { etag }),
    ...(lastModified === undefined ? {} : { lastModified }),
    ...{ links: packedLinks, linkScope: scope.key, readKey },
  };
}

/** Whether the content that was read last is the one that is indexed: not where indexing it failed, or another reader indexed it. */
export function isIndexedAsRead({ isIndexed, changeKey, notes }: ExistingItem): boolean {
  return isIndexed && changeKey !== null && notes.readKey === changeKey;
}

/** Headers of a request that is answered 304 when the page is as it was; none when it has to be read whole. */
export function conditionalHeaders(existingItem: ExistingItem, scopeKey: string): Readonly<Record<string, string>> {
  const { notes } = existingItem;
  const [etag, lastModified] = [readString(notes.etag), readString(notes.lastModified)];
  if (!isIndexedAsRead(existingItem) || notes.linkScope !== scopeKey) return {};
  // A server that knows the ETag ignores the date.
  return {
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
  };
}

/** Where a known page leads; undefined when that was not kept, or under another configuration. */
export function retainedLinks({ notes }: ExistingItem, scope: Scope): readonly string[] | undefined {
  const links = readString(notes.links);
  if (links === undefined || notes.linkScope !== scope.key) return undefined;
  return links === '' ? [] : links.split('\n').map((link) => unpackAddress(scope.origins[0] ?? '', link));
}
