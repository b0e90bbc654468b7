import { readInside } from '../../domain/agents/parts/access.ts';
import { skillOperations } from '../../domain/agents/skills.ts';
import { approvalWarnings, skillWarnings } from '../../domain/agents/warnings.ts';
import { partMembers } from '../../wire/agents/parts.ts';
import { builder } from '../ground/builder/builder.ts';
import { AgentSkillRef } from '../ground/refs.ts';
import { strictInput } from '../ground/types/json-inputs.ts';
import { NodeType } from '../ground/types/node.ts';
import { WarningType } from '../ground/types/warnings.ts';
import { addPartOperations, partFields } from './part-operations.ts';

const SkillResource = AgentSkillRef.implement({
  access: { scope: 'SKILLS:READ' },
  description: 'Instructions that an agent takes up when a task needs them.',
  interfaces: [NodeType],
  fields: (t) => ({
    ...partFields(t, 'skill'),
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

addPartOperations({
  type: SkillResource,
  idKind: 'agentSkill',
  operations: skillOperations,
  scopes: { read: 'SKILLS:READ', write: 'SKILLS:WRITE' },
  names: { one: 'skill', list: 'skills', mutation: 'Skill' },
  noun: 'skill',
  inputs: { create: CreateSkillInput, update: UpdateSkillInput },
  descriptions: {
    list: 'The skills of an agent, by name; at most 100.',
    one: 'One skill of an agent. Null when there is none or the caller may not see the agent.',
    create: 'Gives an agent a skill, for who may edit it.',
    newInput: 'What the skill is.',
    update: 'Changes a skill of an agent, for who may edit it.',
    delete: 'Removes a skill from its agent. Returns the removed skill.',
  },
});
