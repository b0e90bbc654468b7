import type { AgentContent } from '../../../entities/agents/version.ts';
import type { Caller } from '../../../entities/people/caller.ts';

/** A draft that somebody wants to publish. */
export interface PublishRequest {
  readonly agentId: string;
  readonly orgId: string;
  readonly draft: AgentContent;
  /** Of a canary that everybody is to get; absent: the draft. */
  readonly version?: number;
  /** Why it is to be published whatever the gate says. */
  readonly overrideReason: string | undefined;
}

/** Decides over drafts. What it asks stands in a district that uses agents, so it is handed in. */
export interface PublishGate {
  pass(caller: Caller, request: PublishRequest): Promise<string | undefined>;
}
