import type { AgentContent } from '../../../entities/agents/version.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';

/** A draft that somebody wants to publish. */
export interface PublishRequest {
  readonly agentId: string;
  readonly orgId: string;
  readonly draft: AgentContent;
  /** Why it is to be published whatever the gate says. */
  readonly overrideReason: string | undefined;
}

/**
 * Asks whether a draft may be published, before anything is written: a gate may take long. `publishAgent` refuses a draft that has changed since.
 *
 * @returns the reason for which the gate was overridden; undefined when it had nothing to override.
 * @throws DomainError that names what failed.
 */
export async function passGate(_deps: Deps, _caller: Caller, { overrideReason }: PublishRequest): Promise<string | undefined> {
  return overrideReason;
}
