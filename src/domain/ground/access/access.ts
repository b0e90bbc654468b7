import type { AgentFacts, AgentListScope, AgentWithEditors } from '../../../entities/agents/agent.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { everything, matches, nothing } from '../../../entities/ground/filter.ts';
import type {
  AccountSight,
  AdminReach,
  AgentFilter,
  AgentLeaf,
  AgentViewer,
  ChatFilter,
  DataSourceFilter,
  FeedbackFilter,
  GroupFilter,
  ProjectFilter,
  RunFilter,
} from '../../../entities/people/access.ts';
import { type AccessLevel, accessLevels, type Caller } from '../../../entities/people/caller.ts';

/**
 * Who may do what with which thing. Rules are plain data (`Filter`): storage puts them into the where clause of the query that loads
 * the thing, and the functions `can…` apply the same rules in memory. A thing that the caller may not see is NOT_FOUND (404); a thing
 * that the caller sees but may not change is FORBIDDEN (403).
 */

/**
 * Whether the caller administers an organization: its ADMINs; TENANT keys that act in it; INSTANCE keys everywhere. TENANT keys reach
 * keys and administration of the other organizations of their tenant, never their content.
 *
 * AUDITORs count as administrators here, because they read the same. What would change something is refused for them before it begins, by
 * `requireChange` of policy.ts; what says whether the caller may change a thing asks `mayChange` too.
 */
export function isAdministrator(caller: Caller, orgId: string): boolean {
  if (caller.level === 'INSTANCE') return true;
  return caller.orgId === orgId && (caller.role !== 'MEMBER' || caller.level === 'TENANT');
}

/** Whether the caller may change anything at all: an AUDITOR only reads. */
export function mayChange({ role }: Caller): boolean {
  return role !== 'AUDITOR';
}

/** Whether the caller is an identity provider. Its key keeps people and groups by SCIM, and reads nothing of the APIs, not even what any key may. */
export function isDirectory({ scopes }: Caller): boolean {
  return scopes.has('SCIM:WRITE');
}

/** Whether the caller administers (keys, users) an organization of a tenant: as `isAdministrator`, and TENANT keys in their tenant. */
export function canAdminister(caller: Caller, organization: { readonly id: string; readonly tenantId: string }): boolean {
  if (isAdministrator(caller, organization.id)) return true;
  return caller.level === 'TENANT' && organization.tenantId === caller.tenantId;
}

/** The caller's own level and those below. A caller neither sees, gives nor revokes higher ones. */
export function levelsWithin(caller: Caller): readonly AccessLevel[] {
  return accessLevels.slice(0, accessLevels.indexOf(caller.level) + 1);
}

/** Levels above the caller's own. */
export function levelsAbove(caller: Caller): readonly AccessLevel[] {
  return accessLevels.slice(accessLevels.indexOf(caller.level) + 1);
}

/**
 * How far the caller administers. Operations on tenants and limits need more than the reach of one organization.
 *
 * @throws DomainError FORBIDDEN for a caller who administers nothing.
 */
export function adminReach(caller: Caller): AdminReach {
  const reach = adminReachIfAny(caller);
  if (reach === undefined) throw new DomainError('FORBIDDEN', 'Only administrators may do this');
  return reach;
}

/** The same; undefined for a caller who administers nothing. */
export function adminReachIfAny(caller: Caller): AdminReach | undefined {
  if (caller.level === 'INSTANCE') return { reach: 'instance' };
  if (caller.level === 'TENANT') return { reach: 'tenant', tenantId: caller.tenantId };
  return caller.role !== 'MEMBER' ? { reach: 'organization', orgId: caller.orgId } : undefined;
}

/**
 * The users and organizations that a caller may read by their ids: the organization that its key acts in and the people of it, whose names agents,
 * groups and sources show anyway; and with the scope ADMIN:READ what it administers. Lists are for administrators.
 */
export function accountSight(caller: Caller): AccountSight {
  return { orgId: caller.orgId, reach: caller.scopes.has('ADMIN:READ') ? adminReachIfAny(caller) : undefined };
}

// Agents

/**
 * Agents the caller may use when it has their id: its own, those it edits, those visible to its groups or organization, and every agent visible to
 * anyone with the link, in any organization. Administrators may use all agents of their organization.
 */
export function usableAgents(caller: Caller): AgentFilter {
  return { any: [{ agent: 'visible-as', visibility: 'ANYONE_WITH_LINK' }, usableAtHome(caller), administeredAgents(caller)] };
}

