import {
  approveAgent,
  createAgent,
  deleteAgent,
  findModelId,
  getAgent,
  getAgents,
  isShared,
  listAgents,
  readInstructions,
  updateAgent,
  visibleEditors,
} from '../../domain/agents/agents.ts';
import { ownRatings } from '../../domain/agents/ratings.ts';
import { approvalWarnings } from '../../domain/agents/warnings.ts';
import { canEditAgent, canManageAgent, mayChange } from '../../domain/ground/access/access.ts';
import { listGroupsOfAgents } from '../../domain/people/groups.ts';
import { type AgentCatalog, type AgentEditor, type AgentView, agentCatalogs } from '../../entities/agents/agent.ts';
import type { EnabledTool } from '../../entities/conversations/runs/tool.ts';
import { builder } from '../ground/builder/builder.ts';
import type { GraphContext } from '../ground/builder/context.ts';
import { membersRead, reading } from '../ground/builder/members.ts';
import { registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { AgentRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';
import { WarningType } from '../ground/types/warnings.ts';
import { GroupType } from '../people/groups.ts';
import { AgentCatalogType, AgentListScopeType, AgentVisibilityType, PublicCategoryType } from './enums.ts';
import { ApproveAgentInput, CreateAgentInput, UpdateAgentInput } from './inputs.ts';
import { AgentOptionsType, AgentProfileType, toText } from './parts.ts';
import { EnabledToolType } from './tools/enabled-tools.ts';
import { AgentPublishingType, expectedDraftArg } from './versions/args.ts';

const AgentEditorType = builder.objectRef<AgentEditor>('AgentEditor').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A user who may edit an agent besides its owner.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the user.' }),
    name: t.exposeString('name', { description: 'The name of the user.' }),
    email: t.string({
      nullable: true,
      description: 'In lower case. Null for callers who may not edit the agent.',
      resolve: ({ email }) => toText(email),
    }),
  }),
});

const reads = reading<AgentView>;
/** The members that decide who may edit and manage an agent. */
const editable = ['orgId', 'userId', 'editors'] as const;

export const AgentType = AgentRef.implement({
  access: { scope: 'AGENTS:READ' },
  description: 'An agent: its instructions, its model, and who may use it. REST calls it an AI.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    name: t.exposeString('name', { description: 'Shown to users; never blank.' }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    instructions: t.string({
      extensions: reads('instructions', ...editable),
      nullable: true,
      description: 'What the model is told first. Null for callers who may use the agent but not edit it.',
      resolve: (agent, _args, { deps, caller }) => readInstructions(deps, caller, agent),
    }),
    introduction: t.exposeString('introduction', { nullable: true, description: 'How it greets at the start of a chat.' }),
    seed: t.string({
      extensions: reads('seed'),
      nullable: true,
      description: 'Text that new chats begin from; null when there is none.',
      resolve: ({ seed }) => toText(seed),
    }),
    pictureUrl: t.string({
      extensions: reads('src'),
      nullable: true,
      description: 'Its picture: an address, or a data URL. Null when it has none.',
      resolve: ({ src }) => toText(src),
    }),
    orgId: t.exposeID('orgId', { description: 'The organization it belongs to.' }),
    orgName: t.exposeString('orgName', { description: 'The name of that organization.' }),
    userId: t.exposeID('userId', { description: 'Its owner.' }),
    userName: t.exposeString('userName', { description: 'The name of its owner.' }),
    categoryId: t.string({
      extensions: reads('categoryId', 'orgCategoryIds'),
      nullable: true,
      description: "Its first category of the organization's own; null when there is none.",
      resolve: findCategory,
    }),
    profile: t.field({
      extensions: reads('profile'),
      type: AgentProfileType,
      description: 'How it is presented; without texts until a profile is made.',
      resolve: ({ profile }) => profile ?? {},
    }),
    visibility: t.expose('visibility', { type: AgentVisibilityType, description: 'Who may use it.' }),
    catalogs: t.field({
      extensions: reads('listInOrgCatalog', 'listInTenantCatalog', 'listInPublicCatalog'),
      type: [AgentCatalogType],
      description: 'The catalogs that list it.',
      resolve: listCatalogs,
    }),
    chatLogsVisible: t.exposeBoolean('chatLogsVisible', {
      description: 'Whether its editors may read the chats of its organization that begin while this is on.',
    }),
  }),
});

