import type { Logger } from 'pino';
import type { IdKind } from '../../entities/ground/ids.ts';
import type { Connection } from '../../entities/knowledge/connection.ts';
import type { DataSourceType } from '../../entities/knowledge/data-source.ts';
import type { ItemFilter } from '../../entities/knowledge/item-filter.ts';
import { textWithOmissions } from '../../entities/knowledge/omission.ts';
import { lexicalReasons, type Retrieval, rerankReasons } from '../../entities/knowledge/retrieval.ts';
import type { SearchedQuestion, Turn } from '../../entities/knowledge/searched-question.ts';
import { Counter } from '../../lib/flow/counter.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import { RecentValue } from '../../lib/recent-value.ts';
import type { Settings } from '../../settings.ts';
import type { PendingCount } from '../../storage/knowledge/embeddings/pending.ts';
import type { RankedChunk } from '../../storage/knowledge/passages/chunk-ranking.ts';
import { createPostgresIndex } from '../../storage/knowledge/search-index/postgres.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Egress } from '../egress/egress.ts';
import { createProxies } from '../egress/proxies.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { ModelRouter } from '../models/router.ts';
import type { Charge, ChargedSearch, Embed } from '../plan/plan.ts';
import type { Pools } from '../sharing/pools.ts';
import { browse } from './connections/browse.ts';
import type { BrowsePage, BrowseQuery } from './connections/browser.ts';
import { type Connecting, createConnecting } from './connections/connect.ts';
import { findSite, type SiteMatch } from './connections/find-site.ts';
import { createInstallationTokens } from './connections/installations.ts';
import { createConnectionTokens } from './connections/tokens.ts';
import type { AtlassianProduct } from './connectors/atlassian/site.ts';
import { accountService, Connectors, PermissionReaders } from './connectors/registry.ts';
import { ServiceClient } from './connectors/service-client/client.ts';
import { createPageReader, type PageReader } from './connectors/web/reading/page-reader.ts';
import { signedContentAddress } from './content-links.ts';
import { type Embeddings, findSpace } from './embeddings/embeddings.ts';
import type { DocumentBytes, ExtractedDocument } from './extract/document.ts';
import { createExtractor } from './extract/extract.ts';
import { registerIndexJobs } from './index/index-jobs.ts';
import { Recheck } from './permissions/recheck.ts';
import { readAttachmentText } from './read-attachment.ts';
import { type Explanations, explainPassages } from './search/explain.ts';
import { collectContext } from './search/follow-up.ts';
import type { PassageMatch } from './search/passages.ts';
import { createReranker } from './search/reranker.ts';
import { type SearchResult, searchPassages } from './search/search.ts';
import { forgetCopy, SearchedCopy } from './search-index/copy.ts';

/** Priority of reading files of prompts: below streams, above indexing. */
const webReaderProgram = new URL('./connectors/web-reader-process.ts', import.meta.url);
const promptNiceness = 5;
const indexNiceness = 10;
/** Counting reads all documents. */
const countAgeMs = 30_000;

export interface SearchQuestion {
  readonly orgId: string;
  /** Filtered in the SQL that ranks; `[]` finds nothing. */
  readonly dataSourceIds: readonly string[];
  readonly question: string;
  /** What was said before, oldest first: a question that does not stand alone is searched with it. Absent: nothing. */
  readonly earlier?: readonly Turn[];
  /** Who pays for the vector of the question, and whose rights at MIRRORED sources decide what is found. */
  readonly charge: Charge;
}
export interface SearchLimits {
  readonly passagesMax: number;
  readonly tokensMax: number;
  /** Only these items of the sources; absent: all. */
  readonly itemIds?: readonly string[];
  /** Only items that it fits; absent: all. */
  readonly filter?: ItemFilter;
}
export interface PassageMatches extends SearchResult {
  readonly searched: SearchedQuestion;
}