/** Agents the caller may change: owner, editors, administrators. */
export function editableAgents(caller: Caller): AgentFilter {
  return { any: [atHome(caller, { any: [owned(caller), edited(caller)] }), administeredAgents(caller)] };
}

/** Agents the caller may delete, and whose visibility, groups and editors it may change: owner and administrators. */
export function manageableAgents(caller: Caller): AgentFilter {
  return { any: [atHome(caller, owned(caller)), administeredAgents(caller)] };
}

/**
 * Agents that a list shows: those of the caller's organization, and those in the catalogs of the tenant and the public one. An agent that
 * is visible by link only is shown when the caller has a chat with it or a catalog lists it.
 */
export function listedAgents(caller: Caller, scope: AgentListScope): AgentFilter {
  switch (scope) {
    case 'PRIVATE':
      return atHome(caller, { all: [owned(caller), { agent: 'visible-as', visibility: 'PRIVATE' }] });
    case 'OWNED':
      return atHome(caller, owned(caller));
    case 'GROUP':
      return atHome(caller, throughGroups(caller));
    case 'SHARED':
      return sharedAgents(caller);
    case 'ORGANIZATION':
      return visibleToOrganization(caller);
    case 'TENANT':
      return {
        any: [tenantCatalog(caller), atHome(caller, { all: [{ agent: 'in-catalog', catalog: 'tenant' }, usableAgents(caller)] })],
      };
    case 'PUBLIC':
      return {
        any: [
          linkInCatalog('public'),
          atHome(caller, { all: [{ agent: 'in-catalog', catalog: 'public' }, usableAgents(caller)] }),
        ],
      };
    case 'ALL':
      return allListedAgents(caller);
  }
}

/** What the catalog of the caller's organization lists, whatever its visibility is, as far as the caller may use it. */
export function organizationCatalog(caller: Caller): AgentFilter {
  return atHome(caller, { all: [{ agent: 'in-catalog', catalog: 'organization' }, usableAgents(caller)] });
}

/** Shared with the caller by somebody else: as editor, through a group, or used by it in a chat. */
export function sharedAgents(caller: Caller): AgentFilter {
  return { any: [sharedAtHome(caller), usedInChats(caller)] };
}

export function canSeeAgent(caller: Caller, facts: AgentFacts): boolean {
  return holds(usableAgents(caller), facts);
}
export function canEditAgent(caller: Caller, facts: AgentWithEditors): boolean {
  return holds(editableAgents(caller), facts);
}
/**
 * Whether the caller may export an agent it sees. A key of every level reaches its organization, so this is every agent of that which its user
 * may use; agents of other organizations are exported by INSTANCE keys.
 */
export function canExportAgent(caller: Caller, facts: AgentWithEditors): boolean {
  return facts.orgId === caller.orgId || canEditAgent(caller, facts);
}
export function canManageAgent(caller: Caller, facts: AgentWithEditors): boolean {
  return holds(manageableAgents(caller), facts);
}

function usableAtHome(caller: Caller): AgentFilter {
  return atHome(caller, {
    any: [owned(caller), edited(caller), throughGroups(caller), { agent: 'visible-as', visibility: 'ORGANIZATION' }],
  });
}

function visibleToOrganization(caller: Caller): AgentFilter {
  return atHome(caller, { any: [{ agent: 'visible-as', visibility: 'ORGANIZATION' }, linkInCatalog('organization')] });
}

/** Two alternatives, so that a list can use an index for each. */
function sharedAtHome(caller: Caller): AgentFilter {
  return {
    any: [
      atHome(caller, { all: [edited(caller), notOwned(caller)] }),
      atHome(caller, { all: [throughGroups(caller), notOwned(caller)] }),
    ],
  };
}

function usedInChats(caller: Caller): AgentFilter {
  return { all: [{ agent: 'has-chat-of', userId: caller.userId }, usableAgents(caller), notOwned(caller)] };
}

function allListedAgents(caller: Caller): AgentFilter {
  const home: AgentFilter[] = [usableAtHome(caller), visibleToOrganization(caller), sharedAtHome(caller)];
  return {
    any: [
      isAdministrator(caller, caller.orgId) ? atHome(caller, everything) : { all: [inHome(caller), { any: home }] },
      usedInChats(caller),
      openCatalogs(caller),
    ],
  };
}

