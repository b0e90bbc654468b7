import {
  deleteAgentGrants,
  getAgentGrants,
  grantedAgentsMax,
  listAgentGrants,
  putAgentGrants,
} from '../../domain/agents/grants.ts';
import { type AgentGrants, type GrantedThing, memoryGrants } from '../../entities/agents/grant.ts';
import { builder } from '../ground/builder/builder.ts';
import { loadNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, wholeRequest } from '../ground/pagination.ts';
import { AgentRef, IntegrationRef } from '../ground/refs.ts';
import { createEnum, ofFormat } from '../ground/types/enums.ts';
import { loadAgent } from './agent-edge.ts';

const MemoryGrantType = createEnum(
  'MemoryGrant',
  'What an agent may do with the memories of a person who asks it.',
  memoryGrants,
  {
    none: 'Nothing.',
    read: 'Recall them.',
    write: 'Recall, remember and forget.',
  },
  ofFormat,
);

const GrantedThingType = builder.objectRef<GrantedThing>('GrantedThing').implement({
  access: { scope: 'CHATS:READ' },
  description: 'One thing of the caller that an agent may open: a connection, the memories, or another agent.',
  fields: (t) => ({
    grantedAt: t.expose('grantedAt', { type: 'DateTime', description: 'Since when it is granted.' }),
    connectionId: t.exposeID('connectionId', { nullable: true, description: 'An MCP connection; null for other things.' }),
    connection: t.field({
      type: IntegrationRef,
      nullable: true,
      description: 'That connection; null for other things.',
      resolve: ({ connectionId }, _args, context) => loadNode(context, 'mcpServer', connectionId),
    }),
    memories: t.expose('memories', {
      type: MemoryGrantType,
      nullable: true,
      description: 'What the agent may do with the memories; null for other things.',
    }),
    agentId: t.exposeID('agentId', { nullable: true, description: 'An agent that it may ask; null for other things.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'That agent; null for other things, and when it is gone or the caller may not use it any more.',
      resolve: ({ agentId: id }, _args, context, info) => loadAgent(context, id, info),
    }),
  }),
});

const AgentGrantsType = builder.objectRef<AgentGrants>('AgentGrants').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What of the caller an agent may open when the caller asks it. Nobody else sees it.',
  fields: (t) => ({
    agentId: t.exposeID('agentId', { description: 'The agent.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'That agent; null when it is gone or the caller may not use it any more.',
      resolve: ({ agentId: id }, _args, context, info) => loadAgent(context, id, info),
    }),
    connections: t.idList({
      description: 'The MCP connections of the caller that its standing tools may use.',
      resolve: ({ connectionIds }) => [...connectionIds],
    }),
    memories: t.expose('memories', { type: MemoryGrantType, description: 'What it may do with the memories of the caller.' }),
    agents: t.idList({
      description: 'Agents that it may ask for the caller, beside those that its owner may use too.',
      resolve: ({ agentIds }) => [...agentIds],
    }),
    things: t.field({
      type: [GrantedThingType],
      description: 'Each thing that is granted, with the time since when, in that order.',
      resolve: ({ things }) => [...things],
    }),
  }),
});

const AgentGrantsConnection = makeConnection(AgentGrantsType, 'AgentGrants', 'Grants');

const AgentGrantsInput = builder.inputType('AgentGrantsInput', {
  description: 'What the caller grants to an agent. It replaces what stood before: absent members grant nothing.',
  fields: (t) => ({
    connections: t.idList({ required: false, description: 'Ids of MCP connections of the caller; at most 100.' }),
    memories: t.field({ type: MemoryGrantType, required: false, description: 'Default: none.' }),
    agents: t.idList({ required: false, description: 'Ids of agents that the caller may use; at most 100.' }),
  }),
});

const agentId = { description: 'The id of the agent that may open the things of the caller.' };

builder.queryFields((t) => ({
  agentGrants: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: AgentGrantsType,
    description: 'What the caller grants to an agent; nothing when there is no grant.',
    args: { agentId: t.arg.id(agentId) },
    resolve: (_root, args, { deps, caller }) => getAgentGrants(deps, caller, args.agentId),
  }),
  grants: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: AgentGrantsConnection,
    description: 'The agents to which the caller grants something, with what it grants, by their ids; at most 500.',
    args: pageArgs(t.arg),
    resolve: (_root, args, context) =>
      listAgentGrants(context.deps, context.caller, wholeRequest(context, args, grantedAgentsMax, ['text'])),
  }),
}));

builder.mutationFields((t) => ({
  putAgentGrants: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: AgentGrantsType,
    description: 'Says what of the caller an agent may open when the caller asks it.',
    args: { agentId: t.arg.id(agentId), input: t.arg({ type: AgentGrantsInput, description: 'What is granted.' }) },
    resolve: (_root, { input, ...args }, { deps, caller }) => putAgentGrants(deps, caller, args.agentId, input),
  }),
  deleteAgentGrants: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: AgentGrantsType,
    description: 'Ends what the caller grants to an agent. Answers what it was.',
    args: { agentId: t.arg.id(agentId) },
    resolve: (_root, args, { deps, caller }) => deleteAgentGrants(deps, caller, args.agentId),
  }),
}));
