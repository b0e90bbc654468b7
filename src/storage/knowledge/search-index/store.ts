import type { Database } from '../../ground/database.ts';
import { SearchIndexChanges } from './changes.ts';
import { SearchIndexDocuments } from './documents.ts';
import { SearchIndexStates } from './state.ts';

/** What the database knows of the copy of all passages. */
export class SearchIndexStore {
  readonly states: SearchIndexStates;
  readonly changes: SearchIndexChanges;
  readonly documents: SearchIndexDocuments;

  constructor(db: Database) {
    this.states = new SearchIndexStates(db);
    this.changes = new SearchIndexChanges(db);
    this.documents = new SearchIndexDocuments(db);
  }
}
