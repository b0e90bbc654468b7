import type { AgentView } from '../../../entities/agents/agent.ts';
import type { Dataset } from '../../../entities/conversations/evaluation/dataset.ts';
import type { Experiment, Variant } from '../../../entities/conversations/evaluation/experiment.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { findAgent } from '../../agents/agents.ts';
import { editableAgent } from '../../agents/parts/access.ts';
import type { Deps } from '../../deps.ts';
import { canEditAgent } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { listModelIds } from './cost-bound.ts';
import { getDatasetWithAgent, requireRevision } from './datasets.ts';
import { readScorers, type ScorerInput } from './scorer-input.ts';
import { readVersions } from './variants.ts';

type Optional<T> = T | null | undefined;

export interface ExperimentInput {
  /** `draft`, `published`, or numbers of versions; the first is what the others are compared with. */
  readonly versions: readonly string[];
  /** Models in place of the agent's: each version is asked with each. */
  readonly models?: Optional<readonly string[]>;
  readonly datasetId: string;
  /** Default: the newest. */
  readonly revision?: Optional<number>;
  readonly scorers?: Optional<readonly ScorerInput[]>;
  /** Default: 1. */
  readonly repeats?: Optional<number>;
  readonly tokensMax: number;
  /** In the currency of the models file. */
  readonly costMax?: Optional<number>;
  readonly seed?: Optional<number>;
}

const versionsMax = 4;
const modelsMax = 4;
const resultsMax = 50_000;
const seedMax = 1_000_000_000;
const tokensLimit = 10_000_000_000;
const costLimit = 1_000_000;

/**
 * Begins to ask versions of an agent the cases of a dataset that are no drafts. A job asks them; runs are charged to the caller.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN when the caller may only use the agent; naming every faulty member, also a version or model that there is not and a
 * budget of nothing; CONFLICT while the organization has three under way.
 */
export async function runExperiment(deps: Deps, caller: Caller, agentId: string, input: ExperimentInput): Promise<Experiment> {
  const agent = await editableAgent(deps, caller, agentId);
  const { dataset } = await getDatasetWithAgent(deps, caller, input.datasetId);
  if (dataset.agentId !== agent.id)
    throw new DomainError('INVALID_VALUE', 'datasetId is a dataset of another agent', { param: 'datasetId' });
  return startExperiment(deps, caller, { agent, dataset }, input);
}

interface ExperimentPlace {
  readonly agent: AgentView;
  readonly dataset: Dataset;
}

/** The same, for who has been let in. */
export async function startExperiment(
  deps: Deps,
  caller: Caller,
  { agent, dataset }: ExperimentPlace,
  input: ExperimentInput,
): Promise<Experiment> {
  const { experiments } = deps.storage.conversations;
  const revision = requireRevision(dataset, input.revision);
  const faults = new Faults();
  checkNumbers(input, faults);
  const variants = await readVariants(deps, caller, agent, input, faults);
  const scorers = await readScorers(deps, input.scorers, faults);
  if (typeof input.costMax === 'number') await checkPrices(deps, caller, { agentId: agent.id, variants, scorers }, faults);
  faults.throwIfAny();
  const repeats = input.repeats ?? 1;
  await requireCases(deps, dataset, { revision, answers: variants.length * repeats });
  const { orgId, userId, tenantId } = caller;
  const row = {
    ...{ id: deps.newId('experiment'), createdAt: deps.now(), orgId, userId, agentId: agent.id, datasetId: dataset.id },
    ...{ revision, variants, scorers, repeats, tokensMax: input.tokensMax, costMax: input.costMax ?? null },
    seed: input.seed ?? Math.floor(deps.now().getTime() % seedMax),
  };
  const comparesPairs = scorers.some(({ kind }) => kind === 'JUDGE_PAIR');
  await deps.audit.change(caller, async (tx) => {
    if (!(await experiments.create(row, comparesPairs))) throw tooManyExperiments();
    const owner = { tenantId, orgId };
    await deps.jobs.enqueue('evaluation.run-experiment', { experimentId: row.id }, { owner, key: row.id, tx });
    return { id: row.id, orgId: agent.orgId };
  });
  return getExperiment(deps, caller, row.id);
}

