import type { MemoryGrant } from '../../../entities/agents/grant.ts';
import type { DataSourceFilter } from '../../../entities/people/access.ts';
import type { RunPlan } from '../../plan/plan.ts';

/**
 * What the standing tools of an agent may open in one run. An agent works with the things of its owner. Of the things of the person who asks, it
 * opens only what that person granted to it, and to every agent above it in the run.
 */
export interface AgentRights {
  /** Whose MCP connections the agent names; undefined when the owner has left the organization. */
  readonly owner: { readonly orgId: string; readonly userId: string } | undefined;
  /** The organization of the agent. */
  readonly orgId: string;
  /** The sources that the owner may read, as a plain member. */
  readonly readableSources: DataSourceFilter;
  /** What it may do with the memories of the person who asks. */
  readonly memories: MemoryGrant;
  /** The connections of the person who asks that it may use. */
  readonly connectionIds: readonly string[];
}

/** The person who is charged for a run asks; `askedBy` are the agents above. */
export type AskingRun = Pick<RunPlan, 'charge' | 'askedBy'>;

/** Decides it anew for every run that opens the tools of an agent, so that the end of a grant counts at once. */
export type RightsOfAgent = (run: AskingRun, agentId: string) => Promise<AgentRights>;
