import type { CaseContent } from '../../../entities/conversations/evaluation/dataset.ts';
import type { Experiment, ExperimentResult, Verdict } from '../../../entities/conversations/evaluation/experiment.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { countUnlessWhole, type Page, type PageRequest, toPage } from '../../../entities/ground/page.ts';
import { hiddenTitle } from '../../../entities/knowledge/citation.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { findOpenItems } from '../../knowledge/permissions/open-items.ts';
import { getExperiment } from './experiments.ts';

/** One case of an experiment with all its answers. */
export interface ExperimentCase {
  readonly caseId: string;
  readonly question: string;
  readonly tags: readonly string[];
  readonly content: CaseContent;
  /** Of the variant that is compared with the first; null without two scored answers. */
  readonly verdict: Exclude<Verdict, 'NOT_ENOUGH_CASES'> | null;
  readonly results: readonly ExperimentResult[];
}

export interface PairQuery {
  /** The variant that is compared with the first. Default: the second. */
  readonly variant?: number | null | undefined;
  readonly verdict?: Exclude<Verdict, 'NOT_ENOUGH_CASES'> | null | undefined;
}

/**
 * The cases of an experiment with the answers of all variants, in the order of their ids.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN; INVALID_VALUE for a variant that there is not, and for a page that is read backwards.
 *
 * Cost: two statements besides those of the experiment and of closed documents.
 */
export async function listPairs(
  deps: Deps,
  caller: Caller,
  experimentId: string,
  { variant, verdict }: PairQuery,
  page: PageRequest,
): Promise<Page<ExperimentCase>> {
  const experiment = await getExperiment(deps, caller, experimentId);
  const place = variant ?? 1;
  const last = Math.max(1, experiment.variants.length - 1);
  if (!Number.isInteger(place) || place < 1 || place > last)
    throw new DomainError('INVALID_VALUE', `variant must be from 1 to ${last}`, { param: 'variant' });
  if (page.isBackward === true)
    throw new DomainError('INVALID_VALUE', 'Pairs are read forwards: first and after', { param: 'last' });
  const { experiments } = deps.storage.conversations;
  const query = { variant: place, verdict: verdict ?? undefined };
  const [after] = page.after ?? [];
  const { ids, foundCount } = await experiments.caseIds(experimentId, query, String(after ?? ''), page.limit + 1);
  const cases = await readCases(deps, caller, experiment, ids.slice(0, page.limit), place);
  const count = countUnlessWhole(
    page,
    foundCount,
    async (most) => (await experiments.caseIds(experimentId, query, '', most)).foundCount,
  );
  return toPage(cases, page, ({ caseId }) => [caseId], count, foundCount);
}

/** All cases of an experiment, a few at a time. @param reader  who is shown them; absent for a rule that shows no document. */
export async function* readPairs(deps: Deps, experiment: Experiment, reader?: Caller): AsyncGenerator<readonly ExperimentCase[]> {
  const { experiments } = deps.storage.conversations;
  let after = '';
  for (;;) {
    const { ids } = await experiments.caseIds(experiment.id, { variant: 1, verdict: undefined }, after, 100);
    if (ids.length === 0) return;
    yield await readCases(deps, reader, experiment, ids, 1);
    after = ids.at(-1) ?? '';
  }
}

async function readCases(
  deps: Deps,
  reader: Caller | undefined,
  { id }: Experiment,
  ids: readonly string[],
  variant: number,
): Promise<readonly ExperimentCase[]> {
  const storedResults = await deps.storage.conversations.experiments.results(id, ids);
  const results = reader === undefined ? storedResults : await closeResults(deps, reader, storedResults);
  const byCase = Map.groupBy(results, ({ caseId }) => caseId);
  return ids.flatMap((caseId) => {
    const rows = byCase.get(caseId) ?? [];
    const [first] = rows;
    if (first === undefined) return [];
    const { content, tags } = first;
    return [{ caseId, question: content.question, tags, content, verdict: compare(rows, variant), results: rows }];
  });
}

/**
 * Results without the names of documents that the reader may not open: whoever ran the experiment could open them. Cost: none where no source is MIRRORED;
 * else one statement, and three while what the reader may open is not remembered.
 */
async function closeResults<Result extends ExperimentResult>(
  deps: Deps,
  reader: Caller,
  results: readonly Result[],
): Promise<readonly Result[]> {
  const cited = results.flatMap(({ citations }) => citations);
  const isOpen = await findOpenItems(
    deps,
    reader,
    cited.map(({ itemId, ...citation }) => ({ ...citation, knowledgeItemId: itemId })),
  );
  const closed = new Set(cited.filter((_citation, index) => isOpen[index] !== true));
  if (closed.size === 0) return results;
  return results.map((result) => {
    const names = result.citations.flatMap((citation) => (closed.has(citation) ? [citation.name] : []));
    const hide = (text: string) => names.reduce((hidden, name) => hidden.replaceAll(name, hiddenTitle), text);
    return {
      ...result,
      citations: result.citations.map((citation) => (closed.has(citation) ? { ...citation, name: hiddenTitle } : citation)),
      // Scorers of citations name documents.
      scores: result.scores.map((score) => ({ ...score, note: hide(score.note) })),
    };
  });
}

function compare(results: readonly ExperimentResult[], variant: number): ExperimentCase['verdict'] {
  const meanOf = (place: number) => {
    const values = results.flatMap((one) => (one.variant === place && one.passed !== null ? (one.value ?? []) : []));
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const [before, after] = [meanOf(0), meanOf(variant)];
  if (before === undefined || after === undefined) return null;
  const difference = after - before;
  return Math.abs(difference) < 1e-9 ? 'SAME' : difference > 0 ? 'BETTER' : 'WORSE';
}
