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
import { createProxies, type Proxies } from '../egress/proxies.ts';
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
import { createExtractor, type Extractor } from './extract/extract.ts';
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

/** The knowledge engine, as the domain and the run engine use it: search, and the jobs that index. */
export class Knowledge {
  /** Searches of this process since it started. */
  readonly counts = new SearchCounts();
  /** What the operator should know about vectors; undefined when all is well, or no embedding model is set. */
  readonly shortcoming: string | undefined;
  /** The copy of all passages at SEARCH_INDEX_URL; undefined where it is not set. */
  readonly copy: SearchedCopy | undefined;
  /** Looks at pages of the web, in a separate process. */
  readonly pages: PageReader;
  /** Connects accounts of other services in the browser. */
  readonly connecting: Connecting;
  readonly #options: KnowledgeOptions;
  readonly #embeddings: Embeddings | undefined;
  readonly #reranker: ReturnType<typeof createReranker>;
  readonly #readers: Readers;
  readonly #services: ReturnType<typeof createServices>;
  readonly #permissionReaders: PermissionReaders;
  readonly #recheck: Recheck;
  readonly #pending: RecentValue<number | undefined>;

  constructor(options: KnowledgeOptions) {
    const { settings, storage, logger } = options;
    const proxies = createProxies(settings);
    const vendors = createServiceClient(options, proxies);
    this.#options = options;
    this.#readers = createReaders(options);
    this.pages = createPageReader({ ...this.#readers.web, settings });
    this.#services = createServices(options, vendors, this.pages);
    this.#permissionReaders = PermissionReaders.open(this.#services);
    this.#recheck = new Recheck({ storage, readers: this.#permissionReaders });
    this.connecting = createConnecting({ ...options, vendors });
    this.#embeddings = createEmbeddings(options);
    this.#reranker = createReranker(settings, options.search, proxies);
    this.copy = createCopy(options, this.#embeddings);
    this.#pending = new RecentValue(countAgeMs, async () => storage.knowledge.embeddings?.countAll(await this.#spaceId()));
    this.shortcoming = findShortcoming(storage);
    if (this.shortcoming !== undefined) logger.warn(this.shortcoming);
  }

  /** Looks at the search index of the settings. @throws StartRefusal for one that can never be used. */
  async prepare(): Promise<void> {
    if (this.copy !== undefined) await this.copy.prepare();
    else if (this.#options.settings.ROLE !== 'web') await forgetCopy(this.#options);
  }

  /** The vectors of sources; none where the service makes no vectors. */
  async vectorsOf(dataSourceIds: readonly string[]): Promise<readonly PendingCount[]> {
    return (await this.#options.storage.knowledge.embeddings?.counts(dataSourceIds, await this.#spaceId())) ?? [];
  }

  /** Passages of all sources without a vector; undefined where none are made. */
  withoutVectors(): Promise<number | undefined> {
    return this.#pending.read();
  }

  /** Finds the passages of the given sources that fit a question best, best first. */
  async search(question: SearchQuestion, limits: SearchLimits, signal: AbortSignal): Promise<PassageMatches> {
    const { orgId, dataSourceIds, question: text, earlier = [], charge } = question;
    const { passagesMax, tokensMax, ...items } = limits;
    const { chunks, permissions } = this.#options.storage.knowledge;
    const gate = await permissions.gates.open(charge, dataSourceIds);
    const context = collectContext(text, earlier);
    const searchResult = await searchPassages(
      { ranking: chunks, index: this.copy?.index, embeddings: this.#embeddings, reranker: this.#reranker },
      { orgId, dataSourceIds, ...items, ...(gate === undefined ? {} : { gate }) },
      { text, context, charge },
      { passagesMax, tokensMax },
      (chunk) => {
        const isMirrored = gate?.mirroredIds.includes(chunk.dataSourceId) === true;
        return this.#addressOf(chunk, orgId, isMirrored ? charge : undefined);
      },
      signal,
    );
    const passages = await this.#recheck.keepOpen(gate, charge, searchResult.passages, signal);
    this.counts.add(searchResult.retrieval);
    const rewrite = context.length === 0 ? 'none' : 'context';
    return { ...searchResult, passages, searched: { text, rewrite, context: context.map((turn) => turn.text) } };
  }

  /** Why a search with this question and these limits found its passages. See search/explain.ts. */
  async explain(question: SearchQuestion, limits: SearchLimits, matches: readonly PassageMatch[]): Promise<Explanations> {
    const { orgId, dataSourceIds, question: text, earlier = [] } = question;
    const { passagesMax: _passages, tokensMax: _tokens, ...items } = limits;
    const { chunks } = this.#options.storage.knowledge;
    return explainPassages(chunks, { orgId, dataSourceIds, ...items }, text, collectContext(text, earlier), matches);
  }

  /** The chunks before and after passages, by `itemId ordinal`. One statement. */
  async neighbours(passageMatches: readonly PassageMatch[]): Promise<ReadonlyMap<string, string>> {
    const places = passageMatches.flatMap(({ knowledgeItemId: itemId, firstOrdinal, lastOrdinal }) => [
      { itemId, ordinal: firstOrdinal - 1 },
      { itemId, ordinal: lastOrdinal + 1 },
    ]);
    const chunks = await this.#options.storage.knowledge.chunks.details.textsAt(places);
    return new Map(chunks.map(({ itemId, ordinal, text }) => [`${itemId} ${ordinal}`, text]));
  }

  /**
   * Extracts the text of a file in a request, in a separate process. It has places of its own, so it does not wait for indexing.
   * Tenants and organizations share the places.
   *
   * @param param  the caller's name of the file, for the error.
   * @throws DomainError INVALID_VALUE for a file that gives no text.
   */
  async readFile(owner: ShareOwner, document: DocumentBytes, param: string, signal: AbortSignal): Promise<string> {
    const { text, omissions } = await this.readDocument(owner, document, param, signal);
    return textWithOmissions(text, omissions);
  }

  /** The same with the title that the document has, and its pages. */
  readDocument(owner: ShareOwner, document: DocumentBytes, param: string, signal: AbortSignal): Promise<ExtractedDocument> {
    return readAttachmentText({ ...this.#readers.prompt, settings: this.#options.settings }, owner, document, param, signal);
  }

  /** Whether single documents of a kind of source can be asked for at its service. */
  canRecheck(type: DataSourceType): boolean {
    return this.#permissionReaders.find(type)?.recheck !== undefined;
  }

  /** Lists what could be added from a connection. @throws SourceError, see `browse` */
  browse(connection: Connection, query: BrowseQuery, signal: AbortSignal): Promise<BrowsePage> {
    return browse(this.#services, connection, query, signal);
  }

  /** The site that a source would read with a connection. See connections/find-site.ts. */
  findSite(product: AtlassianProduct, connection: Connection, cloudId: string | undefined): Promise<SiteMatch | undefined> {
    return findSite(this.#services, product, connection, cloudId);
  }

  /** Registers the jobs and repeated tasks of indexing. */
  registerJobs(): void {
    registerIndexJobs({
      ...this.#options,
      embeddings: this.#embeddings,
      connectors: Connectors.open(this.#services),
      permissionReaders: this.#permissionReaders,
      extractor: this.#readers.indexing,
    });
    this.copy?.register(this.#options.jobs);
  }

  /** Ends the processes that read documents. Stop the jobs before. */
  async close(): Promise<void> {
    const { web, prompt, indexing } = this.#readers;
    await Promise.all([
      ...[web.extractor, prompt.extractor, indexing].map((extractor) => extractor.close()),
      this.#services.vendors.close(),
      this.#reranker?.close(),
      this.copy?.close(),
    ]);
  }

  /** Where a passage is read: at its service, or by a link of ours; of a MIRRORED source, for this reader alone. */
  #addressOf(chunk: RankedChunk, orgId: string, reader: Charge | undefined): string {
    const { contentUrl, dataSourceId, itemId, chunkId, charStart, charEnd } = chunk;
    if (contentUrl !== null) return atLines(contentUrl, chunk);
    const passage = { chunkId, charStart, charEnd };
    return signedContentAddress(this.#options, {
      dataSourceId,
      itemId,
      orgId,
      passage,
      ...(reader === undefined ? {} : { reader }),
    });
  }

  async #spaceId(): Promise<number | undefined> {
    return this.#embeddings === undefined ? undefined : (await findSpace(this.#embeddings))?.id;
  }
}

/** Processes that read documents. Files of prompts have places of their own, so they do not wait for pages or for indexing. */
interface Readers {
  readonly web: { readonly extractor: Extractor; readonly places: ReturnType<Pools['queue']> };
  readonly prompt: { readonly extractor: Extractor; readonly places: ReturnType<Pools['queue']> };
  readonly indexing: Extractor;
}

function createReaders({ settings, pools }: KnowledgeOptions): Readers {
  return {
    web: {
      extractor: createExtractor({ niceness: indexNiceness, entry: webReaderProgram }),
      places: pools.queue('page-readers', settings.CONNECTOR_CONCURRENCY),
    },
    prompt: {
      extractor: createExtractor({ niceness: promptNiceness }),
      places: pools.queue('prompt-readers', settings.PROMPT_READERS_MAX),
    },
    indexing: createExtractor({ niceness: indexNiceness }),
  };
}

function createServiceClient({ egress, settings }: KnowledgeOptions, proxies: Proxies): ServiceClient {
  return new ServiceClient({
    egress,
    proxies,
    timeoutMs: settings.CONNECTOR_TIMEOUT_MS,
    connectTimeoutMs: settings.EGRESS_CONNECT_TIMEOUT_MS,
    backoffMs: settings.CONNECTOR_BACKOFF_MS,
  });
}

/** What connectors work with: the client of their services and the tokens for them. */
function createServices(options: KnowledgeOptions, vendors: ServiceClient, pages: PageReader) {
  const tokens = createConnectionTokens({
    ...{ ...options, vendors },
    oauthService: (provider) => accountService(provider).oauth(options.settings),
  });
  return { ...options, vendors, tokens, installations: createInstallationTokens({ ...options, vendors }), pages };
}

function findShortcoming({ db: { vectors } }: Storage): string | undefined {
  return vectors.kind === 'missing'
    ? `Searches go by words alone, although EMBEDDING_MODEL is set: ${vectors.detail}.`
    : undefined;
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
