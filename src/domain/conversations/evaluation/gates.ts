import type { AgentView } from '../../../entities/agents/agent.ts';
import type { Experiment, ExperimentResult } from '../../../entities/conversations/evaluation/experiment.ts';
import type { AgentGate, GateReport } from '../../../entities/conversations/evaluation/gate.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { cutText, oneLine, storableText } from '../../../lib/text/text.ts';
import { agentForRun, getAgent } from '../../agents/agents.ts';
import { editableAgent } from '../../agents/parts/access.ts';
import type { Deps } from '../../deps.ts';
import { canManageAgent } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { getDatasetWithAgent } from './datasets.ts';
import { startExperiment } from './experiments.ts';
import { readPairs } from './pairs.ts';
import { readScorers, type ScorerInput } from './scorer-input.ts';

type Optional<T> = T | null | undefined;

export interface GateInput extends GateRulesInput {
  readonly datasetId: string;
}
/** Absent rules ask nothing. */
export interface GateRulesInput {
  readonly mustTag?: Optional<string>;
  readonly rateDropMax?: Optional<number>;
  readonly costRatioMax?: Optional<number>;
  readonly tokensMax: number;
  readonly scorers?: Optional<readonly ScorerInput[]>;
}

const tagMax = 50;
const tokensLimit = 10_000_000_000;
/** Cases that a refusal names. */
const namedMax = 10;
const questionMax = 80;

/** The gate of an agent; undefined when it has none. @throws DomainError NOT_FOUND; FORBIDDEN when the caller may only use the agent. */
export async function getAgentGate(deps: Deps, caller: Caller, agentId: string): Promise<AgentGate | undefined> {
  const agent = await editableAgent(deps, caller, agentId);
  deps.audit.read(caller, 'instructions', [agent]);
  return deps.storage.conversations.gates.find(agent.id);
}

/**
 * Gives an agent a gate, in place of the one before. Only owner and administrators may: who may override it.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN; naming every faulty member; CONFLICT for an agent whose changes take effect at once.
 */
export async function setAgentGate(deps: Deps, caller: Caller, agentId: string, input: GateInput): Promise<AgentGate> {
  const agent = await managedAgent(deps, caller, agentId);
  const { dataset } = await getDatasetWithAgent(deps, caller, input.datasetId);
  const faults = new Faults();
  if (dataset.agentId !== agent.id) faults.add('datasetId', 'datasetId is a dataset of another agent');
  const rules = await readGateRules(deps, input, faults);
  faults.throwIfAny();
  if (agent.publishing === 'AT_ONCE') {
    const message =
      'Changes of this agent take effect at once, so a gate has nothing to hold: set its publishing to ON_REQUEST first';
    throw new DomainError('CONFLICT', message);
  }
  await deps.audit.change(caller, async () => {
    await deps.storage.conversations.gates.set({ agentId: agent.id, datasetId: dataset.id, ...rules });
    return { id: agent.id, orgId: agent.orgId };
  });
  const gate = await getAgentGate(deps, caller, agentId);
  if (gate === undefined) throw missingGate();
  return gate;
}

export type GateRules = Pick<AgentGate, 'mustTag' | 'rateDropMax' | 'costRatioMax' | 'tokensMax' | 'scorers'>;

/** Reads the rules of a gate, noting every fault. */
export async function readGateRules(deps: Pick<Deps, 'models'>, input: GateRulesInput, faults: Faults): Promise<GateRules> {
  const { mustTag, rateDropMax, costRatioMax, tokensMax } = input;
  if (typeof mustTag === 'string') faults.requireName('mustTag', mustTag, tagMax);
  if (typeof rateDropMax === 'number') faults.requireRange('rateDropMax', rateDropMax, { min: 0, max: 100 });
  if (typeof costRatioMax === 'number') faults.requireRange('costRatioMax', costRatioMax, { min: 0.01, max: 1_000 });
  faults.requireRange('tokensMax', tokensMax, { min: 1, max: tokensLimit, isWhole: true }, 'a number of tokens');
  if ([mustTag, rateDropMax, costRatioMax].every((rule) => (rule ?? null) === null))
    faults.add('mustTag', 'A gate needs a rule: mustTag, rateDropMax or costRatioMax', 'MISSING_REQUIRED_PARAMETER');
  const scorers = await readScorers(deps, input.scorers, faults);
  const rules = {
    mustTag: typeof mustTag === 'string' ? storableText(mustTag).trim() : null,
    rateDropMax: rateDropMax ?? null,
    costRatioMax: costRatioMax ?? null,
  };
  return { ...rules, tokensMax, scorers };
}

