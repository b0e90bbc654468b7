import type { Readable } from 'node:stream';
import { contentAddress, signedContentAddress } from '../../engine/knowledge/content-links.ts';
import type { DataSourceFilter } from '../../entities/accounts/access.ts';
import type { Caller } from '../../entities/accounts/caller.ts';
import { DomainError } from '../../entities/errors.ts';
import { isId } from '../../entities/ids.ts';
import type { KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import type { Page, PageRequest } from '../../entities/page.ts';
import { canEditDataSource, citedDataSources, visibleDataSources } from '../access/access.ts';
import type { Deps } from '../deps.ts';
import { getDataSource, offsetOf } from './sources.ts';

/** An item of a source. @throws DomainError NOT_FOUND, also for one of another source or one that the caller may not see. */
export async function getKnowledgeItem(deps: Deps, caller: Caller, dataSourceId: string, id: string): Promise<KnowledgeItem> {
  const found = isId('knowledgeItem', id) ? await deps.storage.knowledgeItems.find(id, visibleDataSources(caller)) : undefined;
  if (found === undefined || found.dataSourceId !== dataSourceId) {
    throw missingItem();
  }
  deps.audit.read(caller, 'dataSource', [{ id: dataSourceId }]);
  return found;
}

/** The items of a source, oldest first. @throws DomainError NOT_FOUND for a source that the caller may not see; INVALID_VALUE naming `page`. */
export async function listKnowledgeItems(
  deps: Deps,
  caller: Caller,
  dataSourceId: string,
  pageNumber: number | null | undefined,
  page: PageRequest,
): Promise<Page<KnowledgeItem>> {
  const source = await getDataSource(deps, caller, dataSourceId);
  return deps.storage.knowledgeItems.list(source.id, page, offsetOf(pageNumber, page));
}

/**
 * Sets whether answers may cite an item.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for everyone except the owner of the source and administrators.
 */
export async function updateKnowledgeItem(
  deps: Deps,
  caller: Caller,
  dataSourceId: string,
  id: string,
  input: { readonly cite: boolean },
): Promise<KnowledgeItem> {
  const source = await getDataSource(deps, caller, dataSourceId);
  const item = await getKnowledgeItem(deps, caller, dataSourceId, id);
  if (!canEditDataSource(caller, source)) {
    throw new DomainError('FORBIDDEN', 'Only the owner of a data source and administrators may change its items');
  }
  await deps.audit.change(caller, () => deps.storage.knowledgeItems.setCite(item.id, input.cite));
  return { ...item, cite: input.cite, updatedAt: deps.now() };
}

/** The original bytes of an item. They are served so that a browser does not run them. */
export interface StoredContent {
  readonly filename: string;
  readonly sizeBytes: number | null;
  open(): Promise<Readable>;
}

/** Names an item by its source. */
export interface ItemPlace {
  readonly dataSourceId: string;
  readonly id: string;
}

/**
 * An item whose original the caller may open: of a source that it sees, or one that an agent which it may use can cite.
 *
 * @throws DomainError NOT_FOUND.
 */
export async function getCitedItem(deps: Deps, caller: Caller, { dataSourceId, id }: ItemPlace): Promise<KnowledgeItem> {
  const find = (filter: DataSourceFilter) =>
    isId('knowledgeItem', id) ? deps.storage.knowledgeItems.find(id, filter) : undefined;
  const seen = await find(visibleDataSources(caller));
  const cited = seen === undefined ? await find(citedDataSources(caller)) : undefined;
  const found = seen ?? (cited?.cite === true ? cited : undefined);
  if (found === undefined || found.dataSourceId !== dataSourceId) throw missingItem();
  deps.audit.read(caller, 'dataSource', [{ id: dataSourceId }]);
  return found;
}

/** The original of an item. @throws DomainError NOT_FOUND, also when another service has the bytes. */
export async function knowledgeItemContent(deps: Deps, caller: Caller, place: ItemPlace): Promise<StoredContent> {
  return contentOf(deps, await getCitedItem(deps, caller, place));
}

/** The original bytes of an item. @throws DomainError NOT_FOUND when they are not kept here. */
export function contentOf({ storage }: Deps, { contentBlobKey, filename, name, sizeBytes }: KnowledgeItem): StoredContent {
  if (contentBlobKey === null)
    throw new DomainError('NOT_FOUND', 'The content of this item is not kept here', { param: 'knowledgeId' });
  return { filename: filename ?? name, sizeBytes, open: () => storage.blobs.get(contentBlobKey) };
}

export function missingItem(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such knowledge item', { param: 'knowledgeId' });
}

/** The address of an item's original, in Parley or at its source; '' without an original. */
export function contentUrlOf(deps: Deps, { contentUrl, contentBlobKey, dataSourceId, id }: KnowledgeItem): string {
  if (contentUrl !== null) return contentUrl;
  return contentBlobKey === null ? '' : contentAddress(deps, dataSourceId, id);
}

/** The address of an item's original, for readers of answers: signed where Parley keeps it. '' for none. */
export function citedUrlOf(deps: Deps, { contentUrl, contentBlobKey, dataSourceId, id, orgId }: KnowledgeItem): string {
  if (contentUrl !== null) return contentUrl;
  return contentBlobKey === null ? '' : signedContentAddress(deps, { dataSourceId, itemId: id, orgId });
}
