import { DomainError } from '../../../entities/ground/errors.ts';
import type { FileContent } from '../../../entities/knowledge/vector-store.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { toText } from '../item-passages.ts';
import { getStoreFile } from './files.ts';
import type { Optional } from './input.ts';

/** Of one page; LIST_PAGE_MAX_BYTES usually ends it before. */
const passagesMax = 20_000;

/**
 * The text that was read from a file of a store, passage by passage.
 *
 * @param page  the `nextPage` of the page before.
 * @throws DomainError NOT_FOUND for the store and the file; INVALID_VALUE naming `page`.
 */
export async function getFileContent(
  deps: Deps,
  caller: Caller,
  storeId: string,
  fileId: string,
  page: Optional<string>,
): Promise<FileContent> {
  if (typeof page === 'string' && !/^\d{1,9}$/.test(page)) {
    throw new DomainError('INVALID_VALUE', 'page must be the next_page of the page before', { param: 'page' });
  }
  const { itemId } = await getStoreFile(deps, caller, { id: fileId, vectorStoreId: storeId });
  const from = typeof page === 'string' ? Number(page) : 0;
  // The passage before the page comes too: the first one of the page may overlap with it.
  const overlapStart = Math.max(0, from - 1);
  const { rows, foundCount } = await deps.storage.knowledge.vectorStores.passages(itemId, overlapStart, passagesMax + 2);
  const last = rows.slice(0, passagesMax + 1).at(-1);
  const texts = rows
    .slice(0, passagesMax + 1)
    .map((row, index, all) => ({ place: row.ordinal, text: toText(row, all[index - 1]) }));
  return {
    passages: texts.filter(({ place }) => place >= from),
    nextPage: last !== undefined && last.ordinal >= from && foundCount > texts.length ? String(last.ordinal + 1) : null,
  };
}
