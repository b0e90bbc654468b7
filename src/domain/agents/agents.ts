import type { Agent, AgentEditor, AgentListScope, AgentView, RunnableAgent } from '../../entities/agents/agent.ts';
import type { AgentPublishing } from '../../entities/agents/version.ts';
import { DomainError, tooLong } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import type { Members } from '../../entities/ground/members.ts';
import { type Page, type PageRequest, timeKey, toPage } from '../../entities/ground/page.ts';
import type { AgentFilter } from '../../entities/people/access.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { AgentChanges } from '../../storage/agents/agents.ts';
import type { Deps } from '../deps.ts';
import {
  canEditAgent,
  canManageAgent,
  canSeeAgent,
  isAdministrator,
  listedAgents,
  organizationCatalog,
  toViewer,
  usableAgents,
  visibleGroups,
} from '../ground/access/access.ts';
import { type AgentInput, readAgentInput } from './input.ts';
import { type CanaryKey, takesCanary } from './versions/canary-choice.ts';
import { changeAgents, type ExpectedDraft } from './versions/change.ts';
import { narrowVersion } from './versions/named-version.ts';
import { withPublished } from './versions/published-view.ts';

export interface CreateAgentInput extends AgentInput {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
}

export interface AgentListQuery {
  /** Default: ALL. */
  readonly scope?: AgentListScope | null | undefined;
  /** With ORGANIZATION, TENANT or PUBLIC: only what that catalog lists. */
  readonly catalog?: boolean | null | undefined;
  readonly groupId?: string | null | undefined;
  /** The id of an organization's category, or the name of a public category. */
  readonly categoryId?: string | null | undefined;
  readonly approvedByOrg?: boolean | null | undefined;
  /** Searched in name and description, ignoring case; blank matches all. */
  readonly search?: string | null | undefined;
  /** Default: newest first. */
  readonly isOldestFirst?: boolean;
  /** Only agents of the caller's organization. */
  readonly isOwnOrganization?: boolean;
}

const searchLengthMax = 200;

/** @throws DomainError NOT_FOUND, also for an agent that the caller may not see. Cost: one statement. */
export async function getAgent(deps: Deps, caller: Caller, id: string, members?: Members<AgentView>): Promise<AgentView> {
  const agent = await findAgent(deps, caller, id, members);
  if (agent === undefined) throw missingAgent();
  return agent;
}

/** Undefined also for an agent that the caller may not see. Cost: one statement. */
export async function findAgent(
  deps: Deps,
  caller: Caller,
  id: string,
  members?: Members<AgentView>,
): Promise<AgentView | undefined> {
  if (!isId('agent', id)) return undefined;
  const storedAgent = await deps.storage.agents.find(id, usableAgents(caller), toViewer(caller), members);
  if (storedAgent === undefined) return undefined;
  deps.audit.read(caller, 'agent', [storedAgent]);
  return (await withPublished(deps, caller, [storedAgent]))[0];
}

/** The agents among `ids` that the caller may see, in any order. Cost: two statements. */
export async function getAgents(
  deps: Deps,
  caller: Caller,
  ids: readonly string[],
  members?: Members<AgentView>,
): Promise<readonly AgentView[]> {
  const agents = await deps.storage.agents.findMany(ids, usableAgents(caller), toViewer(caller), members);
  deps.audit.read(caller, 'agent', agents);
  return withPublished(deps, caller, agents);
}

/** The instructions of an agent that the caller sees; null for callers who may not edit it. */
export function readInstructions(deps: Deps, caller: Caller, agent: AgentView): string | null {
  if (!canEditAgent(caller, agent)) return null;
  deps.audit.read(caller, 'instructions', [agent]);
  return agent.instructions;
}

/** Which version of an agent a run gets. Default: the published one. */
export interface VersionChoice {
  /** The number of a version, or 0 for the draft. Only who may edit the agent may name one. */
  readonly version?: number | null | undefined;
  /** Whose run it is: of a chat its id and its beginning, else the id of the caller. A canary takes some of them. */
  readonly canary?: CanaryKey | undefined;
}

