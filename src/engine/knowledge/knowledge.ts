import type { Passage } from '../../entities/citation.ts';

/** The knowledge engine as the domain and the run engine use it. */
export interface Knowledge {
  /**
   * Finds the passages of the given sources closest to a question, best first.
   *
   * @param dataSourceIds  filtered in the same SQL that ranks; `[]` finds nothing.
   */
  search(
    orgId: string,
    dataSourceIds: readonly string[],
    question: string,
    limits: { readonly passagesMax: number; readonly tokensMax: number },
    signal: AbortSignal,
  ): Promise<readonly Passage[]>;
  /** Registers the indexing jobs and the sweeper of expired leases. */
  registerJobs(): void;
}
