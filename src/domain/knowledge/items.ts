import type { Readable } from 'node:stream';
import { contentAddress, type LinkReader, signedContentAddress } from '../../engine/knowledge/content-links.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import { emptyPage, type Page, type PageRequest } from '../../entities/ground/page.ts';
import type { DataSource, IndexStatus, KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import type { DataSourceFilter } from '../../entities/people/access.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { ItemQuery } from '../../storage/knowledge/items/items.ts';
import type { Deps } from '../deps.ts';
import { canEditDataSource, citedDataSources, isAdministrator, visibleDataSources } from '../ground/access/access.ts';
import { keepOpenItems, openGate } from './permissions/open-items.ts';
import { getDataSource, toOffset } from './sources.ts';

const searchLengthMax = 200;

/** An item that the caller sees. @throws DomainError NOT_FOUND, also for one of another source than `dataSourceId`, where that is given. */
export async function getKnowledgeItem(
  deps: Deps,
  caller: Caller,
  id: string,
  dataSourceId?: string | null,
): Promise<KnowledgeItem> {
  const [knowledgeItem] = isId('knowledgeItem', id) ? await getKnowledgeItems(deps, caller, [id]) : [];
  if (knowledgeItem === undefined || knowledgeItem.dataSourceId !== (dataSourceId ?? knowledgeItem.dataSourceId))
    throw missingItem();
  return knowledgeItem;
}

/** The items among `ids` that the caller may see, in any order. */
export async function getKnowledgeItems(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly KnowledgeItem[]> {
  const visibleItems = await deps.storage.knowledge.items.findMany(ids, visibleDataSources(caller));
  // Administrators see names and states of all documents, so that they can say what is wrong.
  const ofOthers = visibleItems.filter(({ orgId }) => !isAdministrator(caller, orgId));
  const open = new Set(await keepOpenItems(deps, caller, ofOthers));
  const items = visibleItems.filter((item) => isAdministrator(caller, item.orgId) || open.has(item));
  for (const id of new Set(items.map(({ dataSourceId }) => dataSourceId))) deps.audit.read(caller, 'dataSource', [{ id }]);
  return items;
}

export interface ItemListQuery {
  readonly statuses?: readonly IndexStatus[] | null | undefined;
  /** Searched in the name, ignoring case; blank matches all. */
  readonly search?: string | null | undefined;
  /** Counted from 1; not together with a cursor. */
  readonly page?: number | null | undefined;
}

/** The items of a source, oldest first. @throws DomainError NOT_FOUND for a source that the caller may not see; INVALID_VALUE naming the member. */
export async function listKnowledgeItems(
  deps: Deps,
  caller: Caller,
  dataSourceId: string,
  { page: pageNumber, ...query }: ItemListQuery,
  page: PageRequest,
): Promise<Page<KnowledgeItem>> {
  const filter = readItemQuery(query);
  const source = await getDataSource(deps, caller, dataSourceId);
  const gate = isAdministrator(caller, source.orgId) ? undefined : await openGate(deps, caller, [source.id]);
  return deps.storage.knowledge.items.list(source.id, { ...filter, gate }, page, toOffset(pageNumber, page));
}

/**
 * A page of the items of each source, in the order of the sources, oldest first. Access is checked where the sources are found.
 *
 * @throws DomainError INVALID_VALUE naming the member.
 *
 * Cost: two statements for any number of sources, and one for all their counts on demand.
 */
export async function listItemsOfSources(
  deps: Deps,
  caller: Caller,
  sources: readonly Pick<DataSource, 'id' | 'orgId'>[],
  query: Omit<ItemListQuery, 'page'>,
  page: PageRequest,
): Promise<readonly Page<KnowledgeItem>[]> {
  const filter = readItemQuery(query);
  const dataSourceIds = sources.map(({ id }) => id);
  const gatedIds = sources.flatMap(({ id, orgId }) => (isAdministrator(caller, orgId) ? [] : [id]));
  const gate = gatedIds.length === 0 ? undefined : await openGate(deps, caller, gatedIds);
  const pages = await deps.storage.knowledge.items.pagesOf(dataSourceIds, { ...filter, gate }, page);
  return dataSourceIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/** @throws DomainError INVALID_VALUE naming the member. */
export function readItemQuery({ statuses, search }: Omit<ItemListQuery, 'page'>): ItemQuery {
  const text = search?.trim() ?? '';
  if (text.length > searchLengthMax) {
    throw new DomainError('INVALID_VALUE', `search must have at most ${searchLengthMax} characters`, { param: 'search' });
  }
  return { statuses: statuses ?? undefined, search: text };
}

/**
 * Sets whether answers may cite an item.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for everyone except the owner of the source and administrators.
 */
export async function updateKnowledgeItem(
  deps: Deps,
  caller: Caller,
  { id, dataSourceId }: ItemPlace,
  input: { readonly cite: boolean },
): Promise<KnowledgeItem> {
  // A source that the caller names is looked for first: the error names it.
  const targetSource = typeof dataSourceId === 'string' ? await getDataSource(deps, caller, dataSourceId) : undefined;
  const item = await getKnowledgeItem(deps, caller, id, dataSourceId);
  const source = targetSource ?? (await getDataSource(deps, caller, item.dataSourceId));
  if (!canEditDataSource(caller, source)) {
    throw new DomainError('FORBIDDEN', 'Only the owner of a data source and administrators may change its items');
  }
  await deps.audit.change(caller, () => deps.storage.knowledge.items.setCite(item.id, input.cite));
  return { ...item, cite: input.cite, updatedAt: deps.now() };
}

/** The original bytes of an item. They are served so that a browser does not run them. */
export interface StoredContent {
  readonly filename: string;
  readonly sizeBytes: number | null;
  open(): Promise<Readable>;
}

/** Names an item, and its source where a link does. */
export interface ItemPlace {
  readonly id: string;
  readonly dataSourceId?: string | null | undefined;
}

/**
 * An item whose original the caller may open: of a source that it sees, or one that an agent which it may use can cite.
 *
 * @throws DomainError NOT_FOUND.
 */
export async function getCitedItem(deps: Deps, caller: Caller, { dataSourceId, id }: ItemPlace): Promise<KnowledgeItem> {
  const find = (filter: DataSourceFilter) =>
    isId('knowledgeItem', id) ? deps.storage.knowledge.items.find(id, filter) : undefined;
  const visibleItem = await find(visibleDataSources(caller));
  const citedItem = visibleItem === undefined ? await find(citedDataSources(caller)) : undefined;
  const sourceItem = visibleItem ?? (citedItem?.cite === true ? citedItem : undefined);
  const [readableItem] = sourceItem === undefined ? [] : await keepOpenItems(deps, caller, [sourceItem]);
  if (readableItem === undefined || readableItem.dataSourceId !== (dataSourceId ?? readableItem.dataSourceId))
    throw missingItem();
  deps.audit.read(caller, 'dataSource', [{ id: readableItem.dataSourceId }]);
  return readableItem;
}

/** The original of an item. @throws DomainError NOT_FOUND, also when another service has the bytes. */
export async function knowledgeItemContent(deps: Deps, caller: Caller, place: ItemPlace): Promise<StoredContent> {
  return toContent(deps, await getCitedItem(deps, caller, place));
}

/** The original bytes of an item. @throws DomainError NOT_FOUND when they are not kept here. */
export function toContent({ storage }: Deps, { contentBlobKey, filename, name, sizeBytes }: KnowledgeItem): StoredContent {
  if (contentBlobKey === null)
    throw new DomainError('NOT_FOUND', 'The content of this item is not kept here', { param: 'knowledgeId' });
  return { filename: filename ?? name, sizeBytes, open: () => storage.blobs.get(contentBlobKey) };
}

export function missingItem(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such knowledge item', { param: 'knowledgeId' });
}

/** The address of an item's original, in Parley or at its source; null without an original. */
export function makeContentUrl(deps: Deps, { contentUrl, contentBlobKey, dataSourceId, id }: KnowledgeItem): string | null {
  if (contentUrl !== null) return contentUrl;
  return contentBlobKey === null ? null : contentAddress(deps, dataSourceId, id);
}

/** The address of an item's original, for readers of answers: signed where Parley keeps it. Null for none. */
export function makeCitedUrl(deps: Deps, caller: Caller, item: KnowledgeItem): string | null {
  return item.contentUrl ?? makeDownloadUrl(deps, caller, item);
}

/** A signed link to the bytes that are kept here, wherever the original is; null when none are. */
export function makeDownloadUrl(
  deps: Deps,
  caller: Caller,
  { contentBlobKey, dataSourceId, id, orgId }: KnowledgeItem,
): string | null {
  if (contentBlobKey === null) return null;
  return signedContentAddress(deps, { dataSourceId, itemId: id, orgId, ...linkReader(deps, caller, dataSourceId) });
}

/** Whom a link to a document is for: of a source that may be MIRRORED, it opens what that person may open. */
export function linkReader({ storage }: Deps, { orgId, userId }: Caller, dataSourceId: string): { readonly reader?: LinkReader } {
  return storage.knowledge.permissions.gates.isLent(dataSourceId) ? {} : { reader: { orgId, userId } };
}