/**
 * The agent as a run needs it, for the hot path: a cached agent needs no statement and no promise.
 *
 * @throws DomainError NOT_FOUND, thrown or rejected, also for an agent that the caller may not see, and naming `version` for one that it has not;
 *   FORBIDDEN for a version that is named by somebody who may not edit the agent.
 */
export function agentForRun(
  deps: Pick<Deps, 'storage' | 'now'>,
  caller: Caller,
  id: string,
  choice: VersionChoice = {},
): RunnableAgent | Promise<RunnableAgent> {
  if (!isId('agent', id)) throw missingAgent();
  const runnableAgent = deps.storage.agents.findRunnable(id, deps.now().getTime());
  return runnableAgent instanceof Promise
    ? runnableAgent.then((agent) => choose(deps, caller, admitted(caller, agent), choice))
    : choose(deps, caller, admitted(caller, runnableAgent), choice);
}

function admitted(caller: Caller, agent: RunnableAgent | undefined): RunnableAgent {
  if (agent === undefined || !canSeeAgent(caller, agent)) throw missingAgent();
  return agent;
}

function choose(
  { storage, now }: Pick<Deps, 'storage' | 'now'>,
  caller: Caller,
  agent: RunnableAgent,
  { version, canary }: VersionChoice,
): RunnableAgent | Promise<RunnableAgent> {
  const isNamed = version !== undefined && version !== null;
  if (isNamed && !canEditAgent(caller, agent)) {
    throw new DomainError('FORBIDDEN', 'Only who may edit an agent may ask its draft or a version of it', { param: 'version' });
  }
  const chosen = isNamed ? version : takesCanary(agent, canary) ? agent.canary?.version : undefined;
  if (chosen === undefined) return agent;
  const versionAgent = storage.agents.findRunnable(agent.id, now().getTime(), chosen);
  const narrow = (one: RunnableAgent | undefined) =>
    isNamed ? narrowVersion({ storage }, caller, agent, requireVersion(one)) : requireVersion(one);
  return versionAgent instanceof Promise ? versionAgent.then(narrow) : narrow(versionAgent);
}

function requireVersion(agent: RunnableAgent | undefined): RunnableAgent {
  if (agent !== undefined) return agent;
  throw new DomainError('NOT_FOUND', 'There is no such version of the agent', { param: 'version' });
}

/**
 * Agents of a list scope, newest first. Cost: one statement, independent of the depth of the page.
 *
 * @param members  the members that are needed; absent: all.
 * @throws DomainError INVALID_VALUE for a search of more than 200 characters, and for a catalog of a scope that has none.
 */
export async function listAgents(
  deps: Deps,
  caller: Caller,
  query: AgentListQuery,
  page: PageRequest,
  members?: Members<AgentView>,
): Promise<Page<AgentView>> {
  const agentPage = await findAgents(deps, caller, query, page, members);
  deps.audit.read(caller, 'agent', agentPage.items);
  return agentPage;
}

/** The same for code that looks agents up and shows only some of them: it notes those itself. */
export async function findAgents(
  deps: Deps,
  caller: Caller,
  query: AgentListQuery,
  page: PageRequest,
  members?: Members<AgentView>,
): Promise<Page<AgentView>> {
  const { groupId } = query;
  if (typeof groupId === 'string' && !(await seesGroup(deps, caller, groupId))) {
    return toPage<AgentView>([], page, timeKey, async () => 0);
  }
  const baseFilter = listFilter(caller, query);
  const atHome: AgentFilter = { agent: 'in-organization', orgId: caller.orgId };
  const filter = query.isOwnOrganization === true ? { all: [baseFilter, atHome] } : baseFilter;
  const order = { ...page, isOldestFirst: query.isOldestFirst === true };
  const agentPage = await deps.storage.agents.list(filter, narrowing(query), toViewer(caller), order, members);
  return { ...agentPage, items: await withPublished(deps, caller, agentPage.items) };
}