function checkNumbers({ repeats, tokensMax, costMax, seed }: ExperimentInput, faults: Faults): void {
  if (typeof repeats === 'number') faults.requireRange('repeats', repeats, { min: 1, max: 5, isWhole: true }, 'a whole number');
  faults.requireRange('tokensMax', tokensMax, { min: 1, max: tokensLimit, isWhole: true }, 'a number of tokens');
  if (typeof costMax === 'number' && !(costMax > 0 && costMax <= costLimit))
    faults.add('costMax', `costMax must be above 0 and up to ${costLimit}; leave it out for no bound`);
  if (typeof seed === 'number') faults.requireRange('seed', seed, { min: 0, max: seedMax, isWhole: true }, 'a whole number');
}

async function readVariants(
  deps: Deps,
  caller: Caller,
  agent: AgentView,
  { versions: versionInputs, models }: ExperimentInput,
  faults: Faults,
): Promise<readonly Variant[]> {
  if (versionInputs.length === 0) faults.add('versions', 'versions must have at least one item', 'EMPTY_ARRAY');
  faults.requireCount('versions', versionInputs, versionsMax);
  faults.requireCount('models', models ?? [], modelsMax);
  const versions = await readVersions(deps, caller, agent, versionInputs.slice(0, versionsMax), faults);
  const modelIds: (string | null)[] = [];
  for (const [index, name] of (models ?? []).slice(0, modelsMax).entries()) {
    const model = await deps.models.find(name);
    if (model === undefined)
      faults.add(`models[${index}]`, `models[${index}] is no model that is configured here`, 'MODEL_NOT_FOUND');
    else if (!modelIds.includes(model.id)) modelIds.push(model.id);
  }
  const chosen = modelIds.length === 0 ? [null] : modelIds;
  return versions.flatMap((version) => chosen.map((modelId) => ({ ...version, modelId })));
}

/** A bound in money needs prices. */
async function checkPrices(deps: Deps, caller: Caller, asked: Parameters<typeof listModelIds>[2], faults: Faults): Promise<void> {
  const unpriced = (await listModelIds(deps, caller, asked)).filter((id) => deps.models.priceOf(id) === null);
  if (unpriced.length > 0)
    faults.add('costMax', `costMax cannot be held: ${unpriced.join(', ')} has no price in the models file`);
}

async function requireCases(
  deps: Deps,
  dataset: Dataset,
  { revision, answers }: { readonly revision: number; readonly answers: number },
): Promise<void> {
  const count = await deps.storage.conversations.experiments.countCases(dataset.id, revision);
  if (count === 0) {
    const message = 'The dataset has no case to ask: add some, or agree to its drafts';
    throw new DomainError('INVALID_VALUE', message, { param: 'datasetId' });
  }
  if (count * answers <= resultsMax) return;
  const message = `${count} cases, asked ${answers} times each, are more than ${resultsMax} answers: choose fewer versions, models or repeats`;
  throw new DomainError('INVALID_VALUE', message, { param: 'repeats' });
}

/** An experiment with an agent that the caller may edit. @throws DomainError NOT_FOUND; FORBIDDEN when the caller may only use the agent. */
export async function getExperiment(deps: Deps, caller: Caller, id: string): Promise<Experiment> {
  const experiment = isId('experiment', id) ? await deps.storage.conversations.experiments.find(id) : undefined;
  const agent = experiment === undefined ? undefined : await findAgent(deps, caller, experiment.agentId);
  if (experiment === undefined || agent === undefined) throw missingExperiment();
  if (!canEditAgent(caller, agent)) throw new DomainError('FORBIDDEN', 'Only who may edit an agent sees its experiments');
  deps.audit.read(caller, 'instructions', [agent]);
  return experiment;
}

