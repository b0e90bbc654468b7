import { checkAgentInput } from '../../../domain/agents/input.ts';
import { agentShapes } from '../../../wire/agents/agents.ts';
import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

/** The contract's AI: the members of every reply, by the contract's names. */
export const agentFields = `id createdAt updatedAt name description instructions introduction seed src: pictureUrl
  orgId orgName userId userName categoryId
  profile { __typename }
  visibility listInOrgCatalog: catalogs listInPublicCatalog: catalogs listInTenantCatalog: catalogs
  chatLogsVisible generateCitations intermediateStepsVisible modelId
  enabledTools { __typename }
  options { __typename }
  groups: groupIds editors { id name email } publicCategories orgCategoryIds
  messageCount ratingCount rating isShared hasUserChats: hasOwnChats isApprovedByOrg isPremiumModel isDeleted`;

/** How the members of `agentFields` are shown. */
export const agentShown = {
  blankNull: {
    seed: 'Text that new chats begin from; empty when there is none.',
    src: 'Its picture: an address, or a data URL.',
    categoryId: "Its first category of the organization's own; empty when there is none.",
    email: 'In lower case. Empty for callers who may not edit the agent.',
  },
  shapes: agentShapes,
} as const;

const example = {
  src: 'https://example.com/ada.png',
  name: 'Ada',
  description: 'Answers questions about our handbook.',
  instructions: 'Answer from the handbook only. Say so when it does not tell.',
  introduction: 'Ask me about the handbook.',
  seed: '',
  visibility: 'PRIVATE',
  listInOrgCatalog: false,
  listInPublicCatalog: false,
  listInTenantCatalog: false,
  generateCitations: true,
  chatLogsVisible: false,
  intermediateStepsVisible: false,
  options: { temperature: [0.2], maxTokens: [800] },
  groups: [],
  profile: {
    headline: 'Knows the handbook',
    features: [{ title: 'Quotes', description: 'Names the paragraph.' }],
    showTraining: true,
  },
  editors: [],
  publicCategories: ['PRODUCTIVITY'],
  orgCategoryIds: [],
};

export const agentRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'listAgents',
    method: 'get',
    path: '/api/v1/ais',
    summary: 'List AIs',
    description:
      'Newest first. What only a link opens is not listed, unless a catalog lists it or the caller has a chat with it.',
    tag: 'Agents',
    spec: 'List AIs',
    document: `query ($scope: AgentListScope, $catalog: Boolean, $groupId: ID, $categoryId: String, $approvedByOrg: Boolean, $search: String, $limit: Int = 100, $cursor: String) {
      agents(filter: { scope: $scope, catalog: $catalog, groupId: $groupId, categoryId: $categoryId, isApprovedByOrg: $approvedByOrg, search: $search }, first: $limit, after: $cursor) {
        nodes { ${agentFields} }
        ${pageInfo}
      }
    }`,
    ...agentShown,
    query: {
      scope:
        'Which agents: PRIVATE, OWNED, GROUP, SHARED, ORGANIZATION, TENANT (the catalog of the tenant), PUBLIC or ALL (the default).',
      catalog:
        'With the scope ORGANIZATION: what the catalog of the organization lists (`listInOrgCatalog`), whatever its visibility is, as far as the caller may use it.',
      groupId: 'Only those shared with this group.',
      categoryId: "Only those of this category: one of the organization's own, or the name of a public one.",
      approvedByOrg: 'Only those approved, or not approved.',
      search: 'Only those whose name or description holds this text; at most 200 characters.',
      ...pageQuery,
    },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'createAgent',
    method: 'post',
    path: '/api/v1/ais',
    summary: 'Create AI',
    description: 'The caller becomes its owner. What is left out has its default; the reply is the whole agent.',
    tag: 'Agents',
    spec: 'Create AI',
    document: `mutation ($input: CreateAgentInput!) { createAgent(input: $input) { ${agentFields} } }`,
    ...agentShown,
    body: 'input',
    checkBody: checkAgentInput,
    example,
  },
  {
    operationId: 'getAgent',
    method: 'get',
    path: '/api/v1/ais/{aiId}',
    summary: 'Get AI',
    description: '`instructions` is null for callers who may use the agent but not edit it.',
    tag: 'Agents',
    spec: 'Get AI',
    document: `query ($aiId: ID!) { agent(id: $aiId) { ${agentFields} } }`,
    ...agentShown,
  },
  {
    operationId: 'updateAgent',
    method: 'patch',
    path: '/api/v1/ais/{aiId}',
    summary: 'Update AI fields',
    description: 'Absent members are kept; null clears what can be empty; `options` and `profile` are replaced whole.',
    tag: 'Agents',
    spec: 'Update AI fields',
    document: `mutation ($aiId: ID!, $input: UpdateAgentInput!) { updateAgent(id: $aiId, input: $input) { ${agentFields} warnings { code message param } } }`,
    ...agentShown,
    schemas: { Agent: 'UpdatedAgent' },
    omitNull: ['warnings'],
    body: 'input',
    checkBody: checkAgentInput,
    example,
  },
  {
    operationId: 'deleteAgent',
    method: 'delete',
    path: '/api/v1/ais/{aiId}',
    summary: 'Delete AI',
    description: 'For its owner and administrators. Answers the agent as it was, `isDeleted` true.',
    tag: 'Agents',
    document: `mutation ($aiId: ID!) { deleteAgent(id: $aiId) { ${agentFields} } }`,
    ...agentShown,
  },
];