/** The knowledge engine, as the domain and the run engine use it. */
export interface Knowledge {
  /** Searches of this process since it started. */
  readonly counts: SearchCounts;
  /** What the operator should know about vectors; undefined when all is well, or no embedding model is set. */
  readonly shortcoming: string | undefined;
  /** The copy of all passages at SEARCH_INDEX_URL; undefined where it is not set. */
  readonly copy: SearchedCopy | undefined;
  /** Looks at the search index of the settings. @throws StartRefusal for one that can never be used. */
  prepare(): Promise<void>;
  /** The vectors of sources; none where the service makes no vectors. */
  vectorsOf(dataSourceIds: readonly string[]): Promise<readonly PendingCount[]>;
  /** Passages of all sources without a vector; undefined where none are made. */
  withoutVectors(): Promise<number | undefined>;
  /** Finds the passages of the given sources that fit a question best, best first. */
  search(question: SearchQuestion, limits: SearchLimits, signal: AbortSignal): Promise<PassageMatches>;
  /** Why a search with this question and these limits found its passages. See search/explain.ts. */
  explain(question: SearchQuestion, limits: SearchLimits, matches: readonly PassageMatch[]): Promise<Explanations>;
  /** The chunks before and after passages, by `itemId ordinal`. One statement. */
  neighbours(passageMatches: readonly PassageMatch[]): Promise<ReadonlyMap<string, string>>;
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
  /** Looks at pages of the web, in a separate process. */
  readonly pages: PageReader;
  /** Whether single documents of a kind of source can be asked for at its service. */
  canRecheck(type: DataSourceType): boolean;
  /** Lists what could be added from a connection. @throws SourceError, see `browse` */
  browse(connection: Connection, query: BrowseQuery, signal: AbortSignal): Promise<BrowsePage>;
  /** The site that a source would read with a connection. See connections/find-site.ts. */
  findSite(product: AtlassianProduct, connection: Connection, cloudId: string | undefined): Promise<SiteMatch | undefined>;
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
  readonly models: Pick<ModelRouter, 'embedding' | 'embeddingOf'>;
  /** Charged embeddings. */
  readonly embed: Embed;
  /** Charged searches of the reranker. */
  readonly search: ChargedSearch;
  /** Base of the links in citations, without a slash at the end; known once the service listens. */
  publicUrl(): string;
  now(): Date;
  newId(kind: IdKind): string;
}

/** Makes the knowledge engine: search, and the jobs that index. */
export function createKnowledge(options: KnowledgeOptions): Knowledge {
  const { egress, settings, storage, pools } = options;
  const proxies = createProxies(settings);
  const vendors = new ServiceClient({
    egress,
    proxies,
    timeoutMs: settings.CONNECTOR_TIMEOUT_MS,
    connectTimeoutMs: settings.EGRESS_CONNECT_TIMEOUT_MS,
    backoffMs: settings.CONNECTOR_BACKOFF_MS,
  });
  const tokens = createConnectionTokens({
    ...{ ...options, vendors },
    oauthService: (provider) => accountService(provider).oauth(settings),
  });
  const installations = createInstallationTokens({ ...options, vendors });
  const webExtractor = createExtractor({ niceness: indexNiceness, entry: webReaderProgram });
  const webPlaces = pools.queue('page-readers', settings.CONNECTOR_CONCURRENCY);
  const pages = createPageReader({ extractor: webExtractor, places: webPlaces, settings });
  const services = { ...options, vendors, tokens, installations, pages };
  const connectors = Connectors.open(services);
  const permissionReaders = PermissionReaders.open(services);
  const recheck = new Recheck({ storage, readers: permissionReaders });
  const embeddings = createEmbeddings(options);
  const { vectors } = storage.db;
  const shortcoming =
    vectors.kind === 'missing' ? `Searches go by words alone, although EMBEDDING_MODEL is set: ${vectors.detail}.` : undefined;
  if (shortcoming !== undefined) options.logger.warn(shortcoming);
  const reranker = createReranker(settings, options.search, proxies);
  const copy = createCopy(options, embeddings);
  const counts = new SearchCounts();
  const spaceId = async () => (embeddings === undefined ? undefined : (await findSpace(embeddings))?.id);
  const waiting = new RecentValue(countAgeMs, async () => storage.knowledge.embeddings?.countAll(await spaceId()));
  const indexExtractor = createExtractor({ niceness: indexNiceness });
  const promptReader = {
    extractor: createExtractor({ niceness: promptNiceness }),
    places: pools.queue('prompt-readers', settings.PROMPT_READERS_MAX),
    settings,
  };
  return {
    pages,
    counts,
    shortcoming,
    copy,
    async prepare() {
      if (copy !== undefined) await copy.prepare();
      else if (settings.ROLE !== 'web') await forgetCopy(options);
    },
    vectorsOf: async (dataSourceIds) => (await storage.knowledge.embeddings?.counts(dataSourceIds, await spaceId())) ?? [],
    withoutVectors: () => waiting.read(),
    async search({ orgId, dataSourceIds, question, earlier = [], charge }, { passagesMax, tokensMax, ...items }, signal) {
      const gate = await storage.knowledge.permissions.gates.open(charge, dataSourceIds);
      const context = collectContext(question, earlier);
      const toUrl = (chunk: RankedChunk) => {
        const { contentUrl, dataSourceId, itemId, chunkId, charStart, charEnd } = chunk;
        if (contentUrl !== null) return atLines(contentUrl, chunk);
        const reader = gate?.mirroredIds.includes(dataSourceId) === true ? { reader: charge } : {};
        return signedContentAddress(options, {
          dataSourceId,
          itemId,
          orgId,
          passage: { chunkId, charStart, charEnd },
          ...reader,
        });
      };
      const searchResult = await searchPassages(
        { ranking: storage.knowledge.chunks, index: copy?.index, embeddings, reranker },
        { orgId, dataSourceIds, ...items, ...(gate === undefined ? {} : { gate }) },
        { text: question, context, charge },
        { passagesMax, tokensMax },
        toUrl,
        signal,
      );
      const passages = await recheck.keepOpen(gate, charge, searchResult.passages, signal);
      counts.add(searchResult.retrieval);
      const rewrite = context.length === 0 ? 'none' : 'context';
      return { ...searchResult, passages, searched: { text: question, rewrite, context: context.map(({ text }) => text) } };
    },
    async explain(
      { orgId, dataSourceIds, question, earlier = [] },
      { passagesMax: _passages, tokensMax: _tokens, ...items },
      matches,
    ) {
      return explainPassages(
        storage.knowledge.chunks,
        { orgId, dataSourceIds, ...items },
        question,
        collectContext(question, earlier),
        matches,
      );
    },
    async neighbours(passageMatches) {
      const places = passageMatches.flatMap(({ knowledgeItemId: itemId, firstOrdinal, lastOrdinal }) => [
        { itemId, ordinal: firstOrdinal - 1 },
        { itemId, ordinal: lastOrdinal + 1 },
      ]);
      const chunks = await storage.knowledge.chunks.details.textsAt(places);
      return new Map(chunks.map(({ itemId, ordinal, text }) => [`${itemId} ${ordinal}`, text]));
    },
    async readFile(owner, document, param, signal) {
      const { text, omissions } = await readAttachmentText(promptReader, owner, document, param, signal);
      return textWithOmissions(text, omissions);
    },
    readDocument: (owner, document, param, signal) => readAttachmentText(promptReader, owner, document, param, signal),
    canRecheck: (type) => permissionReaders.find(type)?.recheck !== undefined,
    browse: (connection, query, signal) => browse(services, connection, query, signal),
    findSite: (type, connection, cloudId) => findSite(services, type, connection, cloudId),
    connecting: createConnecting({ ...options, vendors }),
    registerJobs() {
      registerIndexJobs({ ...options, embeddings, connectors, permissionReaders, extractor: indexExtractor });
      copy?.register(options.jobs);
    },
    async close() {
      const extractors = [indexExtractor, webExtractor, promptReader.extractor];
      await Promise.all([...extractors.map((extractor) => extractor.close()), vendors.close(), reranker?.close(), copy?.close()]);
    },
  };
}

