import { setTimeout as wait } from 'node:timers/promises';
import type { Experiment } from '../../../entities/conversations/evaluation/experiment.ts';
import type { AgentGate } from '../../../entities/conversations/evaluation/gate.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { getAgent } from '../../agents/agents.ts';
import type { PublishRequest } from '../../agents/versions/publish-gate.ts';
import type { Deps } from '../../deps.ts';
import { canManageAgent } from '../../ground/access/access.ts';
import { findGateExperiment, listReasons, startGateExperiment } from './gates.ts';

/** A request waits so long for a gate that is being asked; one that takes longer is asked further, and publishing tried again. */
const waitMs = 20_000;
const lookMs = 100;

/**
 * The gate of agents: publishing asks the published version and what is to be published the cases of a dataset, unless that was asked already, and is
 * refused by what breaks a rule. Owner and administrators override a refusal with a reason.
 */
export async function passEvaluationGate(deps: Deps, caller: Caller, request: PublishRequest): Promise<string | undefined> {
  const gate = await deps.storage.conversations.gates.find(request.agentId);
  if (gate === undefined) return undefined;
  const refusal = await findRefusal(deps, caller, gate, request);
  if (refusal === undefined) return undefined;
  const { overrideReason } = request;
  if (overrideReason === undefined) throw refusal;
  const agent = await getAgent(deps, caller, request.agentId);
  if (canManageAgent(caller, agent)) return overrideReason;
  throw new DomainError('FORBIDDEN', 'Only the owner of an agent and administrators may override its gate', {
    param: 'overrideReason',
  });
}

/** @returns undefined when the gate lets it pass. */
async function findRefusal(
  deps: Deps,
  caller: Caller,
  gate: AgentGate,
  { version, overrideReason }: PublishRequest,
): Promise<DomainError | undefined> {
  const asked = version === undefined ? 'draft' : String(version);
  const found = await findGateExperiment(deps, caller, gate, asked);
  // Whoever overrides the gate does not wait for it.
  if (found?.summary == null && overrideReason !== undefined) return toRefusal(['it was not asked'], found?.id);
  const agent = await getAgent(deps, caller, gate.agentId);
  const begun = found ?? (await startGateExperiment(deps, caller, agent, { gate, version: asked }));
  const experiment = await whenEnded(deps, begun);
  if (experiment.summary === null) {
    const message = `The gate is being asked: ${experiment.doneCount + experiment.failedCount} of ${experiment.plannedCount} answers are there. Publish again when the experiment ${experiment.id} has ended`;
    return new DomainError('CONFLICT', message, { param: 'gate' });
  }
  const reasons = await listReasons(deps, gate, experiment);
  return reasons.length === 0 ? undefined : toRefusal(reasons, experiment.id);
}

function toRefusal(reasons: readonly string[], experimentId: string | undefined): DomainError {
  const source = experimentId === undefined ? '' : `. The answers are in the experiment ${experimentId}`;
  return new DomainError('CONFLICT', `The gate of the agent refuses: ${reasons.join('; ')}${source}`, { param: 'gate' });
}

async function whenEnded(deps: Deps, begun: Experiment): Promise<Experiment> {
  const untilMs = performance.now() + waitMs;
  let experiment = begun;
  while (experiment.summary === null && performance.now() < untilMs) {
    await wait(lookMs);
    experiment = (await deps.storage.conversations.experiments.find(begun.id)) ?? experiment;
  }
  return experiment;
}
