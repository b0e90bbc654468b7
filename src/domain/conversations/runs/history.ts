import type { RunStatus } from '../../../entities/conversations/runs/event.ts';
import type { RunFeedback, RunNarrowing, RunSearch } from '../../../entities/conversations/runs/history.ts';
import type { Run, RunKind } from '../../../entities/conversations/runs/run.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { everything } from '../../../entities/ground/filter.ts';
import { type IdKind, kindOfId } from '../../../entities/ground/ids.ts';
import { emptyPage, type Page, type PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { storableText } from '../../../lib/text/text.ts';
import type { RunReach } from '../../../storage/conversations/runs/history-conditions.ts';
import type { Deps } from '../../deps.ts';
import { editableAgents, isAdministrator, usableAgents, visibleRuns } from '../../ground/access/access.ts';
import { missingRun, readRuns } from './runs.ts';

type Maybe<T> = T | null | undefined;

/** What a list of runs is narrowed to, as an API takes it. Absent and null mean the same. */
export interface RunFilterInput {
  readonly agentId?: Maybe<string>;
  readonly userId?: Maybe<string>;
  readonly keyId?: Maybe<string>;
  readonly modelId?: Maybe<string>;
  readonly status?: Maybe<RunStatus>;
  readonly kind?: Maybe<RunKind>;
  readonly since?: Maybe<Date>;
  readonly until?: Maybe<Date>;
  readonly feedback?: Maybe<RunFeedback>;
  readonly tag?: Maybe<string>;
  readonly search?: Maybe<string>;
}

const searchCharsMax = 200;
const modelIdCharsMax = 300;
/** Kinds of ids that name a run. */
export const runIdKinds = ['run', 'response', 'completion', 'compaction'] as const satisfies readonly IdKind[];

/**
 * Runs of every kind and API: for administrators those of the organization, for others their own and those of agents that they may edit.
 *
 * @throws DomainError INVALID_VALUE for a period that ends before it begins, and for words that are too long.
 *
 * Cost: two statements, one more for callers who are no administrators; up to four more for words.
 */
export async function listRuns(
  deps: Deps,
  caller: Caller,
  input: RunFilterInput,
  { isOldestFirst, ...page }: PageRequest & { readonly isOldestFirst?: boolean },
): Promise<Page<Run>> {
  const reach = await loadReach(deps, caller);
  const query = { ...(await loadNarrowing(deps, caller, reach, input)), ...(isOldestFirst === true ? { isOldestFirst } : {}) };
  const runPage = await deps.storage.conversations.runHistory.list(reach, query, page);
  readRuns(deps, caller, runPage.items);
  return runPage;
}

/** A page of the runs of each agent, in the order of the agents: what `listRuns` gives with that agent. Cost: two statements, one more for callers who are no administrators. */
export async function pageRunsOfAgents(
  deps: Deps,
  caller: Caller,
  agentIds: readonly string[],
  page: PageRequest,
): Promise<readonly Page<Run>[]> {
  const pages = await deps.storage.conversations.runHistory.pagesOfAgents(await loadReach(deps, caller), agentIds, page);
  for (const { items } of pages.values()) readRuns(deps, caller, items);
  return agentIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/** One run of any kind. @throws DomainError NOT_FOUND, also for one that the caller may not see. */
export async function getAnyRun(deps: Deps, caller: Caller, id: string): Promise<Run> {
  const [run] = await getAnyRuns(deps, caller, [id]);
  if (run === undefined) throw missingRun();
  return run;
}

/** The runs among `ids` that the caller may see, in any order. */
export async function getAnyRuns(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Run[]> {
  const runs = await deps.storage.conversations.runHistory.findMany(
    ids.filter((id) => isRunIdKind(kindOfId(id))),
    visibleRuns(caller),
  );
  readRuns(deps, caller, runs);
  return runs;
}

function isRunIdKind(kind: IdKind | undefined): boolean {
  return runIdKinds.some((candidate) => candidate === kind);
}

/** Whose runs the caller lists. */
export async function loadReach({ storage }: Deps, caller: Caller): Promise<RunReach> {
  const { orgId, userId } = caller;
  if (isAdministrator(caller, orgId)) return { orgId };
  return { orgId, userId, agentIds: await storage.conversations.runHistory.agentsOf(orgId, editableAgents(caller)) };
}

/** @throws DomainError INVALID_VALUE. */
export async function loadNarrowing(deps: Deps, caller: Caller, reach: RunReach, input: RunFilterInput): Promise<RunNarrowing> {
  const { agentId, userId, keyId, modelId, status, kind, since, until, feedback, tag } = input;
  if (since && until && since >= until)
    throw new DomainError('INVALID_VALUE', 'until must be later than since', { param: 'until' });
  if ((modelId?.length ?? 0) > modelIdCharsMax) {
    throw new DomainError('INVALID_VALUE', `modelId must have at most ${modelIdCharsMax} characters`, { param: 'modelId' });
  }
  const words = storableText(input.search ?? '').trim();
  if (words.length > searchCharsMax) {
    throw new DomainError('INVALID_VALUE', `search must have at most ${searchCharsMax} characters`, { param: 'search' });
  }
  const filterInput = { agentId, userId, keyId, modelId, status, kind, since, until, feedback, tag };
  const filterEntries = Object.entries(filterInput).filter(([, value]) => value !== undefined && value !== null);
  return {
    ...Object.fromEntries(filterEntries),
    ...(words === '' ? {} : { search: await searchFor(deps, caller, reach, words) }),
  };
}

const nothing: RunSearch = { runIds: [], agentIds: [], modelIds: [], userIds: [], keyIds: [], chatIds: [] };

/** What words name: a thing by its id, else agents by their names, models, and questions that the caller may read. */
async function searchFor(deps: Deps, caller: Caller, reach: RunReach, words: string): Promise<RunSearch> {
  const kind = kindOfId(words);
  if (kind !== undefined) return named(kind, words);
  const { runHistory } = deps.storage.conversations;
  const { orgId, userId } = caller;
  const visible = reach.userId === undefined ? everything : usableAgents(caller);
  const [agentIds, models] = await Promise.all([runHistory.findAgentsByName(words, orgId, visible), deps.models.list()]);
  const editableIds = reach.userId === undefined ? 'all' : reach.agentIds;
  const runIds = await runHistory.findByQuestion(words, { userId, orgId }, editableIds);
  const text = words.toLowerCase();
  const modelIds = models.flatMap(({ id }) => (id.toLowerCase().includes(text) ? [id] : []));
  return { ...nothing, runIds, agentIds, modelIds: [...new Set([words, ...modelIds])] };
}

function named(kind: IdKind, id: string): RunSearch {
  if (isRunIdKind(kind)) return { ...nothing, runIds: [id] };
  switch (kind) {
    case 'agent':
      return { ...nothing, agentIds: [id] };
    case 'user':
      return { ...nothing, userIds: [id] };
    case 'apiKey':
      return { ...nothing, keyIds: [id] };
    case 'chat':
      return { ...nothing, chatIds: [id] };
    default:
      return nothing;
  }
}
