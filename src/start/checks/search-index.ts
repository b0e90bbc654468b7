import type { Settings } from '../../settings.ts';
import { createOpenSearch } from '../../storage/knowledge/search-index/opensearch/opensearch.ts';
import { SearchIndexError } from '../../storage/knowledge/search-index/search-index.ts';
import { type Finding, good, warning, wrong } from './finding.ts';

/** Whether what answers at SEARCH_INDEX_URL can be used. */
export async function checkSearchIndex({ SEARCH_INDEX_URL, EMBEDDING_MODEL }: Settings): Promise<readonly Finding[]> {
  if (SEARCH_INDEX_URL === undefined) return [];
  const openSearch = createOpenSearch(SEARCH_INDEX_URL);
  try {
    const problem = await openSearch.problem(EMBEDDING_MODEL !== undefined);
    if (problem !== undefined)
      return [wrong('search-index', `SEARCH_INDEX_URL cannot be used: ${problem}.`, 'Parley does not start with it.')];
    return [good('search-index', 'The OpenSearch of SEARCH_INDEX_URL answers.')];
  } catch (error) {
    if (!(error instanceof SearchIndexError)) throw error;
    const message = `Of the search index of SEARCH_INDEX_URL, ${error.message}.`;
    return [warning('search-index', message, 'The database answers searches until it is there; nothing needs a restart then.')];
  } finally {
    await openSearch.close();
  }
}
