import { flowOperations } from '../../domain/agents/flows.ts';
import { readInside } from '../../domain/agents/parts/access.ts';
import type { FlowVersionInput as VersionInput } from '../../domain/agents/parts/flow-data.ts';
import { approvalWarnings, flowWarnings } from '../../domain/agents/warnings.ts';
import { readFlowSteps } from '../../entities/agents/flow.ts';
import type { FlowVersion } from '../../entities/agents/part.ts';
import { flowVersionBody, partMembers } from '../../wire/agents/parts.ts';
import { describe } from '../../wire/ground/body.ts';
import { builder } from '../ground/builder/builder.ts';
import { flatInput } from '../ground/builder/flat-inputs.ts';
import { AgentFlowRef } from '../ground/refs.ts';
import { strictInput } from '../ground/types/json-inputs.ts';
import { NodeType } from '../ground/types/node.ts';
import { WarningType } from '../ground/types/warnings.ts';
import { AgentFlowStepType, FlowStepInput } from './flow-steps.ts';
import { addPartOperations, partFields } from './part-operations.ts';

const FlowVersionResource = builder.objectRef<FlowVersion>('AgentFlowVersion').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'One version of a flow.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Its number.' }),
    active: t.exposeBoolean('active', { description: 'Whether this version is the active one; at most one is.' }),
    description: t.exposeString('description', { description: 'What changed in this version.' }),
    steps: t.field({
      type: [AgentFlowStepType],
      description: 'Its steps in order; at most 200. Branches lead to later steps only.',
      resolve: ({ data }) => [...readFlowSteps(data)],
    }),
  }),
});

const FlowResource = AgentFlowRef.implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A fixed sequence of steps that produces an answer.',
  interfaces: [NodeType],
  fields: (t) => ({
    ...partFields(t, 'flow'),
    name: t.exposeString('name', { description: 'Unique in its agent.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether the flow is enabled.' }),
    versions: t.field({
      type: [FlowVersionResource],
      nullable: true,
      description: 'By number; at most 100. Null for callers who may use the agent but not edit it.',
      resolve: (part, _args, { deps, caller }) => readInside(deps, caller, part, ({ versions }) => versions),
    }),
    warnings: t.field({
      type: [WarningType],
      description:
        'What of it has no effect here, and, after a change, that the approval of its agent ended; empty when there is nothing to say.',
      resolve: (part) => [...flowWarnings(part), ...approvalWarnings(part)],
    }),
  }),
});

const FlowVersionInput = flatInput<VersionInput>(
  builder.inputType('FlowVersionInput', {
    description: 'One version of a flow.',
    fields: (t) => ({
      version: t.int({ description: describe(flowVersionBody, 'version') }),
      active: t.boolean({ required: false, description: describe(flowVersionBody, 'active') }),
      description: t.string({ required: false, description: describe(flowVersionBody, 'description') }),
      steps: t.field({ type: [FlowStepInput], description: 'Its steps in order; at most 200, 64,000 bytes together.' }),
    }),
  }),
  { body: flowVersionBody, members: { steps: 'data.steps' } },
);
const CreateFlowInput = builder.inputType('CreateFlowInput', {
  description: 'A new flow of an agent.',
  extensions: strictInput(...partMembers),
  fields: (t) => ({
    name: t.string({ description: 'Unique in its agent; 1 to 200 characters.' }),
    enabled: t.boolean({ required: false, description: 'Whether the flow is enabled. Default true.' }),
    versions: t.field({ type: [FlowVersionInput], required: false, description: 'At most 100, one active at most.' }),
  }),
});
const UpdateFlowInput = builder.inputType('UpdateFlowInput', {
  description: 'Changes of a flow: absent members are kept.',
  extensions: strictInput(...partMembers),
  fields: (t) => ({
    name: t.string({ required: false, description: 'Unique in its agent; 1 to 200 characters.' }),
    enabled: t.boolean({ required: false, description: 'Whether the flow is enabled.' }),
    versions: t.field({ type: [FlowVersionInput], required: false, description: 'Replaced whole; null removes them.' }),
  }),
});

addPartOperations({
  type: FlowResource,
  idKind: 'agentFlow',
  operations: flowOperations,
  scopes: { read: 'AGENTS:READ', write: 'AGENTS:WRITE' },
  names: { one: 'flow', list: 'flows', mutation: 'Flow' },
  noun: 'flow',
  inputs: { create: CreateFlowInput, update: UpdateFlowInput },
  descriptions: {
    list: 'The flows of an agent, by name; at most 50.',
    one: 'One flow of an agent. Null when there is none or the caller may not see the agent.',
    create: 'Gives an agent a flow, for who may edit it.',
    newInput: 'What the flow is.',
    update: 'Changes a flow of an agent, for who may edit it.',
    delete: 'Takes a flow away from its agent, with all versions. Answers what it was.',
  },
});
