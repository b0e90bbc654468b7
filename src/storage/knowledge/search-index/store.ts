import type { Database } from '../../ground/database.ts';
import { createSearchIndexChanges, type SearchIndexChanges } from './changes.ts';
import { createSearchIndexDocuments, type SearchIndexDocuments } from './documents.ts';
import { createSearchIndexStates, type SearchIndexStates } from './state.ts';

/** What the database knows of the copy of all passages. */
export interface SearchIndexStore {
  readonly states: SearchIndexStates;
  readonly changes: SearchIndexChanges;
  readonly documents: SearchIndexDocuments;
}

export function createSearchIndexStore(db: Database): SearchIndexStore {
  return {
    states: createSearchIndexStates(db),
    changes: createSearchIndexChanges(db),
    documents: createSearchIndexDocuments(db),
  };
}
