import { type OwnershipTransfer, transferOwnership } from '../../domain/operations/ownership.ts';
import { builder } from '../ground/builder/builder.ts';

const AllOfPersonInput = builder.inputType('AllOfPersonInput', {
  description: "All agents, sources, vector stores, groups and schedules that a person owns in the caller's organization.",
  fields: (t) => ({ userId: t.id({ description: 'The person; also one who has left the organization.' }) }),
});

const TransferOwnershipInput = builder.inputType('TransferOwnershipInput', {
  isOneOf: true,
  description: 'What is handed over: one thing, or all of a person.',
  fields: (t) => ({
    agentId: t.id({ required: false, description: 'An agent with its tools, skills, flows and secrets.' }),
    dataSourceId: t.id({ required: false, description: 'A data source, or a vector store, with its documents.' }),
    groupId: t.id({ required: false, description: 'A group.' }),
    scheduleId: t.id({ required: false, description: 'A schedule. It is paused until its new owner switches it on.' }),
    allOf: t.field({ type: AllOfPersonInput, required: false, description: 'All of a person: at most 90 things a call.' }),
  }),
});

const TransferOwnershipPayload = builder.objectRef<OwnershipTransfer>('TransferOwnershipPayload').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'What was handed over.',
  fields: (t) => ({
    agents: t.exposeInt('agents', { description: 'How many agents.' }),
    dataSources: t.exposeInt('dataSources', { description: 'How many data sources and vector stores.' }),
    groups: t.exposeInt('groups', { description: 'How many groups.' }),
    schedules: t.exposeInt('schedules', { description: 'How many schedules.' }),
    projects: t.exposeInt('projects', { description: 'How many projects: those that are shared with groups.' }),
    kept: t.exposeStringList('kept', { description: 'About agents that stay with their owner: which, and what to do first.' }),
    isMoreLeft: t.exposeBoolean('hasMore', {
      description: 'Whether the person owns more than this call looked at: settle what was kept, and call again.',
    }),
  }),
});

builder.mutationFields((t) => ({
  transferOwnership: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: TransferOwnershipPayload,
    description:
      'Gives what somebody owns to another member of the organization, for the owner and administrators. Sources need the scope DATA_SOURCES:WRITE too, groups GROUPS:WRITE, schedules CHATS:WRITE. Connections, keys, chats and memories stay with their person.',
    args: {
      input: t.arg({ type: TransferOwnershipInput, description: 'What is handed over.' }),
      toUserId: t.arg.id({ description: 'The new owner: a MEMBER or an ADMIN of the organization.' }),
    },
    resolve: (_root, { input, toUserId }, { deps, caller }) => transferOwnership(deps, caller, input, toUserId),
  }),
}));
