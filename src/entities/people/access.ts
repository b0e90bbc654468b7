import type { AgentVisibility } from '../agents/agent.ts';
import type { Filter } from '../ground/filter.ts';

/**
 * The conditions of rules about agents. Each is decided in two places with equal results: in SQL by storage/agents/filter.ts, and
 * from `AgentFacts` by domain/ground/access/access.ts.
 */
export type AgentLeaf =
  | { readonly agent: 'in-organization'; readonly orgId: string }
  | { readonly agent: 'in-tenant'; readonly tenantId: string }
  | { readonly agent: 'owned-by'; readonly userId: string }
  | { readonly agent: 'not-owned-by'; readonly userId: string }
  | { readonly agent: 'edited-by'; readonly userId: string }
  /** The user is a member of one of the agent's groups. */
  | { readonly agent: 'grouped-with'; readonly userId: string }
  | { readonly agent: 'has-group'; readonly groupId: string }
  | { readonly agent: 'has-chat-of'; readonly userId: string }
  | { readonly agent: 'visible-as'; readonly visibility: AgentVisibility }
  | { readonly agent: 'in-catalog'; readonly catalog: 'organization' | 'tenant' | 'public' }
  | { readonly agent: 'in-category'; readonly categoryId: string }
  | { readonly agent: 'approved'; readonly isApproved: boolean }
  /** The name contains the text, ignoring case. */
  | { readonly agent: 'named'; readonly text: string }
  /** Name or description contains the text, ignoring case. */
  | { readonly agent: 'mentions'; readonly text: string };
export type AgentFilter = Filter<AgentLeaf>;

/** What an administrator may reach: everything, one tenant, or one organization. Storage adds it to every where clause. */
export type AdminReach =
  | { readonly reach: 'instance' }
  | { readonly reach: 'tenant'; readonly tenantId: string }
  | { readonly reach: 'organization'; readonly orgId: string };

/** Whose accounts a caller may read: those of its organization, and what it administers. */
export interface AccountSight {
  readonly orgId: string;
  /** Undefined for a caller who administers nothing. */
  readonly reach: AdminReach | undefined;
}

export type DataSourceLeaf =
  | { readonly dataSource: 'in-organization'; readonly orgId: string }
  | { readonly dataSource: 'owned-by'; readonly userId: string }
  | { readonly dataSource: 'organization-visible' }
  /** Answers may cite it. */
  | { readonly dataSource: 'cited' }
  /** A matching agent has the source attached. */
  | { readonly dataSource: 'attached-to'; readonly agent: AgentFilter };
export type DataSourceFilter = Filter<DataSourceLeaf>;

export type GroupLeaf =
  | { readonly group: 'in-organization'; readonly orgId: string }
  | { readonly group: 'owned-by'; readonly userId: string }
  | { readonly group: 'has-member'; readonly userId: string }
  | { readonly group: 'available-to-everyone' };
export type GroupFilter = Filter<GroupLeaf>;

/** The user to whom agents are shown. */
export interface AgentViewer {
  readonly userId: string;
  /** Groups that the viewer may see. */
  readonly groups: GroupFilter;
}

export type ChatLeaf =
  | { readonly chat: 'owned-by'; readonly userId: string; readonly orgId: string }
  /** The chat's agent shows its logs and matches. */
  | { readonly chat: 'logged-for'; readonly agent: AgentFilter };
export type ChatFilter = Filter<ChatLeaf>;

export type ProjectLeaf =
  | { readonly project: 'owned-by'; readonly userId: string; readonly orgId: string }
  /** It is shared with a group of the organization that matches. */
  | { readonly project: 'shared-with'; readonly orgId: string; readonly groups: GroupFilter };
export type ProjectFilter = Filter<ProjectLeaf>;

export type FeedbackLeaf =
  | { readonly feedback: 'given-by'; readonly userId: string; readonly orgId: string }
  | { readonly feedback: 'in-organization'; readonly orgId: string }
  /** Its agent is of this organization, as whoever gave it, and matches. */
  | { readonly feedback: 'about'; readonly orgId: string; readonly agent: AgentFilter };
export type FeedbackFilter = Filter<FeedbackLeaf>;

/**
 * Runs that a caller sees by their ids: all of them, those of an organization, or the caller's own and those of agents in the caller's organization
 * that match. Seeing a run is not reading what was said in it.
 */
export type RunFilter =
  | { readonly reach: 'instance' }
  | { readonly reach: 'organization'; readonly orgId: string }
  | { readonly reach: 'own'; readonly orgId: string; readonly userId: string; readonly agents: AgentFilter };
