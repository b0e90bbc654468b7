import { isObject, membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import type { EmbeddingSpace } from '../../embeddings/spaces.ts';
import { type CopiedPassage, type PassageCopy, SearchIndexError } from '../search-index.ts';
import { parseSearchIndexAddress } from './address.ts';
import { OpenSearchClient, type OpenSearchRequest, toRefusal } from './client.ts';
import { type CopyHit, type CopySearch, readHits, searchLines } from './query.ts';
import { indexBody, names, vectorField, vectorMapping } from './schema.ts';

/** How many passages of each generation an index has of an item. */
export interface CopiedItem {
  readonly itemId: string;
  readonly generation: number;
  readonly passages: number;
  /** Passages by the space of which they have vectors. */
  readonly spaces: ReadonlyMap<number, number>;
}

/** An OpenSearch that keeps copies of all passages. Every call is bounded in time. @throws SearchIndexError */
export interface OpenSearch {
  /** What is wrong with what answers there; undefined when it can be used. @throws SearchIndexError when nothing answers. */
  problem(wantsVectors: boolean): Promise<string | undefined>;
  /** Whether it answers searches at an alias. */
  ping(alias: string): Promise<void>;
  /** Whether the index is there, as it was made. */
  has(index: string, version: number): Promise<boolean>;
  create(index: string, version: number, shards: number): Promise<void>;
  /** Lets searches at the alias of the version go to the index, in one step, and deletes the one that answered before. */
  serve(index: string, version: number, previousIndex: string | null): Promise<void>;
  delete(index: string): Promise<void>;
  /** Makes the fields of vectors, where they are not known to be there. */
  mapVectors(index: string, spaces: readonly EmbeddingSpace[]): Promise<void>;
  writesTo(index: string): PassageCopy;
  /** The items of an index among some. */
  itemsAmong(index: string, itemIds: readonly string[]): Promise<readonly CopiedItem[]>;
  /** Ids of items of an index, in their order, after one. */
  itemIdsAfter(index: string, itemId: string, limit: number): Promise<readonly string[]>;
  search(
    alias: string,
    searches: readonly CopySearch[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<readonly (readonly CopyHit[])[]>;
  readonly prefix: string;
  close(): Promise<void>;
}

/** Requests are cut below the least limit of managed services (10 MB). */
const bulkMaxBytes = 5 * 1024 * 1024;
const writeTimeoutMs = 60_000;
const adminTimeoutMs = 30_000;
const askTimeoutMs = 3_000;
/** Passages that one request removes: more would outlast its time. */
const removedAtOnce = 10_000;
/** Clauses of one query. The limit of OpenSearch is 1,024. */
const clausesMax = 500;
const spacesMax = 100;

export function createOpenSearch(url: string): OpenSearch {
  const address = parseSearchIndexAddress(url);
  return new OpenSearchIndexes(new OpenSearchClient(address), address.prefix);
}

class OpenSearchIndexes implements OpenSearch {
  readonly prefix: string;
  readonly #client: OpenSearchClient;
  /** Fields that are known to be there: `index field`. */
  readonly #mapped = new Set<string>();

  constructor(client: OpenSearchClient, prefix: string) {
    this.#client = client;
    this.prefix = prefix;
  }

  async problem(wantsVectors: boolean): Promise<string | undefined> {
    let answer: unknown;
    try {
      answer = await this.#ask('GET', '/');
    } catch (error) {
      if (!(error instanceof SearchIndexError) || error.kind === 'unreachable') throw error;
      if (error.kind === 'refused') return `${error.message}: the user or the password is wrong, or may not use it`;
      return `${error.message}, so it is no OpenSearch`;
    }
    const { distribution, number } = membersOf(membersOf(answer).version);
    if (distribution !== 'opensearch') return 'what answers there is no OpenSearch';
    const [major = 0, minor = 0] = (readString(number) ?? '').split('.').map(Number);
    if (major < 2 || (major === 2 && minor < 4))
      return `it is OpenSearch ${readString(number)}; 2.4 is the oldest that can be used`;
    if (!wantsVectors) return undefined;
    const plugins = readElements(await this.#ask('GET', '/_cat/plugins?format=json&h=component'));
    const hasVectors = plugins.some((plugin) => membersOf(plugin).component === 'opensearch-knn');
    return hasVectors ? undefined : 'it has no plugin opensearch-knn, which vectors need: install it, or unset EMBEDDING_MODEL';
  }

  async ping(alias: string): Promise<void> {
    await this.#ask('GET', `/_alias/${alias}`);
  }

  async has(index: string, version: number): Promise<boolean> {
    try {
      const answer = membersOf(await this.#ask('GET', `/${index}/_mapping`));
      const { mappings } = membersOf(answer[index]);
      return membersOf(membersOf(mappings)._meta).version === version;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async create(index: string, version: number, shards: number): Promise<void> {
    await this.#administer('PUT', `/${index}`, indexBody(index, version, shards));
  }

  async serve(index: string, version: number, previousIndex: string | null): Promise<void> {
    const alias = names.searched(this.prefix, version);
    const before = Object.keys(await this.#indexesOf(alias)).filter((name) => name !== index);
    const actions = [{ add: { index, alias } }, ...before.map((name) => ({ remove: { index: name, alias } }))];
    await this.#administer('POST', '/_aliases', { actions });
    for (const name of new Set([...before, ...(previousIndex === null ? [] : [previousIndex])]))
      if (name !== index) await this.delete(name);
  }

  async delete(index: string): Promise<void> {
    await this.#administer('DELETE', `/${index}`).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }

  async mapVectors(index: string, spaces: readonly EmbeddingSpace[]): Promise<void> {
    for (const space of spaces) {
      const key = `${index} ${space.id}`;
      if (this.#mapped.has(key)) continue;
      await this.#administer('PUT', `/${index}/_mapping`, vectorMapping(space));
      this.#mapped.add(key);
    }
  }

  writesTo(index: string): PassageCopy {
    return {
      put: (passages, versionOf) => this.#put(index, passages, versionOf),
      activate: async (items) => {
        // What was put a moment ago can only be removed once a search finds it.
        await this.#administer('POST', `/${index}/_refresh`);
        for (const some of slices(items, clausesMax)) {
          const should = some.map(({ itemId, generation }) => ({
            bool: { filter: [{ term: { item: itemId } }], must_not: [{ term: { generation } }] },
          }));
          await this.#remove(index, { bool: { should, minimum_should_match: 1 } });
        }
      },
      drop: async (itemIds) => {
        if (itemIds.length > 0) await this.#remove(index, { terms: { item: itemIds } });
      },
    };
  }

  async itemsAmong(index: string, itemIds: readonly string[]): Promise<readonly CopiedItem[]> {
    const copiedItems: CopiedItem[] = [];
    let after: unknown;
    do {
      const sources = [{ item: { terms: { field: 'item' } } }, { generation: { terms: { field: 'generation' } } }];
      const composite = { size: 1_000, sources, ...(after === undefined ? {} : { after }) };
      const aggs = { items: { composite, aggs: { spaces: { terms: { field: 'spaces', size: spacesMax } } } } };
      const answer = await this.#look(index, { size: 0, query: { terms: { item: itemIds } }, aggs });
      const items = membersOf(membersOf(membersOf(answer).aggregations).items);
      copiedItems.push(...readElements(items.buckets).flatMap(readCopiedItem));
      after = items.after_key;
    } while (after !== undefined);
    return copiedItems;
  }

  async itemIdsAfter(index: string, itemId: string, limit: number): Promise<readonly string[]> {
    const composite = {
      size: limit,
      sources: [{ item: { terms: { field: 'item' } } }],
      ...(itemId === '' ? {} : { after: { item: itemId } }),
    };
    const answer = await this.#look(index, { size: 0, aggs: { items: { composite } } });
    const { buckets } = membersOf(membersOf(membersOf(answer).aggregations).items);
    return readElements(buckets).flatMap((bucket) => readString(membersOf(membersOf(bucket).key).item) ?? []);
  }

  async search(
    alias: string,
    searches: readonly CopySearch[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<readonly (readonly CopyHit[])[]> {
    if (searches.length === 0) return [];
    const body = searchLines(alias, searches, timeoutMs);
    return readHits(await this.#client.send({ method: 'POST', path: '/_msearch', body, timeoutMs, signal }), searches);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #put(index: string, passages: readonly CopiedPassage[], versionOf: (itemId: string) => bigint): Promise<void> {
    let lines: string[] = [];
    let bytes = 0;
    for (const passage of passages) {
      const order = { version_type: 'external_gte', version: Number(versionOf(passage.itemId)) };
      const text = `${JSON.stringify({ index: { _id: passage.id, ...order } })}\n${JSON.stringify(toDocument(passage))}\n`;
      if (lines.length > 0 && bytes + text.length > bulkMaxBytes) {
        await this.#bulk(index, lines);
        lines = [];
        bytes = 0;
      }
      lines.push(text);
      bytes += text.length;
    }
    if (lines.length > 0) await this.#bulk(index, lines);
  }

  async #bulk(index: string, lines: readonly string[]): Promise<void> {
    const path = `/${names.written(index)}/_bulk?require_alias=true`;
    const answer = await this.#client.send({ method: 'POST', path, body: lines.join(''), timeoutMs: writeTimeoutMs });
    const { errors, items } = membersOf(answer);
    if (errors === false) return;
    for (const item of readElements(items)) {
      const result = membersOf(membersOf(item).index);
      const { status } = result;
      // A newer version of the passage is there.
      if (status === 409 || (typeof status === 'number' && status < 300)) continue;
      throw toRefusal(typeof status === 'number' ? status : 500, result);
    }
  }

  async #remove(index: string, query: object): Promise<void> {
    for (;;) {
      const path = `/${index}/_delete_by_query?conflicts=proceed&refresh=true`;
      const body = { query, max_docs: removedAtOnce };
      const answer = membersOf(await this.#client.send({ method: 'POST', path, body, timeoutMs: writeTimeoutMs }));
      if (readElements(answer.failures).length > 0) throw new SearchIndexError('failed', 'it could not delete some passages');
      if (typeof answer.deleted !== 'number' || answer.deleted < removedAtOnce) return;
    }
  }

  async #indexesOf(alias: string): Promise<Readonly<Record<string, unknown>>> {
    try {
      const answer = await this.#ask('GET', `/_alias/${alias}`);
      return isObject(answer) ? answer : {};
    } catch (error) {
      if (isMissing(error)) return {};
      throw error;
    }
  }

  #ask(method: OpenSearchRequest['method'], path: string): Promise<unknown> {
    return this.#client.send({ method, path, timeoutMs: askTimeoutMs });
  }

  #look(index: string, body: object): Promise<unknown> {
    return this.#client.send({ method: 'POST', path: `/${index}/_search`, body, timeoutMs: adminTimeoutMs });
  }

  async #administer(method: OpenSearchRequest['method'], path: string, body?: object): Promise<void> {
    await this.#client.send({ method, path, ...(body === undefined ? {} : { body }), timeoutMs: adminTimeoutMs });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof SearchIndexError && error.kind === 'missing';
}

function toDocument({ orgId, dataSourceId, itemId, generation, accessRuleId, words, vectors }: CopiedPassage): object {
  const fields = vectors.flatMap(({ spaceId, embedding }) =>
    embedding === null ? [] : [[vectorField(spaceId), embedding] as const],
  );
  const spaces = vectors.map(({ spaceId }) => spaceId);
  const place = { org: orgId, source: dataSourceId, item: itemId, generation };
  return { ...place, ...(accessRuleId === null ? {} : { rule: accessRuleId }), spaces, words, ...Object.fromEntries(fields) };
}

function readCopiedItem(bucket: unknown): readonly CopiedItem[] {
  const { key, doc_count: passages, spaces } = membersOf(bucket);
  const { item, generation } = membersOf(key);
  if (typeof item !== 'string' || typeof generation !== 'number' || typeof passages !== 'number') return [];
  const counts = readElements(membersOf(spaces).buckets).flatMap((space) => {
    const { key: id, doc_count: count } = membersOf(space);
    return typeof id === 'number' && typeof count === 'number' ? [[id, count] as const] : [];
  });
  return [{ itemId: item, generation, passages, spaces: new Map(counts) }];
}

function slices<T>(all: readonly T[], length: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / length) }, (_, index) => all.slice(index * length, (index + 1) * length));
}
