import type { AgentView } from '../../../entities/agents/agent.ts';
import type { Dataset, DatasetCase } from '../../../entities/conversations/evaluation/dataset.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { oneLine, storableText } from '../../../lib/text/text.ts';
import { findAgent } from '../../agents/agents.ts';
import { editableAgent } from '../../agents/parts/access.ts';
import type { Deps } from '../../deps.ts';
import { canEditAgent } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';

type Optional<T> = T | null | undefined;

/** Absent and null members are kept at a change. */
export interface DatasetInput {
  readonly name?: Optional<string>;
  readonly description?: Optional<string>;
  readonly callsTools?: Optional<boolean>;
}

export const datasetBounds = { datasetsMax: 100, casesMax: 10_000, nameMax: 200, descriptionMax: 2_000 } as const;

/**
 * A dataset of an agent that the caller may edit: its cases hold what an agent is told and what people said to it.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN when the caller may only use the agent.
 */
export async function getDataset(deps: Deps, caller: Caller, id: string, param = 'datasetId'): Promise<Dataset> {
  return (await getDatasetWithAgent(deps, caller, id, param)).dataset;
}

/** The same, with its agent. */
export async function getDatasetWithAgent(
  deps: Deps,
  caller: Caller,
  id: string,
  param = 'datasetId',
): Promise<{ readonly dataset: Dataset; readonly agent: AgentView }> {
  const dataset = isId('dataset', id) ? await deps.storage.conversations.datasets.find(id) : undefined;
  const agent = dataset === undefined ? undefined : await findAgent(deps, caller, dataset.agentId);
  if (dataset === undefined || agent === undefined) throw missingDataset(param);
  if (!canEditAgent(caller, agent)) throw new DomainError('FORBIDDEN', 'Only who may edit an agent sees its datasets');
  deps.audit.read(caller, 'instructions', [agent]);
  return { dataset, agent };
}

/** The datasets of an agent, newest first. @throws DomainError NOT_FOUND; FORBIDDEN when the caller may only use the agent. */
export async function listDatasets(deps: Deps, caller: Caller, agentId: string, page: PageRequest): Promise<Page<Dataset>> {
  const agent = await editableAgent(deps, caller, agentId);
  deps.audit.read(caller, 'instructions', [agent]);
  return deps.storage.conversations.datasets.list(agent.id, page);
}

/** @throws DomainError naming every faulty member; CONFLICT for one dataset too many. */
export async function createDataset(deps: Deps, caller: Caller, agentId: string, input: DatasetInput): Promise<Dataset> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  if (typeof input.name !== 'string') faults.add('name', 'name is required', 'MISSING_REQUIRED_PARAMETER');
  const { name = '', description = '', callsTools = false } = readDataset(input, faults);
  const row = { id: deps.newId('dataset'), createdAt: deps.now(), orgId: agent.orgId, agentId: agent.id };
  await deps.audit.change(caller, async () => {
    const dataset = { ...row, name, description, callsTools };
    if ((await deps.storage.conversations.datasets.create(dataset, datasetBounds.datasetsMax)) === 'full') {
      throw new DomainError('CONFLICT', `The agent has ${datasetBounds.datasetsMax} datasets: delete one first`, {
        param: 'name',
      });
    }
    return { id: row.id, orgId: row.orgId };
  });
  return getDataset(deps, caller, row.id);
}

/** @throws DomainError NOT_FOUND, FORBIDDEN, and naming every faulty member. */
export async function updateDataset(deps: Deps, caller: Caller, id: string, input: DatasetInput): Promise<Dataset> {
  const { orgId } = await getDataset(deps, caller, id, 'id');
  const changes = readDataset(input, new Faults());
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.datasets.update(id, changes))) throw missingDataset('id');
    return { id, orgId };
  });
  return getDataset(deps, caller, id);
}

/** Deletes a dataset with its cases and experiments. @returns what it was. @throws DomainError NOT_FOUND, FORBIDDEN; CONFLICT for what a legal hold keeps, and for that of a gate. */
export async function deleteDataset(deps: Deps, caller: Caller, id: string): Promise<Dataset> {
  const dataset = await getDataset(deps, caller, id, 'id');
  const gate = await deps.storage.conversations.gates.find(dataset.agentId);
  if (gate?.datasetId === id)
    throw new DomainError('CONFLICT', 'The gate of the agent asks this dataset: give it another, or take it away');
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.datasets.delete(id))) throw missingDataset('id');
    return { id, orgId: dataset.orgId };
  });
  return dataset;
}

export interface CaseListQuery {
  /** Absent: the newest. */
  readonly revision?: Optional<number>;
  readonly tag?: Optional<string>;
  readonly isDraft?: Optional<boolean>;
}

/** The cases of a revision, oldest first. @throws DomainError NOT_FOUND, FORBIDDEN; INVALID_VALUE for a revision that there is not. */
export async function listCases(
  deps: Deps,
  caller: Caller,
  datasetId: string,
  { revision, tag, isDraft }: CaseListQuery,
  page: PageRequest,
): Promise<Page<DatasetCase>> {
  const dataset = await getDataset(deps, caller, datasetId);
  const query = {
    datasetId,
    revision: requireRevision(dataset, revision),
    tag: tag ?? undefined,
    isDraft: isDraft ?? undefined,
  };
  const casePage = await deps.storage.conversations.datasets.listCases(query, page);
  noteCases(deps, caller, casePage.items);
  return casePage;
}

/** @returns the revision that is meant. @throws DomainError INVALID_VALUE. */
export function requireRevision(dataset: Dataset, revision: Optional<number>): number {
  const value = revision ?? dataset.revision;
  if (Number.isInteger(value) && value >= 0 && value <= dataset.revision) return value;
  throw new DomainError('INVALID_VALUE', `revision must be from 0 to ${dataset.revision}: there are no others`, {
    param: 'revision',
  });
}

/** Notes for the audit log that the caller is shown what people said: the entry names their chats. */
export function noteCases({ audit }: Deps, caller: Caller, cases: readonly DatasetCase[]): void {
  for (const { sourceChatId, sourceUserId, orgId } of cases) {
    if (sourceChatId !== null && sourceUserId !== null)
      audit.read(caller, 'chat', [{ id: sourceChatId, orgId, userId: sourceUserId }]);
  }
}

export function missingDataset(param = 'datasetId'): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such dataset', { param });
}

/** @throws DomainError naming every faulty member. */
export function readDataset({ name, description, callsTools }: DatasetInput, faults: Faults) {
  if (typeof name === 'string') faults.requireName('name', name, datasetBounds.nameMax);
  if (typeof description === 'string') faults.requireLength('description', description, datasetBounds.descriptionMax);
  faults.throwIfAny();
  return {
    ...(typeof name === 'string' ? { name: oneLine(storableText(name)).trim() } : {}),
    ...(typeof description === 'string' ? { description: storableText(description) } : {}),
    ...(typeof callsTools === 'boolean' ? { callsTools } : {}),
  };
}