function listFilter(caller: Caller, { scope, catalog }: AgentListQuery): AgentFilter {
  if (catalog !== true) return listedAgents(caller, scope ?? 'ALL');
  if (scope === 'ORGANIZATION') return organizationCatalog(caller);
  // The lists of these scopes are catalogs.
  if (scope === 'TENANT' || scope === 'PUBLIC') return listedAgents(caller, scope);
  throw new DomainError('INVALID_VALUE', 'catalog needs the scope ORGANIZATION, TENANT or PUBLIC', { param: 'catalog' });
}

/** A group that the caller may not read matches no agent, like a group that does not exist. */
async function seesGroup(deps: Deps, caller: Caller, groupId: string): Promise<boolean> {
  return (
    caller.scopes.has('GROUPS:READ') && (await deps.storage.people.groups.find(groupId, visibleGroups(caller))) !== undefined
  );
}

function narrowing({ groupId, categoryId, approvedByOrg, search }: AgentListQuery): AgentFilter {
  const text = search?.trim() ?? '';
  if (text.length > searchLengthMax) {
    throw tooLong('search', searchLengthMax);
  }
  const filters: AgentFilter[] = [];
  if (typeof groupId === 'string') filters.push({ agent: 'has-group', groupId });
  if (typeof categoryId === 'string') filters.push({ agent: 'in-category', categoryId });
  if (typeof approvedByOrg === 'boolean') filters.push({ agent: 'approved', isApproved: approvedByOrg });
  if (text !== '') filters.push({ agent: 'mentions', text });
  return { all: filters };
}

/**
 * Makes an agent of the caller's organization; the caller owns it. Null means absent: the default applies.
 *
 * @throws DomainError with every fault of the input.
 */
export async function createAgent(
  deps: Deps,
  caller: Caller,
  input: CreateAgentInput,
  publishing: AgentPublishing = 'AT_ONCE',
): Promise<AgentView> {
  const place = { orgId: caller.orgId, userId: caller.userId };
  const agentInput = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) as AgentInput;
  const { name, description, instructions } = input;
  const src = input.src ?? '';
  const changes = { src, name, description, instructions, ...(await readAgentInput(deps, caller, place, agentInput)) };
  const agent = { ...changes, ...place, publishing, id: deps.newId('agent'), createdAt: deps.now() };
  return deps.audit.change(caller, () => deps.storage.agents.create(agent, toViewer(caller)));
}

/**
 * Changes the given members. Editors may change all except visibility, groups and editors; the same value is not a change. An
 * organization's approval ends when anything changes that reaches the model, whoever changes it.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN, or with every fault of the input.
 */
export async function updateAgent(
  deps: Deps,
  caller: Caller,
  id: string,
  input: AgentInput,
  expectedDraft?: ExpectedDraft,
): Promise<AgentView> {
  const agent = await getAgent(deps, caller, id);
  if (!canEditAgent(caller, agent))
    throw new DomainError('FORBIDDEN', 'Only the owner, editors and administrators may change an agent');
  const changes = keepingUnseenGroups(caller, agent, input, await readAgentInput(deps, caller, agent, input));
  const [managedMember] = managedChanges(agent, changes);
  if (managedMember !== undefined && !canManageAgent(caller, agent)) {
    throw new DomainError('FORBIDDEN', `Only the owner of an agent and administrators may change its ${managedMember}`, {
      param: managedMember,
    });
  }
  const write = () => deps.storage.agents.update(id, changes, toViewer(caller));
  const changed = await changeAgents(deps, caller, [id], write, expectedDraft);
  // What the change left of its draft is known once it is closed.
  const updatedAgent = { ...changed, ...(await deps.storage.agents.versions.findVersioning(id)) };
  return agent.isApprovedByOrg && !updatedAgent.isApprovedByOrg ? { ...updatedAgent, endedApproval: true } : updatedAgent;
}

