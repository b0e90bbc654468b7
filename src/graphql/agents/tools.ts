import { readInside } from '../../domain/agents/parts/access.ts';
import {
  type CreateAgentToolInput as NewTool,
  type UpdateAgentToolInput as ToolChanges,
  toolOperations,
} from '../../domain/agents/tools.ts';
import { approvalWarnings, toolWarnings } from '../../domain/agents/warnings.ts';
import { agentToolTypes, readDescription } from '../../entities/agents/part.ts';
import { newToolBody, toolChangesBody } from '../../wire/agents/parts.ts';
import { describe } from '../../wire/ground/body.ts';
import { builder } from '../ground/builder/builder.ts';
import { flatInput } from '../ground/builder/flat-inputs.ts';
import { AgentToolRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';
import { WarningType } from '../ground/types/warnings.ts';
import { addPartOperations, partFields } from './part-operations.ts';
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
    ...partFields(t, 'tool'),
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

addPartOperations({
  type: AgentToolResource,
  idKind: 'agentTool',
  operations: toolOperations,
  scopes: { read: 'AGENTS:READ', write: 'AGENTS:WRITE' },
  names: { one: 'agentTool', list: 'agentTools', mutation: 'AgentTool' },
  noun: 'tool',
  inputs: { create: CreateAgentToolInput, update: UpdateAgentToolInput },
  descriptions: {
    list: 'The tools of an agent, by name; at most 64.',
    one: 'One tool of an agent. Null when there is none or the caller may not see the agent.',
    create: 'Gives an agent a tool, for who may edit it.',
    newInput: 'What the tool is.',
    update: 'Changes a tool of an agent, for who may edit it.',
    delete: 'Takes a tool away from its agent, with the secrets found in it. Answers what it was.',
  },
});
