import type { Logger } from 'pino';
import type { Passage } from '../../entities/citation.ts';
import type { IdKind } from '../../entities/ids.ts';
import type { Settings } from '../../settings.ts';
import type { RankedChunk } from '../../storage/chunk-ranking.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { createExtractor } from './extract/extract.ts';
import type { DocumentBytes } from './extract/read-document.ts';
import { newLeaseOwner } from './index-item.ts';
import { registerIndexJobs } from './index-jobs.ts';
import { readGivenFile } from './read-given-file.ts';
import { searchPassages } from './search.ts';

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
  /**
   * The text of a file that a request carries, read in a process of its own.
   *
   * @param param  how the caller names it, for the error.
   * @throws DomainError INVALID_VALUE for a file that gives no text.
   */
  readFile(document: DocumentBytes, param: string, signal: AbortSignal): Promise<string>;
  /** Registers the indexing jobs and the sweeper of expired leases. */
  registerJobs(): void;
  /** Ends the processes that read documents. Jobs must have stopped. */
  close(): Promise<void>;
}

export interface KnowledgeOptions {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly jobs: Jobs;
  readonly logger: Logger;
  /** Base of the links in citations, without a slash at the end; known once the service listens. */
  publicUrl(): string;
  newId(kind: IdKind): string;
}

/** Makes the knowledge engine: search, and the jobs that index. */
export function createKnowledge(options: KnowledgeOptions): Knowledge {
  const { settings, storage, publicUrl } = options;
  const extractor = createExtractor({ processesMax: settings.INDEX_CONCURRENCY });
  const urlOf = ({ contentUrl, dataSourceId, itemId }: RankedChunk) =>
    contentUrl ?? `${publicUrl()}/api/v1/data-sources/${dataSourceId}/knowledge/${itemId}/content`;
  return {
    search: (orgId, dataSourceIds, question, limits, signal) =>
      searchPassages(storage.chunks, { orgId, dataSourceIds }, question, limits, urlOf, signal),
    readFile: (document, param, signal) => readGivenFile(extractor, settings, document, param, signal),
    registerJobs: () => registerIndexJobs({ ...options, extractor, owner: newLeaseOwner() }),
    close: () => extractor.close(),
  };
}
