import { openSite } from '../atlassian/site.ts';
import type { Connector, ConnectorServices, ListedItem, ListedPage, ListingEnd, ListTask } from '../connector.ts';
import { SourceError } from '../error.ts';
import { createWikiApi, type WikiApi, type WikiPage } from './api.ts';
import { listAttachments } from './attachments.ts';
import { readWikiConfig, type WikiConfig } from './config.ts';
import { driveLinksIn, listDriveFiles, readDriveFileIds } from './drive-files.ts';
import { pageMarkdown } from './page-markdown.ts';
import { firstPlace, isHidden, isWanted, nextPart, readPlace } from './walk.ts';

export interface WikiServices extends ConnectorServices {
  /** Reads the files of Google Drive that pages link to; undefined: they are listed as skipped. */
  readonly drive: Connector;
}

interface WikiListing {
  readonly services: WikiServices;
  readonly task: ListTask;
  readonly config: WikiConfig;
  readonly api: WikiApi;
  readonly cloudId: string;
}

type Part = Omit<ListedPage, 'place'>;

/**
 * Lists the pages of a source, at most 100 in a part, with their attachments and the files of a drive that they link to.
 *
 * Every run lists all pages: Confluence v2 has no feed of changes, and a list without contents costs one call for 100 pages. The version of a page says
 * whether its content is fetched.
 */
export async function* listWiki(services: WikiServices, task: ListTask): AsyncGenerator<ListedPage, ListingEnd, void> {
  const { source, signal } = task;
  const config = readWikiConfig(source);
  const wikiSite = await openSite(services, 'confluence', source, signal);
  const { cloudId, url } = wikiSite.site;
  const listing = { services, task, config, cloudId, api: createWikiApi(services, wikiSite, url, signal) };
  let place = readPlace(task.place) ?? (await firstPlace(listing.api, config));
  let isMissing = false;
  for (;;) {
    signal.throwIfAborted();
    const part = await nextPart(listing.api, config, place).catch(async (error: unknown) => {
      if (!(await isRootGone(listing, error))) throw error;
      isMissing = true;
      return undefined;
    });
    if (part === undefined) break;
    const pages = part.pages.filter((page) => isWanted(page, config));
    if (config.scope.kind === 'page' && !config.hasChildPages && pages.length === 0) {
      await requireKnown(listing, config.scope.id, part.pages[0]);
      isMissing = true;
      break;
    }
    // A run that is cut off in between lists this part again from its beginning.
    let last: Part | undefined;
    for await (const listPart of streamParts(listing, pages)) {
      if (last !== undefined) yield { ...last, place };
      last = listPart;
    }
    place = part.after;
    if (last !== undefined) yield { ...last, place };
  }
  if (isMissing && config.scope.kind === 'page') yield { items: [], goneIds: [config.scope.id], place };
  return { isComplete: place.isIncomplete !== true };
}

/** Whether the page of a source was read before and is gone now: that is a deletion, and no mistake in the source. */
async function isRootGone({ task, config: { scope } }: WikiListing, error: unknown): Promise<boolean> {
  if (scope.kind !== 'page' || !isHidden(error)) return false;
  return (await task.known([scope.id])).has(scope.id);
}

/** @throws SourceError NOT_FOUND for a page that is in the bin, or archived, and was never read. */
async function requireKnown({ task }: WikiListing, id: string, page: WikiPage | undefined): Promise<void> {
  if ((await task.known([id])).has(id)) return;
  const isArchived = page?.status === 'archived';
  throw new SourceError(
    'NOT_FOUND',
    isArchived
      ? 'The page is archived: add the source again with archive, or restore the page in Confluence.'
      : 'The page is a draft or in the bin: publish or restore it in Confluence, or remove this source.',
  );
}

async function* streamParts(listing: WikiListing, pages: readonly WikiPage[]): AsyncGenerator<Part, void, void> {
  const { config, task } = listing;
  const [first] = pages;
  if (first === undefined) return;
  task.progress(first.title);
  if (config.hasDriveFiles) yield* withDriveFiles(listing, pages);
  else yield { items: pages.map((page) => listedPage(listing, page)) };
  if (!config.hasAttachments) return;
  for (const page of pages) yield* listAttachments(listing, page);
}

/** The links to a drive are in the contents: those of new and changed pages are read now, and not fetched again. */
async function* withDriveFiles(listing: WikiListing, pages: readonly WikiPage[]): AsyncGenerator<Part, void, void> {
  const { task, api } = listing;
  const existingItems = await task.known(pages.map(({ id }) => id));
  const unread: WikiPage[] = [];
  const keptItems: ListedItem[] = [];
  const linkingPages: { readonly page: WikiPage; readonly fileIds: readonly string[] }[] = [];
  for (const page of pages) {
    const before = existingItems.get(page.id);
    const fileIds = readDriveFileIds(before?.metadata);
    if (task.isForced || fileIds === undefined || before?.changeKey !== toKey(page)) unread.push(page);
    else {
      keptItems.push(listedPage(listing, page));
      linkingPages.push({ page, fileIds });
    }
  }
  if (keptItems.length > 0) yield { items: keptItems };
  for (const page of unread) {
    const full = await api.pageWithBody(page.id).catch((error: unknown) => {
      if (isHidden(error)) return undefined;
      throw error;
    });
    // Deleted since it was listed.
    if (full === undefined) continue;
    const fileIds = driveLinksIn(full.storage);
    const item = listedPage(listing, { ...page, version: full.version });
    yield { items: [{ ...item, ...toContent(full), metadata: { ...item.metadata, driveFileIds: fileIds } }] };
    linkingPages.push({ page, fileIds });
  }
  for (const { page, fileIds } of linkingPages) yield* listDriveFiles(listing, page, fileIds);
}

function toContent(page: Parameters<typeof pageMarkdown>[0]): Pick<ListedItem, 'content' | 'skipped'> {
  try {
    return { content: Buffer.from(pageMarkdown(page)) };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { skipped: { code: error.code, message: error.message } };
  }
}

function toKey({ version }: WikiPage): string | null {
  return version === null ? null : String(version);
}

function listedPage({ cloudId }: WikiListing, page: WikiPage): ListedItem {
  const { id, title, spaceId, parentId, url, status } = page;
  return {
    uniqueId: id,
    parentUniqueId: parentId,
    name: title,
    url,
    changeKey: toKey(page),
    filename: `${title || id}.md`,
    mimeType: 'text/markdown',
    metadata: { cloudId, spaceId, ...(status === 'archived' ? { isArchived: true } : {}) },
  };
}