/** How it answers. */
builder.objectFields(AgentRef, (t) => ({
  generateCitations: t.exposeBoolean('generateCitations', { description: 'Whether answers cite passages.' }),
  intermediateStepsVisible: t.exposeBoolean('intermediateStepsVisible', {
    description: 'Whether users see the steps between question and answer: searches, steps of flows, and what tools return.',
  }),
  enabledTools: t.field({
    extensions: reads('enabledTools', ...editable),
    type: [EnabledToolType],
    description: 'The tools of the service that all its runs may use; only their types for callers who may not edit it.',
    resolve: shownTools,
  }),
  modelId: t.string({
    extensions: reads('modelId'),
    description: 'The model that answers; the default model while none is chosen.',
    resolve: (agent, _args, { deps }) => findModelId(deps, agent),
  }),
  options: t.field({
    extensions: reads('options'),
    type: AgentOptionsType,
    description: 'How the model samples.',
    resolve: ({ options }) => options,
  }),
}));

/** With whom it is shared, and where it is listed. */
builder.objectFields(AgentRef, (t) => ({
  groupIds: t.field({
    extensions: reads('visibleGroupIds'),
    type: ['ID'],
    description: 'Groups it is shared with where the visibility is GROUP, as far as the caller sees them.',
    resolve: ({ visibleGroupIds }) => visibleGroupIds,
  }),
  groups: t.loadableList({
    extensions: reads('id'),
    type: GroupType,
    description: 'Those groups, as far as the caller sees them.',
    load: (agentIds: string[], { deps, caller }) => listGroupsOfAgents(deps, caller, agentIds),
    resolve: ({ id }) => id,
  }),
  editors: t.field({
    extensions: reads(...editable),
    type: [AgentEditorType],
    description: 'Users who may edit it besides the owner. Empty for callers of other organizations who may not edit it.',
    resolve: (agent, _args, { caller }) => visibleEditors(caller, agent),
  }),
  publicCategories: t.field({
    extensions: reads('publicCategories'),
    type: [PublicCategoryType],
    description: 'Where the public catalog lists it.',
    resolve: ({ publicCategories }) => publicCategories,
  }),
  orgCategoryIds: t.exposeStringList('orgCategoryIds', { description: "Where the organization's catalog lists it." }),
}));

/** What people say of it, and what the caller may do with it. */
builder.objectFields(AgentRef, (t) => ({
  messageCount: t.exposeInt('messageCount', { description: 'Messages in all its chats, of users and of the agent.' }),
  ratingCount: t.exposeInt('ratingCount', { description: 'How many ratings it has.' }),
  rating: t.float({
    extensions: reads('ratingCount', 'ratingSum'),
    description: 'The mean of its ratings; 0 while there is none.',
    resolve: ({ ratingCount, ratingSum }) => (ratingCount === 0 ? 0 : ratingSum / ratingCount),
  }),
  ownRating: t.loadable({
    extensions: reads('id'),
    type: 'Int',
    nullable: true,
    description: "The caller's own rating of it, 1 to 5; null while there is none.",
    load: (ids: string[], { deps, caller }) => ownRatings(deps, caller, ids),
    resolve: ({ id }) => id,
  }),
  isShared: t.boolean({
    extensions: reads('isOpenToOthers', 'editors'),
    description: 'Whether anybody besides its owner may use it.',
    resolve: isShared,
  }),
  hasOwnChats: t.boolean({
    extensions: reads('hasUserChats'),
    description: 'Whether the caller has chats with it.',
    resolve: ({ hasUserChats }) => hasUserChats,
  }),
  isApprovedByOrg: t.exposeBoolean('isApprovedByOrg', { description: 'Whether an administrator approved it.' }),
  warnings: t.field({
    type: [WarningType],
    nullable: true,
    description: 'After a change, that the approval ended with it; null when there is nothing to say.',
    resolve: (agent) => (agent.endedApproval === true ? [...approvalWarnings(agent)] : null),
  }),
  isPremiumModel: t.boolean({
    extensions: reads('modelId'),
    description: 'Whether its model is marked as premium.',
    resolve: (agent, _args, { deps }) => {
      // A value instead of a promise for each agent of a list, once the models are known.
      const modelInfo = deps.models.find(findModelId(deps, agent));
      return modelInfo instanceof Promise
        ? modelInfo.then((model) => model?.isPremium ?? false)
        : (modelInfo?.isPremium ?? false);
    },
  }),
  isDeleted: t.exposeBoolean('isDeleted', { description: 'True only in the reply of its deletion.' }),
  canEdit: t.boolean({
    extensions: reads(...editable),
    description: 'Whether the caller may edit it.',
    resolve: (agent, _args, { caller }) => mayChange(caller) && canEditAgent(caller, agent),
  }),
  canManage: t.boolean({
    extensions: reads(...editable),
    description: 'Whether the caller may delete it and change its visibility, groups and editors.',
    resolve: (agent, _args, { caller }) => mayChange(caller) && canManageAgent(caller, agent),
  }),
}));

function findCategory({ categoryId, orgCategoryIds }: AgentView): string | null {
  return toText(categoryId) ?? orgCategoryIds[0] ?? null;
}

