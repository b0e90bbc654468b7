import { badRequest, checked, type Members, OpenSearchRefusal } from './errors.ts';
import { members } from './operations.ts';

/** A document as it was sent. */
export interface StoredDocument {
  readonly id: string;
  readonly version: number;
  readonly fields: Members;
}

/** What a similarity script is given, in JavaScript: the few signs of its language that a script of ours has mean the same there. */
type Similarity = (
  query: { readonly boost: number },
  field: { readonly docCount: number; readonly sumTotalTermFreq: number },
  doc: { readonly freq: number; readonly length: number },
) => number;

/** One index: its mapping, and its documents. Like OpenSearch, it finds a document only after a refresh. */
export class StoredIndex {
  readonly name: string;
  readonly aliases: Set<string>;
  readonly mapping: { _meta?: unknown; readonly properties: Record<string, Members> };
  readonly documents = new Map<string, StoredDocument>();
  /** What a search sees. */
  searched: readonly StoredDocument[] = [];
  readonly #similarities = new Map<string, Similarity>();
  readonly #hasKnn: boolean;

  constructor(name: string, body: Members, pluginIsThere: boolean) {
    this.name = name;
    const aliases = checked(body.aliases ?? {}, Object.keys(body.aliases ?? {}), 'aliases');
    for (const alias of Object.values(aliases)) checked(alias, members.alias, 'alias');
    this.aliases = new Set(Object.keys(aliases));
    const settings = checked(body.settings ?? {}, ['index'], 'settings');
    const { similarity, knn, number_of_shards: shards } = checked(settings.index ?? {}, members.indexSettings, 'settings.index');
    if (knn !== undefined && !pluginIsThere)
      throw badRequest(
        'unknown setting [index.knn] please check that any required plugins are installed',
        'illegal_argument_exception',
      );
    if (typeof shards !== 'number' || shards < 1 || shards > 1_024)
      throw badRequest('bad number_of_shards', 'illegal_argument_exception');
    this.#hasKnn = knn === true;
    for (const [id, value] of Object.entries(similarity ?? {})) this.#similarities.set(id, compiled(value));
    const { _meta, properties, dynamic } = checked(body.mappings ?? {}, members.mapping, 'mappings');
    if (dynamic !== 'strict') throw badRequest('the stand-in keeps strict mappings only');
    this.mapping = { _meta, properties: {} };
    this.map(properties);
  }

  map(properties: unknown): void {
    for (const [field, value] of Object.entries(checked(properties, Object.keys(properties ?? {}), 'properties'))) {
      const type = (value as Members).type;
      if (type === 'knn_vector') this.#checkVector(value);
      else if (type === 'text') this.#checkText(value);
      else {
        checked(value, members.simpleField, field);
        if (type !== 'keyword' && type !== 'integer')
          throw badRequest(`No handler for type [${type}] declared on field [${field}]`, 'mapper_parsing_exception');
      }
      const known = this.mapping.properties[field];
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(value))
        throw badRequest(`Mapper for [${field}] conflicts with existing mapper`, 'illegal_argument_exception');
      this.mapping.properties[field] = value as Members;
    }
  }

  /** @returns the status of one operation of a bulk request. */
  put(id: string, version: number, fields: Members): number {
    for (const [field, value] of Object.entries(fields)) this.#checkValue(field, value);
    const known = this.documents.get(id);
    if (known !== undefined && known.version > version)
      throw new OpenSearchRefusal(409, 'version_conflict_engine_exception', `[${id}]: version conflict`);
    this.documents.set(id, { id, version, fields });
    return known === undefined ? 201 : 200;
  }

  refresh(): void {
    this.searched = [...this.documents.values()];
  }

  similarityOf(field: string): Similarity {
    const similarity = this.#similarities.get(String(this.mapping.properties[field]?.similarity));
    if (similarity === undefined) throw badRequest(`the stand-in scores by scripts only: [${field}]`);
    return similarity;
  }

  #checkVector(value: unknown): void {
    const { dimension, method } = checked(value, members.knnVector, 'knn_vector');
    if (!this.#hasKnn) throw badRequest('index.knn is not set', 'mapper_parsing_exception');
    const { name, engine, space_type: space } = checked(method, members.knnMethod, 'method');
    if (name !== 'hnsw' || engine !== 'lucene' || space !== 'cosinesimil')
      throw badRequest('the stand-in knows hnsw of Lucene with cosines only');
    if (typeof dimension !== 'number' || dimension < 1 || dimension > 16_000)
      throw badRequest('Dimension value must be in [1, 16000]');
  }

  #checkText(value: unknown): void {
    const { analyzer, similarity } = checked(value, members.text, 'text');
    if (analyzer !== 'keyword') throw badRequest('the stand-in knows the analyzer keyword only');
    if (!this.#similarities.has(String(similarity)))
      throw badRequest(`Unknown Similarity type [${similarity}]`, 'mapper_parsing_exception');
  }

  #checkValue(field: string, value: unknown): void {
    const mapped = this.mapping.properties[field];
    if (mapped === undefined)
      throw badRequest(
        `mapping set to strict, dynamic introduction of [${field}] within [_doc] is not allowed`,
        'strict_dynamic_mapping_exception',
      );
    if (mapped.type !== 'knn_vector') return;
    const isVector = Array.isArray(value) && value.length === mapped.dimension && value.every((part) => Number.isFinite(part));
    if (!isVector) throw badRequest(`Vector dimension mismatch on [${field}]`, 'mapper_parsing_exception');
    if (!value.some((part) => part !== 0))
      throw badRequest('zero vector is not supported when space type is [cosinesimil]', 'mapper_parsing_exception');
  }
}

function compiled(similarity: unknown): Similarity {
  const { script } = checked(similarity, ['type', 'script'], 'similarity');
  const { source } = checked(script, ['source', 'lang', 'params'], 'script');
  const [type] = [(similarity as Members).type];
  if (type !== 'scripted' || typeof source !== 'string')
    throw badRequest(`Unknown Similarity type [${type}]`, 'illegal_argument_exception');
  if (!/^[\w\s.,;=*/+()-]+$/.test(source)) throw badRequest('compile error', 'script_exception');
  return new Function('query', 'field', 'doc', source.replaceAll(/\bdouble /g, 'const ')) as Similarity;
}
