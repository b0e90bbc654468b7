import { profileReply } from '../../../wire/agents/profile.ts';
import type { DeclaredRoute } from '../../route.ts';
import { agentFields, agentShown } from './agents.ts';

const tag = 'Agents';
const categoryFields = 'id createdAt updatedAt orgId name';

export const agentCatalogRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'generateAgentProfile',
    method: 'post',
    path: '/api/v1/ais/{aiId}/profile',
    summary: 'Generate AI profile from existing AI data',
    description:
      'The model of the AI writes it, from its texts and the names of its knowledge. It is stored on the AI. For those who may edit it.',
    asksModel: true,
    tag,
    spec: 'Generate AI profile from existing AI data',
    document: `mutation ($aiId: ID!) { generateAgentProfile(id: $aiId) { headline } }`,
    reply: profileReply,
  },
  {
    operationId: 'approveAgent',
    method: 'post',
    path: '/api/v1/ais/{aiId}/approval',
    summary: 'Approve AI',
    description:
      'For administrators of its organization. The approval ends when anything changes that reaches the model, whoever changes it: texts, model, options, tools, skills, flows, user inputs, sources.',
    tag,
    document: `mutation ($aiId: ID!, $input: ApproveAgentInput!) { approveAgent(id: $aiId, input: $input) { ${agentFields} } }`,
    ...agentShown,
    body: 'input',
    example: { isApproved: true },
  },
  {
    operationId: 'rateAgent',
    method: 'put',
    path: '/api/v1/ais/{aiId}/rating',
    summary: 'Rate AI',
    description: 'One rating a user, 1 to 5, which a later one replaces; null takes it back. For everybody who may use the AI.',
    tag,
    document: `mutation ($aiId: ID!, $input: RateAgentInput!) { rateAgent(id: $aiId, input: $input) { ${agentFields} } }`,
    ...agentShown,
    body: 'input',
    example: { rating: 5 },
  },
  {
    operationId: 'listAgentCategories',
    method: 'get',
    path: '/api/v1/ai-categories',
    summary: "List the organization's categories",
    description: 'The headings of its own catalog, by name.',
    tag,
    document: `query { agentCategories { ${categoryFields} } }`,
    wrap: 'data',
  },
  {
    operationId: 'createAgentCategory',
    method: 'post',
    path: '/api/v1/ai-categories',
    summary: 'Create category',
    description: 'For administrators.',
    tag,
    document: `mutation ($input: AgentCategoryInput!) { createAgentCategory(input: $input) { ${categoryFields} } }`,
    body: 'input',
    example: { name: 'Onboarding' },
  },
  {
    operationId: 'renameAgentCategory',
    method: 'patch',
    path: '/api/v1/ai-categories/{categoryId}',
    summary: 'Rename category',
    description: 'For administrators.',
    tag,
    document: `mutation ($categoryId: ID!, $input: AgentCategoryInput!) {
      renameAgentCategory(id: $categoryId, input: $input) { ${categoryFields} }
    }`,
    body: 'input',
    example: { name: 'First days' },
  },
  {
    operationId: 'deleteAgentCategory',
    method: 'delete',
    path: '/api/v1/ai-categories/{categoryId}',
    summary: 'Delete category',
    description: 'Also from its AIs. Administrators only. Returns the removed category.',
    tag,
    document: `mutation ($categoryId: ID!) { deleteAgentCategory(id: $categoryId) { ${categoryFields} } }`,
  },
];