/** @returns what it was. @throws DomainError NOT_FOUND, FORBIDDEN for everyone except owner and administrators. */
export async function removeAgentGate(deps: Deps, caller: Caller, agentId: string): Promise<AgentGate> {
  const agent = await managedAgent(deps, caller, agentId);
  const gate = await deps.storage.conversations.gates.find(agent.id);
  if (gate === undefined) throw missingGate();
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.gates.remove(agent.id))) throw missingGate();
    return { id: agent.id, orgId: agent.orgId };
  });
  return gate;
}

/** Asks the draft what the gate of the agent asks, unless that was asked already. @throws DomainError NOT_FOUND, FORBIDDEN; as `runExperiment`. */
export async function checkAgentGate(deps: Deps, caller: Caller, agentId: string): Promise<Experiment> {
  const agent = await editableAgent(deps, caller, agentId);
  const gate = await deps.storage.conversations.gates.find(agent.id);
  if (gate === undefined) throw missingGate();
  return (
    (await findGateExperiment(deps, caller, gate, 'draft')) ??
    startGateExperiment(deps, caller, agent, { gate, version: 'draft' })
  );
}

export interface GateAsk {
  readonly gate: AgentGate;
  /** `draft`, or the number of a version. */
  readonly version: string;
}

/** Begins to ask the published version and another what a gate asks. */
export async function startGateExperiment(
  deps: Deps,
  caller: Caller,
  agent: AgentView,
  { gate, version }: GateAsk,
): Promise<Experiment> {
  const { dataset } = await getDatasetWithAgent(deps, caller, gate.datasetId);
  const scorers = gate.scorers.map(({ schema, ...scorer }) => ({
    ...scorer,
    schema: schema === null ? null : JSON.stringify(schema),
  }));
  const input = { versions: ['published', version], datasetId: dataset.id, tokensMax: gate.tokensMax, scorers };
  return startExperiment(deps, caller, { agent, dataset }, input);
}

/** The newest experiment that asked the same versions, draft and revision of the dataset with the same scorers. */
export async function findGateExperiment(
  deps: Deps,
  caller: Caller,
  gate: AgentGate,
  version: string,
): Promise<Experiment | undefined> {
  const { datasets, experiments } = deps.storage.conversations;
  const { publishedVersion, draftRevision } = await agentForRun(deps, caller, gate.agentId);
  const dataset = await datasets.find(gate.datasetId);
  const variants = [
    { version: String(publishedVersion), draftRevision: null, modelId: null },
    { version, draftRevision: version === 'draft' ? draftRevision : null, modelId: null },
  ];
  const newest = await experiments.list(gate.agentId, { limit: 20, after: undefined });
  return newest.items.find(
    (one) =>
      one.datasetId === gate.datasetId &&
      one.revision === dataset?.revision &&
      ['WAITING', 'RUNNING', 'DONE'].includes(one.status) &&
      isSame(one.variants, variants) &&
      isSame(one.scorers, gate.scorers),
  );
}

/** What the gate says of the draft as it is now. */
export async function reportGate(deps: Deps, caller: Caller, gate: AgentGate): Promise<GateReport> {
  const experiment = await findGateExperiment(deps, caller, gate, 'draft');
  if (experiment === undefined) return { verdict: 'NOT_ASKED', reasons: [], experimentId: null };
  if (experiment.summary === null) return { verdict: 'RUNNING', reasons: [], experimentId: experiment.id };
  const reasons = await listReasons(deps, gate, experiment);
  return { verdict: reasons.length === 0 ? 'PASSED' : 'REFUSED', reasons, experimentId: experiment.id };
}

