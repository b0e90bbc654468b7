import type { Logger } from 'pino';
import type { Lease } from '../../../storage/ground/leases.ts';
import type { LiveItem } from '../../../storage/knowledge/search-index/documents.ts';
import type { CopiedItem, OpenSearch } from '../../../storage/knowledge/search-index/opensearch/opensearch.ts';
import type { SearchIndexState } from '../../../storage/knowledge/search-index/state.ts';
import type { SearchIndexStore } from '../../../storage/knowledge/search-index/store.ts';

export interface ComparisonContext {
  readonly openSearch: OpenSearch;
  readonly store: SearchIndexStore;
  readonly lease: Lease;
  readonly logger: Logger;
  readonly compareEveryMs: number;
  /** Whether the index has vectors. */
  readonly hasVectors: boolean;
}

/** Items of one comparison: one statement and one request in each direction. */
const comparedAtOnce = 500;
/** Sorts behind every id: the direction has come to its end. */
const end = '~';

/**
 * Compares the next items of the database with the index, and the next items of the index with the database. Items that differ are noted, and sent
 * like changes. That finds what no change told: passages that the OpenSearch lost, and those of items that are gone.
 *
 * @returns whether a round goes on.
 */
export async function compareOnce(context: ComparisonContext, state: SearchIndexState, index: string): Promise<boolean> {
  const { store, lease, logger, compareEveryMs } = context;
  const { checkedAt, checkCursor, orphanCursor } = state;
  const isBetween = checkCursor === '' && orphanCursor === '';
  if (isBetween && checkedAt !== null && Date.now() - checkedAt.getTime() < compareEveryMs) return false;
  const [check, orphan] = await Promise.all([
    checkCursor === end ? { cursor: end, differing: [] } : missing(context, index, checkCursor),
    orphanCursor === end ? { cursor: end, differing: [] } : gone(context, index, orphanCursor),
  ]);
  const differing = [...new Set([...check.differing, ...orphan.differing])];
  if (differing.length > 0)
    logger.warn({ items: differing.length }, 'the search index differs from the database and is corrected');
  await store.changes.note(differing);
  const isDone = check.cursor === end && orphan.cursor === end;
  await store.states.compared(lease, isDone ? { check: '', orphan: '' } : { check: check.cursor, orphan: orphan.cursor }, isDone);
  return !isDone;
}

interface Compared {
  readonly cursor: string;
  readonly differing: readonly string[];
}

/** Items of the database that the index does not have as they are. */
async function missing({ store, openSearch, hasVectors }: ComparisonContext, index: string, cursor: string): Promise<Compared> {
  const items = await store.documents.liveItemsAfter(cursor, comparedAtOnce);
  const last = items.at(-1);
  if (last === undefined) return { cursor: end, differing: [] };
  const copiesByItem = Map.groupBy(
    await openSearch.itemsAmong(
      index,
      items.map(({ id }) => id),
    ),
    ({ itemId }) => itemId,
  );
  return {
    cursor: last.id,
    differing: items.filter((item) => !isCopied(item, copiesByItem.get(item.id) ?? [], hasVectors)).map(({ id }) => id),
  };
}

function isCopied({ generation, passages, spaceIds }: LiveItem, copies: readonly CopiedItem[], hasVectors: boolean): boolean {
  if (passages === 0) return copies.length === 0;
  const [only] = copies;
  if (only === undefined || copies.length > 1 || only.generation !== generation || only.passages !== passages) return false;
  return !hasVectors || spaceIds.every((id) => only.spaces.get(id) === passages);
}

/** Items of the index that the database does not have any more. */
async function gone({ store, openSearch }: ComparisonContext, index: string, cursor: string): Promise<Compared> {
  const ids = await openSearch.itemIdsAfter(index, cursor, comparedAtOnce);
  const last = ids.at(-1);
  if (last === undefined) return { cursor: end, differing: [] };
  const present = new Set((await store.documents.liveItems(ids)).map(({ id }) => id));
  return { cursor: last, differing: ids.filter((id) => !present.has(id)) };
}