function listCatalogs({ listInOrgCatalog, listInTenantCatalog, listInPublicCatalog }: AgentView): AgentCatalog[] {
  const isListed = { ORGANIZATION: listInOrgCatalog, TENANT: listInTenantCatalog, PUBLIC: listInPublicCatalog };
  return agentCatalogs.filter((catalog) => isListed[catalog]);
}

function shownTools(agent: AgentView, _args: unknown, { caller }: GraphContext): EnabledTool[] {
  if (canEditAgent(caller, agent)) return [...agent.enabledTools];
  return agent.enabledTools.map(({ type }) => ({ type, options: {} }));
}

registerNode('agent', {
  typeName: 'Agent',
  operation: 'Query.agent',
  loadMany: (ids, { deps, caller }) => getAgents(deps, caller, ids),
});

export const AgentConnection = makeConnection(AgentType, 'Agent', 'Agents');

const AgentFilterInput = builder.inputType('AgentFilter', {
  description: 'Agents that fit all members.',
  fields: (t) => ({
    scope: t.field({ type: AgentListScopeType, required: false, description: 'Which agents. Default ALL.' }),
    catalog: t.boolean({
      required: false,
      description:
        'With the scope ORGANIZATION: what the catalog of the organization lists, whatever its visibility is, as far as the caller may use it. TENANT and PUBLIC are catalogs anyway.',
    }),
    groupId: t.id({ required: false, description: 'Those shared with this group.' }),
    categoryId: t.string({
      required: false,
      description: "Those of this category: one of the organization's own, or the name of a public one.",
    }),
    isApprovedByOrg: t.boolean({ required: false, description: 'Those approved, or not approved, by the organization.' }),
    search: t.string({
      required: false,
      description: 'Those whose name or description holds this text; at most 200 characters.',
    }),
  }),
});

const AgentOrderType = createEnum('AgentOrder', 'The order of agents.', ['newest_first', 'oldest_first'], {
  newest_first: 'The agent that was made last first.',
  oldest_first: 'The agent that was made first first.',
});

builder.queryFields((t) => ({
  agent: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: AgentType,
    nullable: true,
    description: 'One agent. Null when there is none or the caller may not see it.',
    args: { id: t.arg.id({ description: 'The id of the agent.' }) },
    resolve: (_root, { id }, { deps, caller }, info) => getAgent(deps, caller, id, membersRead(info, 'Agent')),
  }),
  agents: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: AgentConnection,
    description: 'Agents that the caller may see.',
    args: {
      filter: t.arg({ type: AgentFilterInput, required: false, description: 'Which agents; default: all.' }),
      orderBy: t.arg({ type: AgentOrderType, required: false, description: 'Default NEWEST_FIRST.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { filter, orderBy, ...page }, context, info) => {
      const { isApprovedByOrg, ...narrowing } = filter ?? {};
      const query = { ...narrowing, approvedByOrg: isApprovedByOrg, isOldestFirst: orderBy === 'oldest_first' };
      return listAgents(context.deps, context.caller, query, pageRequest(context, page), membersRead(info, 'Agent'));
    },
  }),
}));

builder.mutationFields((t) => ({
  createAgent: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentType,
    description: "Makes an agent of the caller's organization; the caller owns it. People get it at once, as version 1.",
    args: {
      input: t.arg({ type: CreateAgentInput, description: 'The members of the new agent.' }),
      publishing: t.arg({
        type: AgentPublishingType,
        required: false,
        description: 'When later changes of it take effect. Default AT_ONCE.',
      }),
    },
    resolve: (_root, { input, publishing }, { deps, caller }) => createAgent(deps, caller, input, publishing ?? undefined),
  }),
  updateAgent: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentType,
    description: 'Changes what is given. Visibility, groups and editors are for its owner and administrators.',
    args: {
      id: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: UpdateAgentInput, description: 'What changes: absent members are kept, null clears.' }),
      expectedDraft: expectedDraftArg(t.arg),
    },
    resolve: (_root, { id, input, expectedDraft }, { deps, caller }) => updateAgent(deps, caller, id, input, expectedDraft),
  }),
  deleteAgent: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentType,
    description: 'Deletes an agent, for its owner and administrators. Answers what it was.',
    args: { id: t.arg.id({ description: 'The id of the agent.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteAgent(deps, caller, id),
  }),
  approveAgent: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentType,
    description:
      'Marks an agent as approved by its organization, for administrators. The approval ends when anybody else changes its texts, model or options.',
    args: {
      id: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: ApproveAgentInput, required: false, description: 'Whether it is approved. Default: it is.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => approveAgent(deps, caller, id, input?.isApproved ?? true),
  }),
}));