/** What the catalog of the tenant and the public one list for everyone: one alternative, for which there is one index. */
function openCatalogs({ tenantId }: Caller): AgentFilter {
  const ofTenant: AgentFilter = {
    all: [
      { agent: 'in-catalog', catalog: 'tenant' },
      { agent: 'in-tenant', tenantId },
    ],
  };
  return {
    all: [
      { agent: 'visible-as', visibility: 'ANYONE_WITH_LINK' },
      { any: [{ agent: 'in-catalog', catalog: 'public' }, ofTenant] },
    ],
  };
}

function tenantCatalog({ tenantId }: Caller): AgentFilter {
  return { all: [{ agent: 'in-tenant', tenantId }, linkInCatalog('tenant')] };
}

function linkInCatalog(catalog: 'organization' | 'tenant' | 'public'): AgentFilter {
  return {
    all: [
      { agent: 'visible-as', visibility: 'ANYONE_WITH_LINK' },
      { agent: 'in-catalog', catalog },
    ],
  };
}

function administeredAgents(caller: Caller): AgentFilter {
  if (caller.level === 'INSTANCE') return everything;
  return isAdministrator(caller, caller.orgId) ? atHome(caller, everything) : nothing;
}

function atHome(caller: Caller, filter: AgentFilter): AgentFilter {
  return { all: [inHome(caller), filter] };
}
function inHome(caller: Caller): AgentFilter {
  return { agent: 'in-organization', orgId: caller.orgId };
}
function owned(caller: Caller): AgentFilter {
  return { agent: 'owned-by', userId: caller.userId };
}
function notOwned(caller: Caller): AgentFilter {
  return { agent: 'not-owned-by', userId: caller.userId };
}
function edited(caller: Caller): AgentFilter {
  return { agent: 'edited-by', userId: caller.userId };
}
function throughGroups(caller: Caller): AgentFilter {
  return {
    all: [
      { agent: 'visible-as', visibility: 'GROUP' },
      { agent: 'grouped-with', userId: caller.userId },
    ],
  };
}

/** The right to edit or manage depends on the agent and its editors alone; the right to see it depends on all facts. */
type KnownFacts = AgentWithEditors & Partial<AgentFacts>;

function holds(filter: AgentFilter, facts: KnownFacts): boolean {
  return matches<AgentLeaf>(filter, (leaf) => leafHolds(leaf, facts));
}

function leafHolds(leaf: AgentLeaf, agent: KnownFacts): boolean {
  switch (leaf.agent) {
    case 'in-organization':
      return agent.orgId === leaf.orgId;
    case 'owned-by':
      return agent.userId === leaf.userId;
    case 'edited-by':
      return agent.editorIds.has(leaf.userId);
    case 'grouped-with':
      return known(agent.groupMemberIds, leaf).has(leaf.userId);
    case 'visible-as':
      return agent.visibility === leaf.visibility;
    default:
      throw new Error(`"${leaf.agent}" is asked by lists only, and decided in SQL`);
  }
}

function known<T>(fact: T | undefined, leaf: AgentLeaf): T {
  if (fact === undefined) throw new Error(`"${leaf.agent}" needs a fact that was not loaded`);
  return fact;
}

// Data sources

/** The members of a data source that decide about access. */
export interface DataSourceFacts {
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly orgVisible: boolean;
}

/** Data sources the caller may read: its own, those open to its organization, those of agents it may edit. Administrators may read all. */
export function visibleDataSources(caller: Caller): DataSourceFilter {
  if (caller.level === 'INSTANCE') return everything;
  return sourcesAtHome(caller, {
    any: [
      administersHome(caller),
      { dataSource: 'owned-by', userId: caller.userId },
      { dataSource: 'organization-visible' },
      { dataSource: 'attached-to', agent: editableAgents(caller) },
    ],
  });
}

/**
 * Data sources whose documents the caller may open besides: those that answers of an agent it may use cite. The agent's answers quote
 * these documents to the caller anyway.
 */
export function citedDataSources(caller: Caller): DataSourceFilter {
  return { all: [{ dataSource: 'cited' }, { dataSource: 'attached-to', agent: usableAgents(caller) }] };
}

/** Whether the caller may change, refresh or delete a data source it sees. */
export function canEditDataSource(caller: Caller, source: DataSourceFacts): boolean {
  return isAdministrator(caller, source.orgId) || (source.orgId === caller.orgId && source.ownerUserId === caller.userId);
}

/**
 * Whether the caller may attach a data source it sees to an agent it may edit: one it owns or administers, or one open to the
 * organization. Everyone who may use the agent is then answered from it.
 */
