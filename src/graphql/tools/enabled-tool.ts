import type { EnabledTool } from '../../entities/runs/tool.ts';
import { isObject } from '../../lib/json.ts';
import { builder } from '../builder/builder.ts';

const textMembers = {
  searchContextSize: 'web_search: how much of what is found is read: low, medium or high.',
  model: 'image_generation: the model that makes them.',
  size: 'image_generation: such as `1024x1024`.',
  quality: 'image_generation: such as `high`.',
  background: 'image_generation: transparent, opaque or auto.',
  outputFormat: 'image_generation: png, jpeg or webp.',
  style: 'image_generation: such as `vivid`.',
  moderation: 'image_generation: how much is refused: auto or low.',
  inputFidelity: 'image_generation: how close results stay to images that were given: high or low.',
  server: 'mcp_server: the name or the id of the integration.',
  serverId: 'mcp_server: the id of the integration.',
  name: 'mcp_server: the name of the integration.',
  serverLabel: 'mcp: the name of the server. mcp_server: the name of the integration.',
  serverUrl: 'mcp: the address of the server.',
  fileId: 'spreadsheet: the file that holds the tables.',
  scope: 'memory: user or agent.',
} as const;
const listMembers = {
  dataSourceIds: 'file_search: only these data sources of the agent.',
  vectorStoreIds: 'file_search: only these vector stores.',
  fileIds: 'spreadsheet: the files that hold them.',
  agents: 'subagent: the ids of the agents.',
} as const;

const SearchFiltersType = builder.objectRef<Readonly<Record<string, unknown>>>('ToolSearchFilters').implement({
  description: 'Where to search.',
  fields: (t) => ({
    allowedDomains: t.stringList({ nullable: true, description: 'Only there.', resolve: (it) => listOf(it.allowed_domains) }),
    blockedDomains: t.stringList({ nullable: true, description: 'Not there.', resolve: (it) => listOf(it.blocked_domains) }),
  }),
});

/** A standing tool of an agent, with the members of `CompletionToolInput`, so that it can be given back as it is. */
export const EnabledToolType = builder.objectRef<EnabledTool>('EnabledTool').implement({
  description: 'A tool of the service that all runs of an agent may use.',
  fields: (t) => {
    const text = (name: string, description: string) =>
      t.string({ nullable: true, description, resolve: ({ options }) => textOf(options[wireName(name)]) });
    const list = (name: string, description: string) =>
      t.stringList({ nullable: true, description, resolve: ({ options }) => listOf(options[wireName(name)]) });
    const whole = (name: string, description: string) =>
      t.int({ nullable: true, description, resolve: ({ options }) => numberOf(options[wireName(name)]) });
    const from = <Names extends Readonly<Record<string, string>>, Field>(
      names: Names,
      make: (name: string, description: string) => Field,
    ) =>
      Object.fromEntries(Object.entries(names).map(([name, description]) => [name, make(name, description)])) as Record<
        keyof Names,
        Field
      >;
    return {
      type: t.exposeString('type', { description: 'The type of the tool.' }),
      requireApproval: t.field({
        type: 'ToolApproval',
        description:
          'Whether each call waits for approval. mcp: also `always` (the default), `never`, or `{always: {tool_names}, never: {tool_names}}`.',
        resolve: approvalOf,
      }),
      allowedTools: t.field({
        type: 'ToolNames',
        nullable: true,
        description: 'mcp_server, mcp: the tools that may be called, as names or as `{tool_names, read_only}`; null: all.',
        resolve: ({ options: { allowed_tools: allowed } }) => (isObject(allowed) ? allowed : listOf(allowed)),
      }),
      includeXSearch: t.boolean({
        nullable: true,
        description: 'web_search: whether posts of a social network are searched too.',
        resolve: ({ options }) => (typeof options.includeXSearch === 'boolean' ? options.includeXSearch : null),
      }),
      filters: t.field({
        type: SearchFiltersType,
        nullable: true,
        description: 'web_search: where to search.',
        resolve: ({ options }) => (isObject(options.filters) ? options.filters : null),
      }),
      n: whole('n', 'image_generation: how many are made.'),
      outputCompression: whole('outputCompression', 'image_generation: in percent.'),
      maxNumResults: whole('maxNumResults', 'file_search: most passages of one search.'),
      ...from(textMembers, text),
      ...from(listMembers, list),
    };
  },
});

/** Callers who see only the type of a tool see no default either. */
function approvalOf({ type, options, requireApproval }: EnabledTool): unknown {
  if (type !== 'mcp' || requireApproval === true || options.server_label === undefined) return requireApproval === true;
  return options.require_approval ?? 'always';
}

function wireName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function listOf(value: unknown): readonly string[] | null {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : null;
}