/** @returns undefined while EMBEDDING_MODEL is not set. */
function createEmbeddings({ settings, storage, models, embed }: KnowledgeOptions): Embeddings | undefined {
  if (models.embedding === undefined) return undefined;
  const { EMBEDDING_DIMENSIONS: dimensions } = settings;
  return {
    store: storage.knowledge.embeddings,
    model: models.embedding,
    modelOf: models.embeddingOf,
    embed,
    dimensions: dimensions === undefined ? undefined : Number(dimensions),
    timeoutMs: settings.RETRIEVAL_EMBEDDING_TIMEOUT_MS,
    weight: settings.RETRIEVAL_VECTOR_WEIGHT,
  };
}

/** @returns undefined while SEARCH_INDEX_URL is not set. */
function createCopy(
  { settings, storage, logger, newId }: KnowledgeOptions,
  embeddings: Embeddings | undefined,
): SearchedCopy | undefined {
  const { SEARCH_INDEX_URL: url } = settings;
  if (url === undefined) return undefined;
  const database = createPostgresIndex(storage.knowledge.chunks, storage.knowledge.embeddings);
  const hasVectors = embeddings?.store !== undefined;
  return new SearchedCopy(url, { settings, storage, logger, hasVectors, database, newId: () => newId('searchIndex') });
}

/** Counts searches by how they were made. */
class SearchCounts {
  readonly modes = new Counter<Retrieval['mode']>(['hybrid', 'lexical']);
  /** Searches without vectors although EMBEDDING_MODEL is set, by reason. */
  readonly lexical = new Counter(lexicalReasons);
  /** Searches that were not reranked although RERANK_URL is set, by reason. */
  readonly unreranked = new Counter(rerankReasons);

  add({ mode, reason, rerankReason }: Retrieval): void {
    this.modes.add(mode);
    if (reason !== null) this.lexical.add(reason);
    if (rerankReason !== null) this.unreranked.add(rerankReason);
  }
}

/** Files that a repository host shows as pages, where lines have no places: `plain=1` shows the source. */
const shownAsPage = /\.(md|markdown|mdown|mkdn?|mdx|rst|adoc|asciidoc|textile|rdoc|org|creole|mediawiki|wiki|pod)$/i;

/** The address of a passage of a file of a repository, with its lines, such as `…/blob/<commit>/src/main.ts#L10-L42`; else `url` as it is. */
function atLines(url: string, { itemType, lineStart, lineEnd }: Pick<RankedChunk, 'itemType' | 'lineStart' | 'lineEnd'>): string {
  if (itemType !== 'REPO_HOST' || lineStart === null) return url;
  const lines = lineEnd === null || lineEnd <= lineStart ? `L${lineStart}` : `L${lineStart}-L${lineEnd}`;
  return `${url}${shownAsPage.test(url) ? '?plain=1' : ''}#${lines}`;
}
