import {
  createAgentCategory,
  deleteAgentCategory,
  listAgentCategories,
  renameAgentCategory,
} from '../../domain/agents/categories.ts';
import { generateAgentProfile } from '../../domain/agents/profile/profile.ts';
import { rateAgent } from '../../domain/agents/ratings.ts';
import { builder } from '../ground/builder/builder.ts';
import { registerNode } from '../ground/builder/nodes.ts';
import { AgentCategoryRef } from '../ground/refs.ts';
import { NodeType } from '../ground/types/node.ts';
import { AgentType } from './agents.ts';
import { RateAgentInput } from './inputs.ts';
import { AgentProfileType } from './parts.ts';

const AgentCategoryType = AgentCategoryRef.implement({
  access: { scope: 'AGENTS:READ' },
  description: "A heading of an organization's own catalog of agents.",
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What `orgCategoryIds` of an agent names.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    orgId: t.exposeID('orgId', { description: 'The organization it belongs to.' }),
    name: t.exposeString('name', { description: 'Never blank; once in its organization, whatever the case.' }),
  }),
});

registerNode('agentCategory', {
  typeName: 'AgentCategory',
  operation: 'Query.agentCategories',
  loadMany: (ids, { deps, caller }) => deps.storage.agents.categories.findMany(ids, caller.orgId),
});

const AgentCategoryInput = builder.inputType('AgentCategoryInput', {
  description: 'A heading.',
  fields: (t) => ({ name: t.string({ description: '1 to 100 characters.' }) }),
});

builder.queryField('agentCategories', (t) =>
  t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: [AgentCategoryType],
    description: "The headings of the catalog of the caller's organization, by name; at most 500.",
    resolve: async (_root, _args, { deps, caller }) => [...(await listAgentCategories(deps, caller))],
  }),
);

builder.mutationFields((t) => ({
  createAgentCategory: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentCategoryType,
    description: "Adds a heading to the organization's catalog, for its administrators.",
    args: { input: t.arg({ type: AgentCategoryInput, description: 'The heading.' }) },
    resolve: (_root, { input }, { deps, caller }) => createAgentCategory(deps, caller, input),
  }),
  renameAgentCategory: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentCategoryType,
    description: 'Gives a heading another name, for administrators.',
    args: {
      id: t.arg.id({ description: 'The id of the category.' }),
      input: t.arg({ type: AgentCategoryInput, description: 'The heading.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => renameAgentCategory(deps, caller, id, input),
  }),
  deleteAgentCategory: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentCategoryType,
    description: 'Removes a category, also from its agents. Administrators only. Returns the removed category.',
    args: { id: t.arg.id({ description: 'The id of the category.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteAgentCategory(deps, caller, id),
  }),
  rateAgent: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: AgentType,
    description: 'Rates an agent that the caller may use: one rating a user, which a later one replaces.',
    args: {
      id: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: RateAgentInput, description: 'The rating.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => rateAgent(deps, caller, id, input),
  }),
  generateAgentProfile: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentProfileType,
    description:
      'Has the model of an agent write its profile, from its texts and the names of its knowledge, and stores it. For those who may edit it.',
    args: { id: t.arg.id({ description: 'The id of the agent.' }) },
    resolve: (_root, { id }, { deps, caller, signal }) => generateAgentProfile(deps, caller, id, signal),
  }),
}));
