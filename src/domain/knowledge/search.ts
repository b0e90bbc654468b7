import type { PassageMatch } from '../../engine/knowledge/search/passages.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import type { DataSourceType } from '../../entities/knowledge/data-source.ts';
import type { ItemFilter } from '../../entities/knowledge/item-filter.ts';
import type { Retrieval } from '../../entities/knowledge/retrieval.ts';
import type { MatchedWord, SearchedQuestion, Turn } from '../../entities/knowledge/searched-question.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { agentForRun } from '../agents/agents.ts';
import type { Deps } from '../deps.ts';
import { visibleDataSources } from '../ground/access/access.ts';
import { chargeTo } from '../ground/charges.ts';
import { Faults } from '../ground/faults.ts';

export interface KnowledgeSearchInput {
  readonly agentId?: string | null | undefined;
  readonly dataSourceIds?: readonly string[] | null | undefined;
  readonly query: string;
  readonly limit?: number | null | undefined;
  readonly filters?: KnowledgeSearchFilters | null | undefined;
  /** What was said before the question, oldest first. */
  readonly rewrite?: readonly Turn[] | null | undefined;
  readonly neighbours?: boolean | null | undefined;
}
export interface KnowledgeSearchFilters {
  readonly sourceTypes?: readonly DataSourceType[] | null | undefined;
  readonly mimeTypes?: readonly string[] | null | undefined;
  readonly pathPrefix?: string | null | undefined;
  readonly updatedAfter?: Date | null | undefined;
}

/** A passage, and why it was found. */
export interface KnowledgeSearchHit {
  readonly dataSourceId: string;
  readonly passage: PassageMatch;
  readonly words: readonly MatchedWord[];
  /** The texts around it in its item; null at its edge, and where neighbours were not asked for. */
  readonly previous: string | null;
  readonly next: string | null;
}
export interface KnowledgeSearchResult {
  readonly query: SearchedQuestion;
  readonly retrieval: Retrieval;
  readonly hits: readonly KnowledgeSearchHit[];
}

const queryCharsMax = 8_000;
const limitDefault = 10;
const limitMax = 50;
const sourcesMax = 100;
const turnsMax = 20;
const turnCharsMax = 20_000;
const mimeTypesMax = 20;
const mimeTypePattern = /^[\w.+-]+\/(?:\*|[\w.+-]+)$/;
const pathCharsMax = 2_000;
/** No bound of its own: the number of passages is one. */
const tokensMax = 200_000;

/**
 * Searches knowledge as a run does, and says why each passage was found.
 *
 * An agent that the caller may use is searched in all of its sources. Of sources that the caller may not read, only passages that answers may cite
 * are given. Sources without an agent must be readable by the caller.
 *
 * @throws DomainError NOT_FOUND naming `agentId` or `dataSourceIds`; MISSING_REQUIRED_PARAMETER without both; and with every fault of the input.
 *
 * Cost: a search as of a run, three statements to explain it, and one for neighbours.
 */
export async function searchKnowledge(
  deps: Deps,
  caller: Caller,
  input: KnowledgeSearchInput,
  signal: AbortSignal,
): Promise<KnowledgeSearchResult> {
  const { limit, filter } = readInput(input);
  const { orgId, dataSourceIds, readable, agentId } = await findSources(deps, caller, input);
  const earlier = input.rewrite ?? [];
  const limits = { passagesMax: limit, tokensMax, ...(filter === undefined ? {} : { filter }) };
  const run = searchRun(caller, agentId);
  const {
    question,
    written: writtenQuestion,
    found: passageMatches,
    retrieval,
    searched: searchedQuestion,
  } = await deps.runs.recorded(run, async (charge, recorder) => {
    const startedMs = performance.now();
    const rewritten = await deps.runs.rewriteQuestion(input.query, earlier, charge, signal);
    const searchQuestion = {
      ...{ orgId, dataSourceIds, charge },
      ...(rewritten === undefined ? { question: input.query, earlier } : { question: rewritten }),
    };
    const { passages: all, ...rest } = await deps.knowledge.search(searchQuestion, limits, signal);
    recorder.retrieval(searchQuestion.question, startedMs, { passages: all, ...rest }, undefined);
    return { question: searchQuestion, written: rewritten, found: all, ...rest };
  });
  const passages = passageMatches.filter(({ mayCite, dataSourceId }) => mayCite || readable.has(dataSourceId));
  for (const { dataSourceId } of passages) deps.audit.read(caller, 'dataSource', [{ id: dataSourceId }]);
  const words = await deps.knowledge.explain(question, limits, passages);
  const texts = input.neighbours === true ? await deps.knowledge.neighbours(passages) : new Map<string, string>();
  return {
    query: writtenQuestion === undefined ? searchedQuestion : { ...searchedQuestion, rewrite: 'model' },
    retrieval,
    hits: passages.map((passage) => ({
      dataSourceId: passage.dataSourceId,
      passage,
      words: words.get(passage.chunkId) ?? [],
      previous: texts.get(`${passage.knowledgeItemId} ${passage.firstOrdinal - 1}`) ?? null,
      next: texts.get(`${passage.knowledgeItemId} ${passage.lastOrdinal + 1}`) ?? null,
    })),
  };
}

