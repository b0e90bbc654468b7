import { findModelId } from '../../domain/agents/agents.ts';
import { partsOfAgents, publishedUserInputs, type WantedParts } from '../../domain/agents/parts/lists.ts';
import { listChats } from '../../domain/conversations/chats/chats.ts';
import type { AgentView } from '../../entities/agents/agent.ts';
import { batched } from '../ground/builder/batched.ts';
import { builder } from '../ground/builder/builder.ts';
import { reading } from '../ground/builder/members.ts';
import { loadNode } from '../ground/builder/nodes.ts';
import { pageArgs, pageRequest } from '../ground/pagination.ts';
import {
  AgentFlowRef,
  AgentRef,
  AgentSecretRef,
  AgentSkillRef,
  AgentToolRef,
  AgentUserInputRef,
  ModelRef,
  OrganizationRef,
  UserRef,
} from '../ground/refs.ts';
import { ChatConnection } from './chats/chats.ts';

const reads = reading<AgentView>;
/** What decides who sees the inside of an agent's parts. */
const ofEdge = ['id', 'orgId', 'userId', 'editors'] as const;

/** All kinds of parts of all agents of a list are read together. */
const partsOf = batched((wantedParts: readonly WantedParts[], { deps, caller }) => partsOfAgents(deps, caller, wantedParts));

const askedInputsOf = batched((agents: readonly AgentView[], { deps, caller }) => publishedUserInputs(deps, caller, agents));

/** What agents lead to. */
builder.objectFields(AgentRef, (t) => ({
  owner: t.field({
    extensions: reads('userId'),
    type: UserRef,
    nullable: true,
    description: 'Who owns it; null when the caller may not see that person.',
    resolve: ({ userId }, _args, context) => loadNode(context, 'user', userId),
  }),
  organization: t.field({
    extensions: reads('orgId'),
    type: OrganizationRef,
    nullable: true,
    description: 'The organization it belongs to; null when the caller may not see that.',
    resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
  }),
  model: t.field({
    extensions: reads('modelId'),
    type: ModelRef,
    nullable: true,
    description: 'The model that answers; null when the installation does not have it any more.',
    resolve: async (agent, _args, { deps }) => (await deps.models.find(findModelId(deps, agent))) ?? null,
  }),
  tools: t.field({
    extensions: reads(...ofEdge),
    type: [AgentToolRef],
    description: 'Its own tools, by name; at most 64.',
    resolve: async (agent, _args, context) => [...(await partsOf(context, { agent, kind: 'tools' })).tools],
  }),
  skills: t.field({
    extensions: reads(...ofEdge),
    type: [AgentSkillRef],
    description: 'Its skills, by name; at most 100.',
    resolve: async (agent, _args, context) => [...(await partsOf(context, { agent, kind: 'skills' })).skills],
  }),
  flows: t.field({
    extensions: reads(...ofEdge),
    type: [AgentFlowRef],
    description: 'Its flows, by name; at most 50.',
    resolve: async (agent, _args, context) => [...(await partsOf(context, { agent, kind: 'flows' })).flows],
  }),
  userInputs: t.field({
    extensions: reads(...ofEdge),
    type: [AgentUserInputRef],
    description: 'What it asks a person for, in their order; at most 50.',
    args: {
      isPublished: t.arg.boolean({
        required: false,
        description: 'Those that a chat asks for, also for those who may edit the draft. Default: false.',
      }),
    },
    resolve: async (agent, { isPublished }, context) =>
      isPublished === true
        ? [...(await askedInputsOf(context, agent))]
        : [...(await partsOf(context, { agent, kind: 'userInputs' })).userInputs],
  }),
  secrets: t.field({
    extensions: reads(...ofEdge),
    type: [AgentSecretRef],
    nullable: true,
    description: 'Its secrets, by key, without their values; at most 200. Null for callers who may not edit it.',
    resolve: async (agent, _args, context) => {
      const { secrets } = await partsOf(context, { agent, kind: 'secrets' });
      return secrets === null ? null : [...secrets];
    },
  }),
  chats: t.field({
    extensions: reads('id'),
    type: ChatConnection,
    description:
      "The caller's chats with it, the one changed last first; for who may edit it, everybody's, as far as it shows its logs.",
    args: pageArgs(t.arg),
    resolve: ({ id }, args, context) => listChats(context.deps, context.caller, { agentId: id }, pageRequest(context, args)),
  }),
}));
