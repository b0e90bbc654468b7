import { readInside } from '../../domain/agents/parts/access.ts';
import { createSkill, deleteSkill, getSkill, getSkills, listSkills, updateSkill } from '../../domain/agents/skills.ts';
import { approvalWarnings, skillWarnings } from '../../domain/agents/warnings.ts';
import { partMembers } from '../../wire/agents/parts.ts';
import { builder } from '../ground/builder/builder.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { AgentRef, AgentSkillRef } from '../ground/refs.ts';
import { strictInput } from '../ground/types/json-inputs.ts';
import { NodeType } from '../ground/types/node.ts';
import { WarningType } from '../ground/types/warnings.ts';
import { partArgs } from './part-args.ts';

const SkillResource = AgentSkillRef.implement({
  access: { scope: 'SKILLS:READ' },
  description: 'Instructions that an agent takes up when a task needs them.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the skill.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    agentId: t.exposeID('agentId', { description: 'The agent it belongs to.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'That agent.',
      resolve: ({ agentId }, _args, context) => loadNode(context, 'agent', agentId),
    }),
    name: t.exposeString('name', { description: 'Unique in its agent.' }),
    description: t.exposeString('description', { description: 'When the agent should use the skill.' }),
    content: t.string({
      nullable: true,
      description: 'The instructions. Null for callers who may use the agent but not edit it.',
      resolve: (part, _args, { deps, caller }) => readInside(deps, caller, part, ({ content }) => content),
    }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether the agent has it now.' }),
    warnings: t.field({
      type: [WarningType],
      description:
        'What of it has no effect here, and, after a change, that the approval of its agent ended; empty when there is nothing to say.',
      resolve: (part) => [...skillWarnings(part), ...approvalWarnings(part)],
    }),
  }),
});

const CreateSkillInput = builder.inputType('CreateSkillInput', {
  description: 'A new skill of an agent.',
  extensions: strictInput(...partMembers),
  fields: (t) => ({
    name: t.string({ description: 'Unique in its agent; 1 to 200 characters.' }),
    description: t.string({ required: false, description: 'When the agent should use the skill; at most 10,000 characters.' }),
    content: t.string({ description: 'The instructions; at most 200,000 characters.' }),
    enabled: t.boolean({ required: false, description: 'Whether the skill is enabled. Default true.' }),
  }),
});
const UpdateSkillInput = builder.inputType('UpdateSkillInput', {
  description: 'Changes of a skill: absent members are kept.',
  extensions: strictInput(...partMembers),
  fields: (t) => ({
    name: t.string({ required: false, description: 'Unique in its agent; 1 to 200 characters.' }),
    description: t.string({ required: false, description: 'At most 10,000 characters; null empties it.' }),
    content: t.string({ required: false, description: 'At most 200,000 characters.' }),
    enabled: t.boolean({ required: false, description: 'Whether the skill is enabled.' }),
  }),
});

registerNode('agentSkill', {
  typeName: 'AgentSkill',
  operation: 'Query.skill',
  loadMany: (ids, { deps, caller }) => getSkills(deps, caller, ids),
});

builder.queryFields((t) => ({
  skills: t.field({
    authScopes: { key: 'SKILLS:READ' },
    type: [SkillResource],
    description: 'The skills of an agent, by name; at most 100.',
    args: { agentId: t.arg.id({ description: 'The id of the agent.' }) },
    resolve: (_root, { agentId }, { deps, caller }) => listSkills(deps, caller, agentId),
  }),
  skill: t.field({
    authScopes: { key: 'SKILLS:READ' },
    type: SkillResource,
    nullable: true,
    description: 'One skill of an agent. Null when there is none or the caller may not see the agent.',
    args: partArgs(t.arg, { description: 'The id of the skill.' }),
    resolve: (_root, place, { deps, caller }) => getSkill(deps, caller, place),
  }),
}));

builder.mutationFields((t) => ({
  createSkill: t.field({
    authScopes: { key: 'SKILLS:WRITE' },
    type: SkillResource,
    description: 'Gives an agent a skill, for who may edit it.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: CreateSkillInput, description: 'What the skill is.' }),
    },
    resolve: (_root, { agentId, input }, { deps, caller }) => createSkill(deps, caller, agentId, input),
  }),
  updateSkill: t.field({
    authScopes: { key: 'SKILLS:WRITE' },
    type: SkillResource,
    description: 'Changes a skill of an agent, for who may edit it.',
    args: {
      ...partArgs(t.arg, { description: 'The id of the skill.' }),
      input: t.arg({ type: UpdateSkillInput, description: 'The members to change.' }),
    },
    resolve: (_root, { input, ...place }, { deps, caller }) => updateSkill(deps, caller, place, input),
  }),
  deleteSkill: t.field({
    authScopes: { key: 'SKILLS:WRITE' },
    type: SkillResource,
    description: 'Removes a skill from its agent. Returns the removed skill.',
    args: partArgs(t.arg, { description: 'The id of the skill.' }),
    resolve: (_root, place, { deps, caller }) => deleteSkill(deps, caller, place),
  }),
}));
