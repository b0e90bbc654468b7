import { badRequest, checked, listOf, type Members, onlyMember } from './errors.ts';
import { members } from './operations.ts';
import type { StoredDocument, StoredIndex } from './stored-index.ts';

export interface ScoredDocument {
  readonly document: StoredDocument;
  readonly score: number;
}

/** Scores of the documents that a query matches, by id. */
type Matches = ReadonlyMap<string, number>;

/** The documents that a query matches, best first. */
export function searchIndex(index: StoredIndex, query: unknown): readonly ScoredDocument[] {
  const scores = query === undefined ? undefined : matches(index, query, index.searched);
  return index.searched
    .flatMap((document) => {
      const score = scores === undefined ? 1 : scores.get(document.id);
      return score === undefined ? [] : [{ document, score }];
    })
    .sort((a, b) => b.score - a.score);
}

function matches(index: StoredIndex, query: unknown, among: readonly StoredDocument[]): Matches {
  const [kind, body] = onlyMember(query, 'query');
  switch (kind) {
    case 'bool':
      return boolMatches(index, checked(body, members.bool, 'bool'), among);
    case 'term':
      return termMatches(index, body, among);
    case 'terms': {
      const [field, values] = onlyMember(body, 'terms');
      const wanted = new Set(listOf(values));
      if (!Array.isArray(values) || wanted.size > 65_536)
        throw badRequest('[terms] query needs an array of at most 65536 values');
      mapped(index, field);
      return new Map(
        among.filter(({ fields }) => listOf(fields[field]).some((value) => wanted.has(value))).map(({ id }) => [id, 1]),
      );
    }
    case 'knn':
      return knnMatches(index, body, among);
    default:
      throw badRequest(`unknown query [${kind}]`);
  }
}

function boolMatches(index: StoredIndex, body: Members, among: readonly StoredDocument[]): Matches {
  const clauses = (name: string) => listOf(body[name]).map((query) => matches(index, query, among));
  if (listOf(body.should).length + listOf(body.filter).length > 1_024)
    throw badRequest('maxClauseCount is set to 1024', 'too_many_clauses');
  const [filter, must, mustNot, should] = [clauses('filter'), clauses('must'), clauses('must_not'), clauses('should')];
  const isOptional = filter.length + must.length > 0;
  const least = body.minimum_should_match ?? (isOptional || should.length === 0 ? 0 : 1);
  if (typeof least !== 'number') throw badRequest('the stand-in knows numbers as minimum_should_match only');
  return new Map(
    among.flatMap(({ id }) => {
      if (![...filter, ...must].every((found) => found.has(id)) || mustNot.some((found) => found.has(id))) return [];
      const fitting = should.filter((found) => found.has(id));
      if (fitting.length < least) return [];
      return [[id, [...must, ...fitting].reduce((sum, found) => sum + (found.get(id) ?? 0), 0)] as const];
    }),
  );
}

function termMatches(index: StoredIndex, body: unknown, among: readonly StoredDocument[]): Matches {
  const [field, given] = onlyMember(body, 'term');
  const { value, boost = 1 } = typeof given === 'object' ? checked(given, members.term, 'term') : { value: given };
  if (typeof boost !== 'number' || boost < 0) throw badRequest('negative [boost] are not allowed', 'illegal_argument_exception');
  const counts = among.map(({ id, fields }) => ({ id, tokens: listOf(fields[field]) }));
  if (mapped(index, field).type !== 'text')
    return new Map(counts.filter(({ tokens }) => tokens.includes(value)).map(({ id }) => [id, boost]));
  const similarity = index.similarityOf(field);
  const lengths = index.searched.map(({ fields }) => listOf(fields[field]).length).filter((length) => length > 0);
  const statistics = { docCount: lengths.length, sumTotalTermFreq: lengths.reduce((sum, length) => sum + length, 0) };
  return new Map(
    counts.flatMap(({ id, tokens }) => {
      const freq = tokens.filter((token) => token === value).length;
      return freq === 0 ? [] : [[id, Math.fround(similarity({ boost }, statistics, { freq, length: tokens.length }))] as const];
    }),
  );
}