/** A search is a run: it leaves a row without the question and the texts. */
export function searchRun(caller: Caller, agentId: string | null) {
  return { kind: 'search', charge: chargeTo(caller, { agentId, runId: null }), modelId: '' } as const;
}

interface SearchedSources {
  readonly agentId: string | null;
  readonly orgId: string;
  readonly dataSourceIds: readonly string[];
  /** Those of them that the caller may read. */
  readonly readable: ReadonlySet<string>;
}

async function findSources(deps: Deps, caller: Caller, input: KnowledgeSearchInput): Promise<SearchedSources> {
  const { sources: dataSources } = deps.storage.knowledge;
  const requestedIds = input.dataSourceIds ?? undefined;
  if (requestedIds?.some((id) => !isId('dataSource', id)) === true) throw missingSource();
  if (typeof input.agentId === 'string') {
    const agent = await agentForRun(deps, caller, input.agentId);
    deps.audit.read(caller, 'agent', [agent]);
    if (requestedIds?.some((id) => !agent.dataSourceIds.includes(id)) === true) throw missingSource();
    const dataSourceIds = [...new Set(requestedIds ?? agent.dataSourceIds)];
    const readable = await dataSources.findMany(dataSourceIds, visibleDataSources(caller));
    return { agentId: agent.id, orgId: agent.orgId, dataSourceIds, readable: new Set(readable.map(({ id }) => id)) };
  }
  const ids = new Set(requestedIds);
  const sources = await dataSources.findMany([...ids], visibleDataSources(caller));
  const [first] = sources;
  if (first === undefined || sources.length < ids.size || sources.some(({ isDeleting }) => isDeleting)) throw missingSource();
  if (sources.some(({ orgId }) => orgId !== first.orgId)) {
    throw new DomainError('INVALID_VALUE', 'dataSourceIds must be of one organization', { param: 'dataSourceIds' });
  }
  return { agentId: null, orgId: first.orgId, dataSourceIds: [...ids], readable: ids };
}

function readInput({ agentId, dataSourceIds, query, limit, filters, rewrite }: KnowledgeSearchInput): {
  readonly limit: number;
  readonly filter: ItemFilter | undefined;
} {
  const faults = new Faults();
  if ((agentId ?? null) === null && (dataSourceIds ?? null) === null) {
    faults.add('agentId', 'agentId or dataSourceIds is required: say what is searched', 'MISSING_REQUIRED_PARAMETER');
  }
  if (dataSourceIds?.length === 0) faults.add('dataSourceIds', 'dataSourceIds must name at least one source', 'EMPTY_ARRAY');
  faults.requireCount('dataSourceIds', dataSourceIds ?? [], sourcesMax);
  faults.requireName('query', query, queryCharsMax);
  const most = limit ?? limitDefault;
  faults.requireRange('limit', most, { min: 1, max: limitMax, isWhole: true });
  faults.requireCount('rewrite', rewrite ?? [], turnsMax);
  for (const [index, { text }] of (rewrite ?? []).entries()) faults.requireLength(`rewrite[${index}].text`, text, turnCharsMax);
  const filter = readFilters(filters ?? {}, faults);
  faults.throwIfAny();
  return { limit: most, filter };
}

function readFilters(
  { sourceTypes, mimeTypes, pathPrefix, updatedAfter }: KnowledgeSearchFilters,
  faults: Faults,
): ItemFilter | undefined {
  if (sourceTypes?.length === 0) faults.add('filters.sourceTypes', 'filters.sourceTypes must not be empty', 'EMPTY_ARRAY');
  if (mimeTypes?.length === 0) faults.add('filters.mimeTypes', 'filters.mimeTypes must not be empty', 'EMPTY_ARRAY');
  faults.requireCount('filters.mimeTypes', mimeTypes ?? [], mimeTypesMax);
  for (const [index, type] of (mimeTypes ?? []).entries()) {
    if (mimeTypePattern.test(type)) continue;
    const at = `filters.mimeTypes[${index}]`;
    faults.add(at, `${at} must be a type such as application/pdf, or text/* for all of a kind`);
  }
  if (typeof pathPrefix === 'string') faults.requireName('filters.pathPrefix', pathPrefix, pathCharsMax);
  const filter: ItemFilter = {
    ...(Array.isArray(sourceTypes) ? { sourceTypes } : {}),
    ...(Array.isArray(mimeTypes) ? { mimeTypes } : {}),
    ...(typeof pathPrefix === 'string' ? { pathPrefix } : {}),
    ...(updatedAfter instanceof Date ? { updatedAfter } : {}),
  };
  return Object.keys(filter).length === 0 ? undefined : filter;
}

function missingSource(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such data source among those that are searched', { param: 'dataSourceIds' });
}
