import type { Readable } from 'node:stream';
import type { Caller } from '../../entities/accounts/caller.ts';
import { DomainError } from '../../entities/errors.ts';
import { isId } from '../../entities/ids.ts';
import type { KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import type { Page, PageRequest } from '../../entities/page.ts';
import { canEditDataSource, visibleDataSources } from '../access/access.ts';
import type { Deps } from '../deps.ts';
import { getDataSource, offsetOf } from './sources.ts';

/** An item of a source. @throws DomainError NOT_FOUND, also for one of another source or one that the caller may not see. */
export async function getKnowledgeItem(deps: Deps, caller: Caller, dataSourceId: string, id: string): Promise<KnowledgeItem> {
  const found = isId('knowledgeItem', id) ? await deps.storage.knowledgeItems.find(id, visibleDataSources(caller)) : undefined;
  if (found === undefined || found.dataSourceId !== dataSourceId) {
    throw new DomainError('NOT_FOUND', 'There is no such knowledge item', { param: 'knowledgeId' });
  }
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
  await deps.storage.knowledgeItems.setCite(item.id, input.cite);
  return { ...item, cite: input.cite, updatedAt: deps.now() };
}

/** The original bytes of an item. They are served so that a browser does not run them. */
export interface StoredContent {
  readonly filename: string;
  readonly sizeBytes: number | null;
  open(): Promise<Readable>;
}

/** The original of an item. @throws DomainError NOT_FOUND, also when another service has the bytes. */
export async function knowledgeItemContent(
  deps: Deps,
  caller: Caller,
  { dataSourceId, id }: { readonly dataSourceId: string; readonly id: string },
): Promise<StoredContent> {
  const { contentBlobKey, filename, name, sizeBytes } = await getKnowledgeItem(deps, caller, dataSourceId, id);
  if (contentBlobKey === null)
    throw new DomainError('NOT_FOUND', 'The content of this item is not kept here', { param: 'knowledgeId' });
  return { filename: filename ?? name, sizeBytes, open: () => deps.storage.blobs.get(contentBlobKey) };
}

/** The address of an item's original, in Parley or at its source; '' without an original. */
export function contentUrlOf(deps: Deps, { contentUrl, contentBlobKey, dataSourceId, id }: KnowledgeItem): string {
  if (contentUrl !== null) return contentUrl;
  return contentBlobKey === null ? '' : `${deps.publicUrl()}/api/v1/data-sources/${dataSourceId}/knowledge/${id}/content`;
}
