import type { Dataset, DatasetCase } from '../../../entities/conversations/evaluation/dataset.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { CaseChange, NewCase } from '../../../storage/conversations/evaluation/datasets.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { type CaseValues, readCase } from './case-input.ts';
import { datasetBounds, getDataset, missingDataset } from './datasets.ts';

const casesAtOnce = 500;
const written = { sourceRunId: null, sourceChatId: null, sourceUserId: null } as const;

/** Adds cases that somebody wrote. @throws DomainError NOT_FOUND, FORBIDDEN; naming every faulty member; CONFLICT for more than 10,000 cases. */
export async function addCases(deps: Deps, caller: Caller, datasetId: string, inputs: readonly unknown[]): Promise<Dataset> {
  const dataset = await getDataset(deps, caller, datasetId);
  const faults = new Faults();
  if (inputs.length === 0) faults.add('cases', 'cases must have at least one item', 'EMPTY_ARRAY');
  faults.requireCount('cases', inputs, casesAtOnce);
  const values = inputs.slice(0, casesAtOnce).map((input, index) => readCase(input, `cases[${index}]`, faults));
  faults.throwIfAny();
  return changeCases(deps, caller, dataset, { added: values.map((value) => toNewCase(deps, value)) });
}

/** Replaces a case; where it comes from stays. @throws DomainError NOT_FOUND, FORBIDDEN, and naming every faulty member. */
export async function updateCase(
  deps: Deps,
  caller: Caller,
  datasetId: string,
  caseId: string,
  input: unknown,
): Promise<Dataset> {
  const dataset = await getDataset(deps, caller, datasetId);
  const [before] = await findCases(deps, datasetId, [caseId], 'caseId');
  const faults = new Faults();
  const values = readCase(input, '', faults);
  faults.throwIfAny();
  const changedCase = { ...toNewCase(deps, values), ...sourceOf(before), id: before.id };
  return changeCases(deps, caller, dataset, { changed: [changedCase] });
}

/** Agrees to drafts: experiments ask them from now on. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function agreeToCases(deps: Deps, caller: Caller, datasetId: string, ids: readonly string[]): Promise<Dataset> {
  const dataset = await getDataset(deps, caller, datasetId);
  const drafts = await findCases(deps, datasetId, requireIds(ids));
  return changeCases(deps, caller, dataset, { changed: drafts.map((one) => ({ ...toRow(one), isDraft: false })) });
}

/** Takes cases out. Revisions before, and the experiments that ran them, keep them. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function removeCases(deps: Deps, caller: Caller, datasetId: string, ids: readonly string[]): Promise<Dataset> {
  const dataset = await getDataset(deps, caller, datasetId);
  await findCases(deps, datasetId, requireIds(ids));
  return changeCases(deps, caller, dataset, { removed: ids });
}

/** Writes a change of cases, with its entry of the audit log. @throws DomainError CONFLICT for more cases than a dataset may have. */
export async function changeCases(
  deps: Deps,
  caller: Caller,
  { id, orgId }: Dataset,
  change: Omit<CaseChange, 'at'>,
): Promise<Dataset> {
  const { datasets } = deps.storage.conversations;
  await deps.audit.change(caller, async () => {
    const result = await datasets.changeCases(id, { ...change, at: deps.now() }, datasetBounds.casesMax);
    if (result === 'missing') throw missingDataset();
    if (result === 'case-missing')
      throw new DomainError('NOT_FOUND', 'A case was taken out of the dataset meanwhile', { param: 'caseIds' });
    if (result === 'full') throw tooManyCases(change.added?.length ?? 0);
    return { id, orgId };
  });
  return getDataset(deps, caller, id);
}

export function tooManyCases(count: number): DomainError {
  const message = `A dataset has at most ${datasetBounds.casesMax} cases, and would have more with these ${count}`;
  return new DomainError('CONFLICT', message, { param: 'cases' });
}

/** A case that somebody wrote. */
export function toNewCase(deps: Pick<Deps, 'newId'>, values: CaseValues): NewCase {
  return { id: deps.newId('datasetCase'), ...written, ...values };
}

/** @throws DomainError NOT_FOUND naming the first that is missing. */
async function findCases(
  deps: Deps,
  datasetId: string,
  ids: readonly string[],
  param = 'caseIds',
): Promise<readonly [DatasetCase, ...DatasetCase[]]> {
  const cases = await deps.storage.conversations.datasets.findCases(datasetId, ids);
  const missingId = ids.find((id) => !cases.some((one) => one.id === id));
  const [first, ...more] = cases;
  if (missingId === undefined && first !== undefined) return [first, ...more];
  throw new DomainError('NOT_FOUND', `The dataset has no case ${(missingId ?? '').slice(0, 100)}`, { param });
}

function requireIds(ids: readonly string[]): readonly string[] {
  const faults = new Faults();
  if (ids.length === 0) faults.add('caseIds', 'caseIds must have at least one item', 'EMPTY_ARRAY');
  faults.requireCount('caseIds', ids, casesAtOnce);
  faults.throwIfAny();
  return ids;
}

function sourceOf({ sourceRunId, sourceChatId, sourceUserId }: DatasetCase) {
  return { sourceRunId, sourceChatId, sourceUserId };
}

function toRow({ createdAt: _at, fromRevision: _from, orgId: _org, datasetId: _dataset, ...row }: DatasetCase): NewCase {
  return row;
}