export function canAttachDataSource(caller: Caller, source: DataSourceFacts): boolean {
  return canEditDataSource(caller, source) || (source.orgId === caller.orgId && source.orgVisible);
}

function sourcesAtHome(caller: Caller, filter: DataSourceFilter): DataSourceFilter {
  return { all: [{ dataSource: 'in-organization', orgId: caller.orgId }, filter] };
}

function administersHome(caller: Caller): typeof everything | typeof nothing {
  return isAdministrator(caller, caller.orgId) ? everything : nothing;
}

// Groups

/** The members of a group that decide about access. */
export interface GroupFacts {
  readonly orgId: string;
  readonly ownerUserId: string;
}

/** Groups the caller may see: RESTRICTED ones are seen by their owner and members only, and by administrators. */
export function visibleGroups(caller: Caller): GroupFilter {
  if (caller.level === 'INSTANCE') return everything;
  return groupsAtHome(caller, { any: [administersHome(caller), { group: 'available-to-everyone' }, ...ownGroups(caller)] });
}

/** The viewer for whom storage computes the members of agents that depend on the reader. */
export function toViewer(caller: Caller): AgentViewer {
  return { userId: caller.userId, groups: visibleGroups(caller) };
}

/** The caller's groups: those it owns or is a member of. */
export function toGroupFilter(caller: Caller): GroupFilter {
  return groupsAtHome(caller, { any: ownGroups(caller) });
}

/** Whether the caller may change or delete a group it sees: owner and administrators. */
export function canEditGroup(caller: Caller, group: GroupFacts): boolean {
  return isAdministrator(caller, group.orgId) || (group.orgId === caller.orgId && group.ownerUserId === caller.userId);
}

function ownGroups(caller: Caller): GroupFilter[] {
  return [
    { group: 'owned-by', userId: caller.userId },
    { group: 'has-member', userId: caller.userId },
  ];
}

function groupsAtHome(caller: Caller, filter: GroupFilter): GroupFilter {
  return { all: [{ group: 'in-organization', orgId: caller.orgId }, filter] };
}

// Projects

/** Projects the caller may see: its own, and those shared with a group that it is in. Two alternatives, so that a list can use an index for each. */
export function visibleProjects(caller: Caller): ProjectFilter {
  const { orgId, userId } = caller;
  return {
    any: [
      { project: 'owned-by', userId, orgId },
      { project: 'shared-with', orgId, groups: toGroupFilter(caller) },
    ],
  };
}

/** Whether the caller may change or delete a project it sees: its owner. */
export function canEditProject(caller: Caller, project: { readonly orgId: string; readonly userId: string }): boolean {
  return project.orgId === caller.orgId && project.userId === caller.userId;
}

// Chats

/** Chats the caller may read: its own in this organization, and those that agents it may edit show: they were made to be shown, in the agent's organization. */
export function visibleChats(caller: Caller): ChatFilter {
  return { any: [ownChats(caller), { chat: 'logged-for', agent: editableAgents(caller) }] };
}

/** The caller's own chats: only these it may write in, change and delete. */
export function ownChats(caller: Pick<Caller, 'userId' | 'orgId'>): ChatFilter {
  return { chat: 'owned-by', userId: caller.userId, orgId: caller.orgId };
}

/** Whether the caller may write in a chat it sees. */
export function canWriteChat(caller: Caller, chat: { readonly userId: string; readonly orgId: string }): boolean {
  return chat.userId === caller.userId && chat.orgId === caller.orgId;
}

/** Feedback that the caller may see: its own, that about agents it may edit, and all of its organization for administrators. It never crosses organizations. */
export function visibleFeedback(caller: Caller): FeedbackFilter {
  const { userId, orgId } = caller;
  if (isAdministrator(caller, orgId)) return { feedback: 'in-organization', orgId };
  return {
    any: [
      { feedback: 'given-by', userId, orgId },
      { feedback: 'about', orgId, agent: editableAgents(caller) },
    ],
  };
}

// Runs

/**
 * Runs that the caller sees: who ran what, when, and at what cost. Administrators see all of their organization, others their own and those of agents
 * that they may edit. What was said in them follows `visibleChats`.
 */
export function visibleRuns(caller: Caller): RunFilter {
  const { orgId, userId } = caller;
  if (caller.level === 'INSTANCE') return { reach: 'instance' };
  if (isAdministrator(caller, orgId)) return { reach: 'organization', orgId };
  return { reach: 'own', orgId, userId, agents: editableAgents(caller) };
}