/** The experiments with an agent, newest first. @throws DomainError NOT_FOUND; FORBIDDEN when the caller may only use the agent. */
export async function listExperiments(deps: Deps, caller: Caller, agentId: string, page: PageRequest): Promise<Page<Experiment>> {
  const agent = await editableAgent(deps, caller, agentId);
  deps.audit.read(caller, 'instructions', [agent]);
  return deps.storage.conversations.experiments.list(agent.id, page);
}

/** Ends an experiment that is under way; what it has asked stays. @throws DomainError NOT_FOUND, FORBIDDEN; CONFLICT for one that has ended. */
export async function cancelExperiment(deps: Deps, caller: Caller, id: string): Promise<Experiment> {
  const { orgId } = await getExperiment(deps, caller, id);
  await deps.audit.change(caller, async () => {
    const changes = { status: 'CANCELLED', endedAt: deps.now() } as const;
    if (await deps.storage.conversations.experiments.end(id, ['WAITING', 'RUNNING'], changes)) return { id, orgId };
    throw new DomainError('CONFLICT', 'This experiment has ended already', { param: 'id' });
  });
  return getExperiment(deps, caller, id);
}

/** A new budget of an experiment, in all: what it has used counts. */
export interface ExperimentBudget {
  /** Default: the one before. */
  readonly tokensMax?: Optional<number>;
  /** In the currency of the models file. Default: the one before. */
  readonly costMax?: Optional<number>;
}

/**
 * Goes on with an experiment that was cancelled, stopped or interrupted: asks what was not asked, and what was under way when a process died.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN; INVALID_VALUE for a budget that is used up already, and for a bound in money of models without prices;
 * CONFLICT while it runs, when nothing is left, and for such a bound once the draft was changed.
 */
export async function resumeExperiment(deps: Deps, caller: Caller, id: string, budget: ExperimentBudget): Promise<Experiment> {
  const experiment = await getExperiment(deps, caller, id);
  const { orgId } = experiment;
  const tokensMax = budget.tokensMax ?? experiment.tokensMax;
  const costMax = budget.costMax ?? experiment.costMax;
  const faults = new Faults();
  checkBudget(experiment, { tokensMax, costMax }, faults);
  if (typeof budget.costMax === 'number') await checkPrices(deps, caller, experiment, faults);
  faults.throwIfAny();
  await deps.audit.change(caller, async (tx) => {
    if (!(await deps.storage.conversations.experiments.resume(id, { tokensMax, costMax })))
      throw new DomainError('CONFLICT', 'This experiment is under way, or has nothing left to ask', { param: 'id' });
    const owner = { tenantId: caller.tenantId, orgId: caller.orgId };
    await deps.jobs.enqueue('evaluation.run-experiment', { experimentId: id }, { owner, key: id, tx });
    return { id, orgId };
  });
  return getExperiment(deps, caller, id);
}

/** What is used up already reaches for nothing more. */
function checkBudget(
  { tokens, cost }: Experiment,
  { tokensMax, costMax }: Pick<Experiment, 'tokensMax' | 'costMax'>,
  faults: Faults,
): void {
  if (!Number.isInteger(tokensMax) || tokensMax <= tokens || tokensMax > tokensLimit)
    faults.add('tokensMax', `tokensMax must be above the ${tokens} tokens that it has used, and up to ${tokensLimit}`);
  if (costMax !== null && !(costMax > cost && costMax <= costLimit))
    faults.add('costMax', `costMax must be above the ${cost} that it has cost, and up to ${costLimit}`);
}

export function missingExperiment(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such experiment', { param: 'id' });
}

function tooManyExperiments(): DomainError {
  return new DomainError('CONFLICT', 'The organization has 3 experiments under way: wait until one has ended, or cancel one');
}