/** Why a gate refuses what an experiment found; `[]`: it lets it pass. */
export async function listReasons(deps: Deps, gate: AgentGate, experiment: Experiment): Promise<readonly string[]> {
  const { status, error, summary } = experiment;
  if (status !== 'DONE' || summary === null)
    return [`its experiment ended ${status.toLowerCase()}: ${error ?? 'nothing was found'}`];
  const { mustTag, rateDropMax, costRatioMax } = gate;
  const reasons = mustTag === null ? [] : await listFailedCases(deps, experiment, mustTag);
  const [comparison] = summary.comparisons;
  const [published, asked] = summary.variants;
  const lost = (asked?.failedCount ?? 0) - (published?.failedCount ?? 0);
  if (lost > 0) reasons.push(`${lost} more questions than of the published version were not answered`);
  const unscored = (asked?.unscoredCount ?? 0) - (published?.unscoredCount ?? 0);
  if (unscored > 0) reasons.push(`${unscored} more answers than of the published version could not be scored`);
  if (rateDropMax !== null && (comparison?.difference ?? null) === null)
    reasons.push('no case has a scored answer of both versions, so their rates cannot be compared');
  const drop = -(comparison?.difference ?? 0) * 100;
  if (rateDropMax !== null && drop > rateDropMax + 1e-9) {
    const [before, after] = summary.variants.map(({ rate }) => `${Math.round((rate ?? 0) * 1_000) / 10} %`);
    reasons.push(
      `its rate is ${after}, and that of the published version ${before}: at most ${rateDropMax} points less are allowed`,
    );
  }
  const { costRatio = null } = comparison ?? {};
  // Without prices tokens stand for the cost.
  const ratio =
    costRatio ??
    (published === undefined || asked === undefined || published.tokens === 0 ? null : asked.tokens / published.tokens);
  if (costRatioMax !== null && ratio !== null && ratio > costRatioMax + 1e-9) {
    const uses = costRatio === null ? 'uses tokens of' : 'costs';
    reasons.push(`it ${uses} ${Math.round(ratio * 100) / 100} × the published version: at most ${costRatioMax} × are allowed`);
  }
  return reasons;
}

async function listFailedCases(deps: Deps, experiment: Experiment, mustTag: string): Promise<string[]> {
  const failed: string[] = [];
  let count = 0;
  for await (const cases of readPairs(deps, experiment)) {
    for (const { caseId, question, tags, results } of cases) {
      if (!tags.includes(mustTag) || results.every((result) => result.variant !== 1 || !hasFailed(result))) continue;
      count += 1;
      if (failed.length < namedMax) failed.push(`“${cutText(oneLine(question), questionMax)}” (${caseId})`);
    }
  }
  if (count === 0) return [];
  const rest = count > failed.length ? ` and ${count - failed.length} more` : '';
  return [`${count === 1 ? 'a case' : `${count} cases`} tagged ${mustTag} failed: ${failed.join(', ')}${rest}`];
}

/** An answer that could not be scored is no pass; a case of which no scorer has anything to say asks nothing. */
function hasFailed({ state, passed, scores }: ExperimentResult): boolean {
  return state !== 'DONE' || passed === false || scores.some((score) => score.error !== null);
}

function isSame(left: unknown, right: unknown): boolean {
  return toSortedJson(left) === toSortedJson(right);
}

/** The database keeps members in an order of its own. */
function toSortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}

async function managedAgent(deps: Deps, caller: Caller, agentId: string): Promise<AgentView> {
  const agent = await getAgent(deps, caller, agentId);
  if (canManageAgent(caller, agent)) return agent;
  throw new DomainError('FORBIDDEN', 'Only the owner of an agent and administrators may set its gate');
}

function missingGate(): DomainError {
  return new DomainError('NOT_FOUND', 'The agent has no gate', { param: 'agentId' });
}
