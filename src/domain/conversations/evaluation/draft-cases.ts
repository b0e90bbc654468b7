import { caseDraftFormat, caseDraftMessages, type DraftPassage } from '../../../engine/models/prompts/case-draft.ts';
import { finishedRun } from '../../../engine/runs/events/fold.ts';
import type { CaseContent, Dataset } from '../../../entities/conversations/evaluation/dataset.ts';
import { readAnswerText } from '../../../entities/conversations/runs/answer.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { KnowledgeItem } from '../../../entities/knowledge/data-source.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { isObject, parseJson } from '../../../lib/json/json.ts';
import { findModelId } from '../../agents/agents.ts';
import { missingModel } from '../../agents/models.ts';
import type { Deps } from '../../deps.ts';
import { chargeTo } from '../../ground/charges.ts';
import { Faults } from '../../ground/faults.ts';
import { listPassagesOfItems } from '../../knowledge/item-passages.ts';
import { getKnowledgeItems } from '../../knowledge/items.ts';
import { readCase } from './case-input.ts';
import { changeCases, toNewCase } from './cases.ts';
import { getDatasetWithAgent } from './datasets.ts';

export interface DraftCasesInput {
  /** Documents that the caller may open. */
  readonly itemIds: readonly string[];
  /** Questions in all. */
  readonly count: number;
  /** Default: that of the agent. */
  readonly modelId?: string | null | undefined;
}

const itemsMax = 20;
const countMax = 50;
const tokensMax = 1_000;
const atOnce = 4;

/**
 * Has a model write cases from documents: a question, its answer and facts for each of several places. They are drafts until a person agrees to them, and
 * each must cite its document.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN; naming each document that the caller may not open or that has no text; MODEL_NOT_FOUND; MODEL_ERROR when the model wrote no case.
 *
 * Cost: five statements and one call of the model for each question.
 */
export async function draftCases(
  deps: Deps,
  caller: Caller,
  datasetId: string,
  input: DraftCasesInput,
  signal: AbortSignal,
): Promise<Dataset> {
  const { dataset, agent } = await getDatasetWithAgent(deps, caller, datasetId);
  const passages = await choosePassages(deps, caller, input);
  const name = input.modelId ?? findModelId(deps, agent);
  const model = await deps.models.find(name);
  if (model === undefined) throw missingModel(name);
  const drafts: (CaseContent | undefined)[] = [];
  for (let start = 0; start < passages.length; start += atOnce) {
    const group = passages.slice(start, start + atOnce);
    const charge = { caller, agentId: agent.id, modelId: model.id };
    drafts.push(...(await Promise.all(group.map((passage) => draftCase(deps, charge, passage, signal)))));
  }
  const added = drafts.flatMap((content) =>
    content === undefined ? [] : [toNewCase(deps, { content, tags: ['drafted'], weight: 1, isDraft: true })],
  );
  if (added.length === 0) throw new DomainError('MODEL_ERROR', 'The model wrote no case: try another model, or other documents');
  return changeCases(deps, caller, dataset, { added });
}

interface ChosenPassage extends DraftPassage {
  readonly item: KnowledgeItem;
}

/** Places spread over the documents, in turns. */
async function choosePassages(
  deps: Deps,
  caller: Caller,
  { itemIds, count }: DraftCasesInput,
): Promise<readonly ChosenPassage[]> {
  const faults = new Faults();
  if (itemIds.length === 0) faults.add('itemIds', 'itemIds must have at least one item', 'EMPTY_ARRAY');
  faults.requireCount('itemIds', itemIds, itemsMax);
  faults.requireRange('count', count, { min: 1, max: countMax, isWhole: true }, 'a whole number');
  faults.throwIfAny();
  const items = await getKnowledgeItems(deps, caller, itemIds);
  const pages = await listPassagesOfItems(deps, caller, items, { limit: countMax, after: undefined });
  const texts = new Map(
    items.map((item, index) => [item.id, (pages[index]?.items ?? []).filter(({ text }) => text.trim() !== '')]),
  );
  for (const [index, id] of itemIds.entries()) {
    const param = `itemIds[${index}]`;
    if ((texts.get(id)?.length ?? 0) === 0) faults.add(param, `${param} is no document with text that you may open`, 'NOT_FOUND');
  }
  faults.throwIfAny();
  const rounds = Math.max(0, ...[...texts.values()].map(({ length }) => length));
  return Array.from({ length: rounds }, (_, place) => items.flatMap((item) => toChosen(item, texts.get(item.id)?.[place])))
    .flat()
    .slice(0, count);
}

function toChosen(item: KnowledgeItem, passage: { readonly text: string } | undefined): readonly ChosenPassage[] {
  return passage === undefined ? [] : [{ item, title: item.name, text: passage.text }];
}

/** @returns undefined when the model wrote something else than a case. */
async function draftCase(
  deps: Deps,
  { caller, agentId, modelId }: { readonly caller: Caller; readonly agentId: string; readonly modelId: string },
  { item, ...passage }: ChosenPassage,
  signal: AbortSignal,
): Promise<CaseContent | undefined> {
  const events = deps.runs.runStateless(
    {
      ...{ modelId, messages: caseDraftMessages(passage), tools: [], parameters: { maxTokens: tokensMax } },
      ...{ responseFormat: caseDraftFormat, isStreaming: false, generateCitations: false, hidesSteps: true },
      charge: chargeTo(caller, { agentId, runId: deps.newId('completion') }),
    },
    signal,
  );
  const answer = parseJson(readAnswerText((await finishedRun(events)).output));
  if (!isObject(answer)) return undefined;
  const { question, expected, mustContain } = answer;
  const faults = new Faults();
  const { content } = readCase({ question, expected, mustContain, mustCite: [item.id] }, '', faults);
  return faults.found.length === 0 ? content : undefined;
}
