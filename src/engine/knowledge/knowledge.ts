import type { Logger } from 'pino';
import type { IdKind } from '../../entities/ids.ts';
import type { Passage } from '../../entities/knowledge/citation.ts';
import type { Connection } from '../../entities/knowledge/connection.ts';
import type { ShareOwner } from '../../lib/fair-share.ts';
import type { Settings } from '../../settings.ts';
import type { RankedChunk } from '../../storage/knowledge/chunk-ranking.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Egress } from '../egress/egress.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Pools } from '../sharing/pools.ts';
import { browse } from './connections/browse.ts';
import type { BrowsePage, BrowseQuery } from './connections/browser.ts';
import { type Connecting, createConnecting } from './connections/connect.ts';
import { createInstallationTokens } from './connections/installations.ts';
import { createConnectionTokens } from './connections/tokens.ts';
import { createConnectors } from './connectors/registry.ts';
import { createVendorClient } from './connectors/vendor/client.ts';
import { signedContentAddress } from './content-links.ts';
import type { DocumentBytes, ExtractedDocument } from './extract/document.ts';
import { createExtractor } from './extract/extract.ts';
import { newLeaseOwner } from './index/index-item.ts';
import { registerIndexJobs } from './index/index-jobs.ts';
import { readGivenFile } from './read-given-file.ts';
import { searchPassages } from './search/search.ts';

/** Priority of reading files of prompts: below streams, above indexing. */
const promptNiceness = 5;
const indexNiceness = 10;

export interface SearchLimits {
  readonly passagesMax: number;
  readonly tokensMax: number;
  /** Only these items of the sources; absent: all. */
  readonly itemIds?: readonly string[];
}

/** The knowledge engine, as the domain and the run engine use it. */
export interface Knowledge {
  /**
   * Finds the passages of the given sources that fit a question best, best first.
   *
   * @param dataSourceIds  filtered in the SQL that ranks; `[]` finds nothing.
   */
  search(
    orgId: string,
    dataSourceIds: readonly string[],
    question: string,
    limits: SearchLimits,
    signal: AbortSignal,
  ): Promise<readonly Passage[]>;
  /**
   * Extracts the text of a file in a request, in a separate process. It has places of its own, so it does not wait for indexing.
   * Tenants and organizations share the places.
   *
   * @param param  the caller's name of the file, for the error.
   * @throws DomainError INVALID_VALUE for a file that gives no text.
   */
  readFile(owner: ShareOwner, document: DocumentBytes, param: string, signal: AbortSignal): Promise<string>;
  /** The same with the title that the document has, and its pages. */
  readDocument(owner: ShareOwner, document: DocumentBytes, param: string, signal: AbortSignal): Promise<ExtractedDocument>;
  /** Lists what could be added from a connection. @throws SourceError, see `browse` */
  browse(connection: Connection, query: BrowseQuery, signal: AbortSignal): Promise<BrowsePage>;
  /** Connects accounts of other services in the browser. */
  readonly connecting: Connecting;
  /** Registers the jobs and repeated tasks of indexing. */
  registerJobs(): void;
  /** Ends the processes that read documents. Stop the jobs before. */
  close(): Promise<void>;
}

export interface KnowledgeOptions {
  readonly egress: Egress;
  readonly settings: Settings;
  readonly storage: Storage;
  readonly jobs: Jobs;
  readonly pools: Pools;
  readonly logger: Logger;
  /** Base of the links in citations, without a slash at the end; known once the service listens. */
  publicUrl(): string;
  now(): Date;
  newId(kind: IdKind): string;
}

/** Makes the knowledge engine: search, and the jobs that index. */
export function createKnowledge(options: KnowledgeOptions): Knowledge {
  const { egress, settings, storage, pools } = options;
  const owner = newLeaseOwner();
  const vendors = createVendorClient({
    egress,
    timeoutMs: settings.CONNECTOR_TIMEOUT_MS,
    connectTimeoutMs: settings.EGRESS_CONNECT_TIMEOUT_MS,
  });
  const tokens = createConnectionTokens({ ...options, vendors, owner });
  const installations = createInstallationTokens({ ...options, vendors });
  const services = { ...options, vendors, tokens, installations };
  const connectors = createConnectors(services);
  const indexExtractor = createExtractor({ niceness: indexNiceness });
  const promptReader = {
    extractor: createExtractor({ niceness: promptNiceness }),
    places: pools.queue('prompt-readers', settings.PROMPT_READERS_MAX),
    settings,
  };
  return {
    search(orgId, dataSourceIds, question, { itemIds, ...limits }, signal) {
      const urlOf = ({ contentUrl, dataSourceId, itemId }: RankedChunk) =>
        contentUrl ?? signedContentAddress(options, { dataSourceId, itemId, orgId });
      return searchPassages(
        storage.chunks,
        { orgId, dataSourceIds, ...(itemIds === undefined ? {} : { itemIds }) },
        question,
        limits,
        urlOf,
        signal,
      );
    },
    readFile: async (owner, document, param, signal) => (await readGivenFile(promptReader, owner, document, param, signal)).text,
    readDocument: (owner, document, param, signal) => readGivenFile(promptReader, owner, document, param, signal),
    browse: (connection, query, signal) => browse(services, connection, query, signal),
    connecting: createConnecting({ ...options, vendors }),
    registerJobs: () => registerIndexJobs({ ...options, connectors, extractor: indexExtractor, owner }),
    async close() {
      await Promise.all([indexExtractor.close(), promptReader.extractor.close(), vendors.close()]);
    },
  };
}