/** Exact: the nearest of all documents that the filter lets through. */
function knnMatches(index: StoredIndex, body: unknown, among: readonly StoredDocument[]): Matches {
  const [field, given] = onlyMember(body, 'knn');
  const { vector, k, filter } = checked(given, members.knn, 'knn');
  const mapping = mapped(index, field);
  if (mapping.type !== 'knn_vector') throw badRequest(`Field '${field}' is not knn_vector type.`, 'query_shard_exception');
  if (!isVector(vector) || vector.length !== mapping.dimension)
    throw badRequest('Query vector has invalid dimension', 'query_shard_exception');
  if (typeof k !== 'number' || k < 1 || k > 10_000)
    throw badRequest('[knn] requires k in the range (0, 10000]', 'illegal_argument_exception');
  const allowed = filter === undefined ? undefined : matches(index, filter, among);
  const near = among.flatMap(({ id, fields }) => {
    const other = fields[field];
    return isVector(other) && allowed?.has(id) !== false ? [[id, (1 + cosine(vector, other)) / 2] as const] : [];
  });
  return new Map(near.sort(([, a], [, b]) => b - a).slice(0, k));
}

function isVector(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((part) => typeof part === 'number');
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const product = a.reduce((sum, part, index) => sum + part * (b[index] ?? 0), 0);
  return product / (Math.hypot(...a) * Math.hypot(...b));
}

function mapped(index: StoredIndex, field: string): Members {
  const mapping = index.mapping.properties[field];
  if (mapping === undefined) throw badRequest(`failed to find field [${field}]`, 'query_shard_exception');
  return mapping;
}

/** Composite buckets of keywords and numbers with terms below them: the aggregations that comparing needs. */
export function aggregate(aggs: unknown, documents: readonly StoredDocument[]): Members {
  return Object.fromEntries(
    Object.entries((aggs ?? {}) as Members).map(([name, value]) => {
      const { composite, terms, aggs: below } = checked(value, members.aggregation, name);
      return [name, composite === undefined ? termsBuckets(terms, documents) : compositeBuckets(composite, below, documents)];
    }),
  );
}

function termsBuckets(terms: unknown, documents: readonly StoredDocument[]): object {
  const { field, size = 10 } = checked(terms, members.termsAggregation, 'terms');
  const counts = new Map<unknown, number>();
  for (const { fields } of documents)
    for (const key of new Set(listOf(fields[String(field)]))) counts.set(key, (counts.get(key) ?? 0) + 1);
  const buckets = [...counts].map(([key, count]) => ({ key, doc_count: count })).sort((a, b) => b.doc_count - a.doc_count);
  return { doc_count_error_upper_bound: 0, sum_other_doc_count: 0, buckets: buckets.slice(0, Number(size)) };
}

function compositeBuckets(composite: unknown, below: unknown, documents: readonly StoredDocument[]): object {
  const { sources, size = 10, after } = checked(composite, members.composite, 'composite');
  const fields = listOf(sources).map((source) => {
    const [name, value] = onlyMember(source, 'source');
    return { name, field: String(checked(checked(value, ['terms'], 'source').terms, ['field', 'order'], 'terms').field) };
  });
  const keyOf = (document: StoredDocument) => fields.map(({ field }) => document.fields[field] as string | number);
  const groups = [...Map.groupBy(documents, (document) => JSON.stringify(keyOf(document))).values()]
    .map((group) => ({ group, key: group[0] === undefined ? [] : keyOf(group[0]) }))
    .filter(({ key }) => key.length > 0)
    .sort((a, b) => compare(a.key, b.key));
  const from =
    after === undefined ? undefined : fields.map(({ name }) => (after as Readonly<Record<string, string | number>>)[name] ?? '');
  const page = groups.filter(({ key }) => from === undefined || compare(key, from) > 0).slice(0, Number(size));
  const buckets = page.map(({ group, key }) => ({
    key: Object.fromEntries(fields.map(({ name }, index) => [name, key[index]])),
    doc_count: group.length,
    ...aggregate(below, group),
  }));
  return { ...(buckets.length === 0 ? {} : { after_key: buckets.at(-1)?.key }), buckets };
}

function compare(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? '';
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
