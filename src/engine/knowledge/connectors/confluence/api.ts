import { type JsonObject, membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import type { Query, SiteApi } from '../atlassian/site.ts';
import { readText } from '../atlassian/site.ts';
import type { ConnectorServices } from '../connector.ts';
import { SourceError } from '../error.ts';
import { CursorTrail } from '../service-client/cursor-trail.ts';

export interface WikiPage {
  readonly id: string;
  readonly title: string;
  /** `current`, `archived`, `draft`, `trashed`. */
  readonly status: string;
  readonly spaceId: string;
  readonly parentId: string | null;
  readonly version: number | null;
  /** Where people open it; null when Confluence does not say. */
  readonly url: string | null;
}

export interface WikiSpace {
  readonly id: string;
  readonly name: string;
}

export interface WikiAttachment {
  readonly id: string;
  readonly title: string;
  readonly mediaType: string;
  readonly sizeBytes: number | null;
  readonly version: number | null;
  readonly url: string | null;
  readonly downloadLink: string | null;
}

/** A page, folder or other thing below a page. */
export interface Descendant {
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly depth: number | null;
}

/** A part of a list. */
export interface Listed<T> {
  readonly results: readonly T[];
  /** The query of the next part, given back to the call; undefined at the end. */
  readonly next: string | undefined;
}

/** Confluence Cloud, REST v2. Every call throws SourceError, or the signal's reason. */
export interface WikiApi {
  page(id: string): Promise<WikiPage>;
  /** A page with its content in the storage format. */
  pageWithBody(id: string): Promise<WikiPage & { readonly storage: string }>;
  spaces(withArchived: boolean, next: string | undefined): Promise<Listed<WikiSpace>>;
  space(id: string): Promise<WikiSpace>;
  pagesOfSpace(spaceId: string, statuses: string, next: string | undefined): Promise<Listed<WikiPage>>;
  /** Those of the pages that are there and may be read. */
  pagesById(ids: readonly string[], statuses: string): Promise<readonly WikiPage[]>;
  /** What lies below a page or folder, at most `descendantsDepth` levels. */
  descendants(parentType: 'pages' | 'folders', id: string, next: string | undefined): Promise<Listed<Descendant>>;
  /** What lies directly in a page or folder. */
  children(parentType: 'pages' | 'folders', id: string, next: string | undefined): Promise<Listed<Descendant>>;
  /** The pages at the top of a space. */
  topPages(spaceId: string, next: string | undefined): Promise<Listed<WikiPage>>;
  /** The pages with just these values. */
  search(query: Query, next: string | undefined): Promise<Listed<WikiPage>>;
  attachments(pageId: string, next: string | undefined): Promise<Listed<WikiAttachment>>;
}

export const pageSizeMax = 100;
/** The most that Confluence takes. */
export const descendantsDepth = 10;
const root = '/wiki/api/v2';

export function createWikiApi(
  { vendors }: Pick<ConnectorServices, 'vendors'>,
  site: SiteApi,
  siteUrl: string,
  signal: AbortSignal,
): WikiApi {
  const get = async (path: string, query?: Query) => membersOf(await vendors.json(site.request(root + path, query), signal));
  const trail = new CursorTrail('Confluence');
  const list = async <T>(
    path: string,
    query: Query,
    next: string | undefined,
    read: (value: unknown, base: string) => T,
  ): Promise<Listed<T>> => {
    // The next part's address may lie at the site, which takes no token of an app: only its query is followed.
    const pageQuery = {
      limit: String(pageSizeMax),
      ...query,
      ...(next === undefined ? {} : Object.fromEntries(new URLSearchParams(next))),
    };
    const reply = await get(path, pageQuery);
    // A reply without its list was cut, and is no empty list.
    if (!Array.isArray(reply.results))
      throw new SourceError('BAD_REPLY', 'Confluence answered without the list that was asked for.');
    const links = membersOf(reply._links);
    const base = readString(links.base) ?? `${siteUrl}/wiki`;
    return {
      results: readElements(reply.results).map((value) => read(value, base)),
      next: trail.follow(`${path} ${JSON.stringify(query)}`, next, readQuery(links.next)),
    };
  };
  const id = encodeURIComponent;
  const fallbackBase = `${siteUrl}/wiki`;
  return {
    page: async (pageId) => readPage(await get(`/pages/${id(pageId)}`), fallbackBase),
    async pageWithBody(pageId) {
      const reply = await get(`/pages/${id(pageId)}`, { 'body-format': 'storage' });
      const storage = readString(membersOf(membersOf(reply.body).storage).value);
      if (storage === undefined) throw new SourceError('BAD_REPLY', 'Confluence answered without the content of the page.');
      return { ...readPage(reply, fallbackBase), storage };
    },
    // It takes one status; without it, spaces of all are listed.
    spaces: (withArchived, next) =>
      list('/spaces', { status: withArchived ? undefined : 'current', sort: 'id' }, next, readSpace),
    async space(spaceId) {
      if (/^\d+$/.test(spaceId)) return readSpace(await get(`/spaces/${id(spaceId)}`));
      // People know spaces by their keys.
      const { results } = await list('/spaces', { keys: spaceId, sort: 'id' }, undefined, readSpace);
      if (results[0] === undefined) throw new SourceError('NOT_FOUND', 'Confluence has no space with this key.');
      return results[0];
    },
    // Without an order, Confluence loses the later parts of some lists.
    pagesOfSpace: (spaceId, status, next) =>
      list(`/spaces/${id(spaceId)}/pages`, { depth: 'all', status, sort: 'id' }, next, readPage),
    async pagesById(ids, status) {
      const pages: WikiPage[] = [];
      const query = { id: ids.join(','), status, sort: 'id' };
      let next: string | undefined;
      do {
        const part = await list('/pages', query, next, readPage);
        pages.push(...part.results);
        next = part.next;
      } while (next !== undefined && pages.length <= ids.length);
      return pages;
    },
    // It has one order, from top to bottom, and takes no other.
    descendants: (parentType, parentId, next) =>
      list(`/${parentType}/${id(parentId)}/descendants`, { depth: String(descendantsDepth) }, next, readDescendant),
    children: (parentType, parentId, next) =>
      list(`/${parentType}/${id(parentId)}/direct-children`, { sort: 'id' }, next, readDescendant),
    topPages: (spaceId, next) =>
      list(`/spaces/${id(spaceId)}/pages`, { depth: 'root', status: 'current', sort: 'title' }, next, readPage),
    search: (query, next) => list('/pages', { sort: 'id', ...query }, next, readPage),
    attachments: (pageId, next) =>
      list(`/pages/${id(pageId)}/attachments`, { status: 'current', sort: 'created-date' }, next, readAttachment),
  };
}

function readPage(value: unknown, base: string): WikiPage {
  const { title, status, spaceId, parentId, version, _links } = membersOf(value);
  const links = membersOf(_links);
  return {
    id: readId(value),
    title: readString(title) ?? '',
    status: readString(status) ?? 'current',
    spaceId: readText(spaceId),
    parentId: readText(parentId) || null,
    version: readNumber(membersOf(version).number),
    url: toAddress(links.webui, readString(links.base) ?? base),
  };
}

function readSpace(value: unknown): WikiSpace {
  const id = readId(value);
  return { id, name: readString(membersOf(value).name) ?? id };
}

function readDescendant(value: unknown): Descendant {
  const { type, title, depth } = membersOf(value);
  return { id: readId(value), type: readString(type) ?? 'page', title: readString(title) ?? '', depth: readNumber(depth) };
}

function readAttachment(value: unknown, base: string): WikiAttachment {
  const { title, mediaType, fileSize, version, webuiLink, downloadLink, _links } = membersOf(value);
  const links: JsonObject = membersOf(_links);
  return {
    id: readId(value),
    title: readString(title) ?? '',
    mediaType: readString(mediaType) ?? 'application/octet-stream',
    sizeBytes: readNumber(fileSize),
    version: readNumber(membersOf(version).number),
    url: toAddress(webuiLink ?? links.webui, base),
    downloadLink: readString(downloadLink) ?? readString(links.download) ?? null,
  };
}

function readId(value: unknown): string {
  const id = readText(membersOf(value).id);
  if (id === '') throw new SourceError('BAD_REPLY', 'Confluence listed something without its id.');
  return id;
}

function readNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function toAddress(path: unknown, base: string): string | null {
  const text = readString(path);
  if (text === undefined || text === '') return null;
  return /^https?:\/\//i.test(text) ? text : base.replace(/(?<!\/)\/+$/, '') + text;
}

/** The query of the next part, which names it. */
function readQuery(link: unknown): string | undefined {
  const address = readString(link);
  if (address === undefined || address === '') return undefined;
  if (!address.includes('?')) throw new SourceError('BAD_REPLY', 'Confluence does not say where a list goes on.');
  return address.slice(address.indexOf('?') + 1);
}
