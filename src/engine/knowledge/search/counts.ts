import { lexicalReasons, type Retrieval, rerankReasons } from '../../../entities/knowledge/retrieval.ts';
import { Tally } from '../../../lib/tally.ts';

/** Counts searches by how they were made. */
export class SearchCounts {
  readonly modes = new Tally<Retrieval['mode']>(['hybrid', 'lexical']);
  /** Searches without vectors although EMBEDDING_MODEL is set, by reason. */
  readonly lexical = new Tally(lexicalReasons);
  /** Searches that were not reranked although RERANK_URL is set, by reason. */
  readonly unreranked = new Tally(rerankReasons);

  add({ mode, reason, rerankReason }: Retrieval): void {
    this.modes.add(mode);
    if (reason !== null) this.lexical.add(reason);
    if (rerankReason !== null) this.unreranked.add(rerankReason);
  }
}
