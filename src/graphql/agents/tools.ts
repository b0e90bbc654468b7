import { readInside } from '../../domain/agents/parts/access.ts';
import {
  createAgentTool,
  deleteAgentTool,
  getAgentTool,
  getAgentTools,
  listAgentTools,
  type CreateAgentToolInput as NewTool,
  type UpdateAgentToolInput as ToolChanges,
  updateAgentTool,
} from '../../domain/agents/tools.ts';
import { approvalWarnings, toolWarnings } from '../../domain/agents/warnings.ts';
import { agentToolTypes, readDescription } from '../../entities/agents/part.ts';
import { newToolBody, toolChangesBody } from '../../wire/agents/parts.ts';
import { describe } from '../../wire/ground/body.ts';
import { builder } from '../ground/builder/builder.ts';
import { flatInput } from '../ground/builder/flat-inputs.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { AgentRef, AgentToolRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';
import { WarningType } from '../ground/types/warnings.ts';
import { partArgs } from './part-args.ts';
import { AgentToolSettingsInput, AgentToolSettingsType } from './tool-settings.ts';

export const AgentToolTypeType = createEnum('AgentToolType', 'What a tool of an agent is.', agentToolTypes, {
  API_FUNCTION: 'An HTTP call that the service makes.',
  MCP_SERVER: 'The tools of a server of the Model Context Protocol.',
  CLIENT_FUNCTION: 'A function that the caller runs.',
});

export const AgentToolResource = AgentToolRef.implement({
  access: { scope: 'AGENTS:READ' },
  description: 'Something an agent can call.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the tool.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    agentId: t.exposeID('agentId', { description: 'The agent it belongs to.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'That agent.',
      resolve: ({ agentId }, _args, context) => loadNode(context, 'agent', agentId),
    }),
    name: t.exposeString('name', { description: 'The name the model calls it by.' }),
    description: t.string({
      description: 'What it does; empty when it does not say.',
      resolve: ({ data }) => readDescription(data),
    }),
    type: t.expose('type', { type: AgentToolTypeType, description: 'Its type.' }),
    settings: t.field({
      type: AgentToolSettingsType,
      nullable: true,
      description: 'How it works. Null for callers who may use the agent but not edit it.',
      resolve: (part, _args, { deps, caller }) => readInside(deps, caller, part, ({ type, data }) => ({ type, data })),
    }),
    warnings: t.field({
      type: [WarningType],
      description:
        'What of it has no effect here, and, after a change, that the approval of its agent ended; empty when there is nothing to say.',
      resolve: (part) => [...toolWarnings(part), ...approvalWarnings(part)],
    }),
  }),
});

const CreateAgentToolInput = flatInput<NewTool>(
  builder.inputType('CreateAgentToolInput', {
    description: 'A new tool of an agent.',
    fields: (t) => ({
      name: t.string({ description: describe(newToolBody, 'name') }),
      settings: t.field({ type: AgentToolSettingsInput, description: 'What it is, and how it works.' }),
    }),
  }),
  { body: newToolBody, members: { settings: { isSpread: true } } },
);
const UpdateAgentToolInput = flatInput<ToolChanges>(
  builder.inputType('UpdateAgentToolInput', {
    description: 'Changes of a tool: absent members are kept.',
    fields: (t) => ({
      name: t.string({ required: false, description: describe(toolChangesBody, 'name') }),
      settings: t.field({
        type: AgentToolSettingsInput,
        required: false,
        description: 'How it works, for the type that it has. Replaced whole; null keeps it.',
      }),
    }),
  }),
  { body: toolChangesBody, members: { settings: { isSpread: true } } },
);

registerNode('agentTool', {
  typeName: 'AgentTool',
  operation: 'Query.agentTool',
  loadMany: (ids, { deps, caller }) => getAgentTools(deps, caller, ids),
});

builder.queryFields((t) => ({
  agentTools: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: [AgentToolResource],
    description: 'The tools of an agent, by name; at most 64.',
    args: { agentId: t.arg.id({ description: 'The id of the agent.' }) },
    resolve: (_root, { agentId }, { deps, caller }) => listAgentTools(deps, caller, agentId),
  }),
  agentTool: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: AgentToolResource,
    nullable: true,
    description: 'One tool of an agent. Null when there is none or the caller may not see the agent.',
    args: partArgs(t.arg, { description: 'The id of the tool.' }),
    resolve: (_root, place, { deps, caller }) => getAgentTool(deps, caller, place),
  }),
}));

builder.mutationFields((t) => ({
  createAgentTool: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentToolResource,
    description: 'Gives an agent a tool, for who may edit it.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: CreateAgentToolInput, description: 'What the tool is.' }),
    },
    resolve: (_root, { agentId, input }, { deps, caller }) => createAgentTool(deps, caller, agentId, input),
  }),
  updateAgentTool: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentToolResource,
    description: 'Changes a tool of an agent, for who may edit it.',
    args: {
      ...partArgs(t.arg, { description: 'The id of the tool.' }),
      input: t.arg({ type: UpdateAgentToolInput, description: 'The members to change.' }),
    },
    resolve: (_root, { input, ...place }, { deps, caller }) => updateAgentTool(deps, caller, place, input),
  }),
  deleteAgentTool: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentToolResource,
    description: 'Takes a tool away from its agent, with the secrets found in it. Answers what it was.',
    args: partArgs(t.arg, { description: 'The id of the tool.' }),
    resolve: (_root, place, { deps, caller }) => deleteAgentTool(deps, caller, place),
  }),
}));