/**
 * Keeps groups that the caller may not see: a caller that sends back what it read changes nothing. Only `groups: null`, or an empty
 * list from a caller who sees some of the groups, removes all.
 */
function keepingUnseenGroups(caller: Caller, agent: AgentView, { groups }: AgentInput, changes: AgentChanges): AgentChanges {
  const { groupIds, ...others } = changes;
  if (groupIds === undefined || groups === null) return changes;
  const visibleIds = caller.scopes.has('GROUPS:READ') ? agent.visibleGroupIds : [];
  if (isSameSet(groupIds, visibleIds)) return others;
  if (groupIds.length === 0) return changes;
  const unseen = agent.groupIds.filter((id) => !visibleIds.includes(id));
  return { ...others, groupIds: [...new Set([...groupIds, ...unseen])] };
}

/**
 * Deletes an agent: it disappears from every list and for every caller, and schedules with it are paused.
 *
 * @returns the former agent, with `isDeleted` true.
 * @throws DomainError NOT_FOUND; FORBIDDEN for everyone except owner and administrators.
 */
export async function deleteAgent(deps: Deps, caller: Caller, id: string): Promise<AgentView> {
  const agent = await getAgent(deps, caller, id);
  if (!canManageAgent(caller, agent))
    throw new DomainError('FORBIDDEN', 'Only the owner of an agent and administrators may delete it');
  return deps.audit.change(caller, async () => {
    if (!(await deps.storage.agents.markDeleted(id))) throw missingAgent();
    await deps.storage.conversations.schedules.pauseThose({ agentId: id });
    return { ...agent, isDeleted: true };
  });
}

/**
 * Marks an agent as approved by its organization, or removes the mark. An approval holds for what was approved: it ends when anything changes that
 * reaches the model.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for everyone except administrators; CONFLICT for an agent whose draft differs from what people ask.
 */
export async function approveAgent(deps: Deps, caller: Caller, id: string, isApproved: boolean): Promise<AgentView> {
  const agent = await getAgent(deps, caller, id);
  if (!isAdministrator(caller, agent.orgId)) throw new DomainError('FORBIDDEN', 'Only administrators may approve agents');
  if (isApproved && agent.isDraftChanged) {
    throw new DomainError('CONFLICT', 'The draft of this agent differs from what people ask: publish or discard it first');
  }
  return deps.audit.change(caller, () => deps.storage.agents.update(id, { isApprovedByOrg: isApproved }, toViewer(caller)));
}

/** The editors as the caller sees them: with e-mails for callers who may edit the agent, none for callers of other organizations. */
export function visibleEditors(caller: Caller, agent: AgentView): readonly AgentEditor[] {
  if (canEditAgent(caller, agent)) return agent.editors;
  return agent.orgId === caller.orgId ? agent.editors.map((editor) => ({ ...editor, email: '' })) : [];
}

/** The agent's model, or the current default for an agent without one. */
export function findModelId(deps: Pick<Deps, 'models'>, agent: Pick<Agent, 'modelId'>): string {
  return agent.modelId ?? deps.models.defaultModelId();
}

/** Whether anybody besides the owner and administrators may use the agent. */
export function isShared(agent: AgentView): boolean {
  return agent.isOpenToOthers || agent.editorIds.size > 0;
}

/** The changed members among those that only owner and administrators may change. */
function managedChanges(agent: AgentView, changes: AgentChanges): readonly string[] {
  return [
    ...(changes.visibility === undefined || changes.visibility === agent.visibility ? [] : ['visibility']),
    ...(changes.editorIds === undefined || isSameSet(changes.editorIds, [...agent.editorIds]) ? [] : ['editors']),
    ...(changes.groupIds === undefined || isSameSet(changes.groupIds, agent.groupIds) ? [] : ['groups']),
  ];
}

function isSameSet(left: readonly string[], right: readonly string[]): boolean {
  return new Set(left).symmetricDifference(new Set(right)).size === 0;
}

function missingAgent(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such agent', { param: 'aiId' });
}
