import {
  listServerTools,
  type OfferedTool,
  type ServerListing,
  type ToolTrial,
  tryAgentTool,
} from '../../../domain/conversations/runs/tool-trial.ts';
import { McpListedToolType } from '../../agents/tools/mcp-listed-tool.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loadNode } from '../../ground/builder/nodes.ts';
import { AgentRef } from '../../ground/refs.ts';
import { OutputFileType } from './parts.ts';

const access = { scope: 'AGENTS:READ' } as const;

const ToolTrialType = builder.objectRef<ToolTrial>('ToolTrial').implement({
  access,
  description: 'One call of a tool of an agent, outside a run.',
  fields: (t) => ({
    output: t.string({
      description: 'What the model would read; of a call that failed, why.',
      resolve: ({ output, error }) => error?.message ?? output,
    }),
    isError: t.boolean({ description: 'Whether the call failed.', resolve: ({ error }) => error !== null }),
    durationMs: t.exposeInt('durationMs', { description: 'How long the call took.' }),
    files: t.field({
      type: [OutputFileType],
      description: 'Files that the tool made. They are not stored.',
      resolve: ({ files }) => [...(files ?? [])],
    }),
  }),
});

const OfferedToolType = builder.objectRef<OfferedTool>('McpOfferedTool').implement({
  access,
  description: 'A tool that the server of an agent has now.',
  fields: (t) => ({
    tool: t.expose('tool', { type: McpListedToolType, description: 'The tool, in the words of the server.' }),
    isAllowed: t.exposeBoolean('isAllowed', { description: 'Whether runs may call it, by `allowedTools` of the settings.' }),
  }),
});

const ServerListingType = builder.objectRef<ServerListing>('McpServerListing').implement({
  access,
  description: 'What the MCP server of an agent offers now.',
  fields: (t) => ({
    agentId: t.exposeID('agentId', { description: 'The agent that has the server.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'That agent.',
      resolve: ({ agentId }, _args, context) => loadNode(context, 'agent', agentId),
    }),
    tools: t.expose('tools', { type: [OfferedToolType], description: 'Its tools, at most 128.' }),
    leftOutCount: t.exposeInt('leftOutCount', { description: 'How many more it has, which runs do not offer.' }),
    unavailableReason: t.exposeString('unavailableReason', {
      nullable: true,
      description: 'Why the server cannot be used now; null when it can.',
    }),
  }),
});

const id = { description: 'The id of the tool.' };

builder.queryField('agentToolTools', (t) =>
  t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: ServerListingType,
    description: 'Asks the server of a tool of the type MCP_SERVER which tools it has. For who may edit the agent.',
    args: { id: t.arg.id(id) },
    resolve: (_root, place, { deps, caller, signal }) => listServerTools(deps, caller, place, signal),
  }),
);

builder.mutationField('tryAgentTool', (t) =>
  t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: ToolTrialType,
    description:
      'Calls a tool of an agent once, as a run of the caller would: its effects are real. For who may edit the agent. A function of the client cannot be tried.',
    args: {
      id: t.arg.id(id),
      arguments: t.arg({
        type: 'JSON',
        required: false,
        description: 'The arguments, an object. JSON: its form is that of the parameters of the tool. Default: none.',
      }),
      tool: t.arg.string({ required: false, description: 'Of an MCP server, and required there: the name of the tool to call.' }),
    },
    resolve: (_root, { id: toolId, ...input }, { deps, caller, signal }) =>
      tryAgentTool(deps, caller, { id: toolId }, input, signal),
  }),
);
