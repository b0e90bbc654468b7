import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { agentForRun } from '../agents.ts';
import type { PublishRequest } from './publish-gate.ts';

/**
 * Asks whether a draft may be published, before anything is written: a gate may take long. `publishAgent` refuses a draft that has changed since.
 *
 * @returns the reason for which the gate was overridden; undefined when it had nothing to override.
 * @throws DomainError that names what failed.
 */
export async function passGate(deps: Deps, caller: Caller, request: PublishRequest): Promise<string | undefined> {
  const { hasGate } = await agentForRun(deps, caller, request.agentId);
  return hasGate ? deps.gate.pass(caller, request) : undefined;
}
