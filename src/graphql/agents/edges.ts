import { modelIdOf } from '../../domain/agents/agents.ts';
import { flowsOfAgents } from '../../domain/agents/flows.ts';
import { secretsOfAgents } from '../../domain/agents/secrets.ts';
import { skillsOfAgents } from '../../domain/agents/skills.ts';
import { toolsOfAgents } from '../../domain/agents/tools.ts';
import { userInputsOfAgents } from '../../domain/agents/user-inputs.ts';
import { listChats } from '../../domain/chats/chats.ts';
import type { AgentView } from '../../entities/agents/agent.ts';
import { batched } from '../builder/batched.ts';
import { builder } from '../builder/builder.ts';
import { reading } from '../builder/members.ts';
import { nodeOf } from '../builder/nodes.ts';
import { ChatConnection } from '../chats/chats.ts';
import { pageArgs, pageRequest } from '../pagination.ts';
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
} from '../refs.ts';

const reads = reading<AgentView>;
/** What decides who sees the inside of an agent's parts. */
const ofEdge = ['id', 'orgId', 'userId', 'editors'] as const;

const toolsOf = batched((agents: readonly AgentView[], { deps, caller }) => toolsOfAgents(deps, caller, agents));
const skillsOf = batched((agents: readonly AgentView[], { deps, caller }) => skillsOfAgents(deps, caller, agents));
const flowsOf = batched((agents: readonly AgentView[], { deps, caller }) => flowsOfAgents(deps, caller, agents));
const userInputsOf = batched((agents: readonly AgentView[], { deps, caller }) => userInputsOfAgents(deps, caller, agents));
const secretsOf = batched((agents: readonly AgentView[], { deps, caller }) => secretsOfAgents(deps, caller, agents));

const partsMax = 'at most 64';

/** What agents lead to. */
builder.objectFields(AgentRef, (t) => ({
  owner: t.field({
    extensions: reads('userId'),
    type: UserRef,
    nullable: true,
    description: 'Who owns it; null when the caller may not see that person.',
    resolve: ({ userId }, _args, context) => nodeOf(context, 'user', userId),
  }),
  organization: t.field({
    extensions: reads('orgId'),
    type: OrganizationRef,
    nullable: true,
    description: 'The organization it belongs to; null when the caller may not see that.',
    resolve: ({ orgId }, _args, context) => nodeOf(context, 'organization', orgId),
  }),
  model: t.field({
    extensions: reads('modelId'),
    type: ModelRef,
    nullable: true,
    description: 'The model that answers; null when the installation does not have it any more.',
    resolve: async (agent, _args, { deps }) => (await deps.models.find(modelIdOf(deps, agent))) ?? null,
  }),
  tools: t.field({
    extensions: reads(...ofEdge),
    type: [AgentToolRef],
    description: `Its own tools, by name; ${partsMax}.`,
    resolve: async (agent, _args, context) => [...(await toolsOf(context, agent))],
  }),
  skills: t.field({
    extensions: reads(...ofEdge),
    type: [AgentSkillRef],
    description: `Its skills, by name; ${partsMax}.`,
    resolve: async (agent, _args, context) => [...(await skillsOf(context, agent))],
  }),
  flows: t.field({
    extensions: reads(...ofEdge),
    type: [AgentFlowRef],
    description: `Its flows, by name; ${partsMax}.`,
    resolve: async (agent, _args, context) => [...(await flowsOf(context, agent))],
  }),
  userInputs: t.field({
    extensions: reads(...ofEdge),
    type: [AgentUserInputRef],
    description: `What it asks a person for, in their order; ${partsMax}.`,
    resolve: async (agent, _args, context) => [...(await userInputsOf(context, agent))],
  }),
  secrets: t.field({
    extensions: reads(...ofEdge),
    type: [AgentSecretRef],
    nullable: true,
    description: 'Its secrets, by key, without their values; at most 100. Null for callers who may not edit it.',
    resolve: async (agent, _args, context) => {
      const found = await secretsOf(context, agent);
      return found === null ? null : [...found];
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
