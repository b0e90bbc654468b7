import {
  createMemory,
  deleteMemories,
  deleteMemory,
  getMemories,
  getMemory,
  listMemories,
  pageMemoriesOfAgents,
  updateMemory,
} from '../../domain/conversations/memories.ts';
import type { AgentView } from '../../entities/agents/agent.ts';
import { memoryScopes } from '../../entities/conversations/memory.ts';
import type { PageRequest } from '../../entities/ground/page.ts';
import { loadAgent } from '../agents/agent-edge.ts';
import { batched } from '../ground/builder/batched.ts';
import { builder } from '../ground/builder/builder.ts';
import { reading } from '../ground/builder/members.ts';
import { registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { AgentRef, MemoryRef } from '../ground/refs.ts';
import { createEnum, ofFormat } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';

const MemoryScopeType = createEnum(
  'MemoryScope',
  'With which agents a memory is remembered.',
  memoryScopes,
  { user: 'With every agent of the user.', agent: 'With one agent only.' },
  ofFormat,
);

const MemoryType = MemoryRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'Something that agents remember of the caller. Nobody else sees it. Written by the tool `memory`, or here.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first remembered.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    scope: t.field({
      type: MemoryScopeType,
      description: 'With which agents it is remembered.',
      resolve: ({ agentId }) => (agentId === null ? 'user' : 'agent'),
    }),
    agentId: t.exposeID('agentId', { nullable: true, description: 'With the scope agent: that agent.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'With the scope AGENT: that agent; null when the caller may not use it any more.',
      resolve: ({ agentId }, _args, context, info) => loadAgent(context, agentId, info),
    }),
    key: t.exposeString('key', { nullable: true, description: 'Its name: another memory with the same key replaces it.' }),
    text: t.exposeString('text', { description: 'What is remembered.' }),
  }),
});

const MemoryConnection = makeConnection(MemoryType, 'Memory', 'Memories');

const memoriesOf = batched((agentIds: readonly string[], { deps, caller }, page: PageRequest) =>
  pageMemoriesOfAgents(deps, caller, agentIds, page),
);

builder.objectField(AgentRef, 'memories', (t) =>
  t.field({
    extensions: reading<AgentView>('id'),
    type: MemoryConnection,
    description: "The caller's memories with it alone, newest first. Those with every agent are in `memories(scope: USER)`.",
    args: pageArgs(t.arg),
    resolve: ({ id }, args, context) => memoriesOf(context, id, pageRequest(context, args)),
  }),
);

const DeleteMemoriesPayload = builder.objectRef<{ readonly deletedCount: number }>('DeleteMemoriesPayload').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What became of a deletion.',
  fields: (t) => ({ deletedCount: t.exposeInt('deletedCount', { description: 'How many memories were deleted.' }) }),
});

registerNode('memory', {
  typeName: 'Memory',
  operation: 'Query.memory',
  loadMany: (ids, { deps, caller }) => getMemories(deps, caller, ids),
});

const id = { description: 'The id of the memory.' };

builder.queryFields((t) => ({
  memory: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: MemoryType,
    nullable: true,
    description: 'One memory of the caller; null when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getMemory(deps, caller, args.id),
  }),
  memories: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: MemoryConnection,
    description: "The caller's memories, newest first.",
    args: {
      scope: t.arg({ type: MemoryScopeType, required: false, description: 'Only those of this scope.' }),
      agentId: t.arg.id({ required: false, description: 'Only those with this agent.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { first, after, last, before, ...query }, context) =>
      listMemories(context.deps, context.caller, query, pageRequest(context, { first, after, last, before })),
  }),
}));

const CreateMemoryInput = builder.inputType('CreateMemoryInput', {
  description: 'A new memory.',
  fields: (t) => ({
    text: t.string({ description: 'What is remembered; at most 2,000 characters.' }),
    key: t.string({
      required: false,
      description: 'At most 100 characters. A memory with the same key and agent is replaced.',
    }),
    agentId: t.id({ required: false, description: 'Remembered with this agent only; default: with every agent.' }),
  }),
});

const UpdateMemoryInput = builder.inputType('UpdateMemoryInput', {
  description: 'Changes of a memory: absent members are kept.',
  fields: (t) => ({
    text: t.string({ required: false, description: 'What is remembered; null keeps it.' }),
    key: t.string({ required: false, description: 'At most 100 characters; null takes the key away.' }),
  }),
});

builder.mutationFields((t) => ({
  createMemory: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: MemoryType,
    description: 'Remembers something of the caller.',
    args: { input: t.arg({ type: CreateMemoryInput, description: 'What is remembered.' }) },
    resolve: (_root, { input }, { deps, caller }) => createMemory(deps, caller, input),
  }),
  updateMemory: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: MemoryType,
    description: 'Changes a memory of the caller.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdateMemoryInput, description: 'What to change.' }) },
    resolve: (_root, args, { deps, caller }) => updateMemory(deps, caller, args.id, args.input),
  }),
  deleteMemory: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: MemoryType,
    description: 'Deletes a memory of the caller. Answers what it was.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteMemory(deps, caller, args.id),
  }),
  deleteMemories: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: DeleteMemoriesPayload,
    description: 'Deletes all memories of the caller, or those of a scope or an agent.',
    args: {
      scope: t.arg({ type: MemoryScopeType, required: false, description: 'Only those of this scope.' }),
      agentId: t.arg.id({ required: false, description: 'Only those with this agent.' }),
    },
    resolve: (_root, args, { deps, caller }) => deleteMemories(deps, caller, args),
  }),
}));
