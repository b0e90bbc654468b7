import { type BrowseEntry, type BrowsePage, type Browser, joinPlace } from '../../connections/browser.ts';
import { openFoundSite } from '../atlassian/site.ts';
import { createWikiApi, type Descendant, type WikiApi, type WikiPage } from './api.ts';
import { isHidden } from './walk.ts';

/** Confluence finds spaces by their keys only: names are compared here, in at most this many parts of 100. */
const searchedPartsMax = 10;

/**
 * Lists spaces, then the pages and folders in them. A search finds spaces whose names have the words, and pages with just that title.
 *
 * Cost: one call, and two more for what lies above `parent`.
 */
export const browseWiki: Browser = async (services, connection, { parent, search, cursor }, signal) => {
  const wikiSite = await openFoundSite(services, 'confluence', await services.tokens.open(connection.id, connection), signal);
  const api = createWikiApi(services, wikiSite, wikiSite.site.url, signal);
  const words = search?.trim() ?? '';
  if (words !== '') return found(api, words);
  if (parent !== undefined) return below(api, parent, cursor);
  const { results, next } = await api.spaces(false, cursor);
  return { entries: results.map(({ id, name }) => spaceEntry(id, name)), nextCursor: next ?? null };
};

async function found(api: WikiApi, words: string): Promise<BrowsePage> {
  const spaces: BrowseEntry[] = [];
  let next: string | undefined;
  for (let part = 0; part < searchedPartsMax; part += 1) {
    const spaceList = await api.spaces(false, next);
    for (const { id, name } of spaceList.results) {
      if (name.toLowerCase().includes(words.toLowerCase())) spaces.push(spaceEntry(id, name));
    }
    next = spaceList.next;
    if (next === undefined) break;
  }
  const { results } = await api.search({ title: words, status: 'current' }, undefined);
  return { entries: [...spaces, ...results.map((page) => pageEntry(page, ''))].slice(0, 100), nextCursor: null };
}

/** Ids of spaces, pages and folders are of one sequence: the id alone says what it is. */
async function below(api: WikiApi, parent: string, cursor: string | undefined): Promise<BrowsePage> {
  const space = await api.space(parent).catch(missing);
  if (space !== undefined) {
    const { results, next } = await api.topPages(space.id, cursor);
    return { entries: results.map((page) => pageEntry(page, space.name)), nextCursor: next ?? null };
  }
  const page = await api.page(parent).catch(missing);
  const { results, next } = await api.children(page === undefined ? 'folders' : 'pages', parent, cursor);
  const place = page === undefined ? '' : await findPlace(api, page);
  return { entries: results.flatMap((one) => childEntry(one, place)), nextCursor: next ?? null };
}

async function findPlace(api: WikiApi, page: WikiPage): Promise<string> {
  const space = page.spaceId === '' ? undefined : await api.space(page.spaceId).catch(missing);
  return joinPlace(space?.name ?? '', page.title);
}

function missing(error: unknown): undefined {
  if (!isHidden(error)) throw error;
}

function spaceEntry(id: string, name: string): BrowseEntry {
  return { id, name, kind: 'space', hasChildren: true, canBeAdded: true, path: name };
}

function pageEntry({ id, title }: Pick<WikiPage, 'id' | 'title'>, place: string): BrowseEntry {
  return { id, name: title, kind: 'page', hasChildren: true, canBeAdded: true, path: joinPlace(place, title) };
}

/** Whiteboards and databases are left out: they are not read. */
function childEntry({ id, type, title }: Descendant, place: string): readonly BrowseEntry[] {
  if (type === 'page') return [pageEntry({ id, title }, place)];
  return type === 'folder' ? [{ ...pageEntry({ id, title }, place), kind: 'folder' }] : [];
}
