import type { ObjectFieldsShape, ObjectRef } from '@pothos/core';
import { readFilter } from '../../../engine/knowledge/search/attribute-filter.ts';
import { type AllowedTools, readAllowed } from '../../../engine/tools/mcp/tool-filter.ts';
import type { EnabledTool, ToolType } from '../../../entities/conversations/runs/tool.ts';
import { isObject, type JsonObject, membersOf, readString } from '../../../lib/json/json.ts';
import { type BuilderTypes, builder } from '../../ground/builder/builder.ts';
import { loadNodes } from '../../ground/builder/nodes.ts';
import { AgentRef, DataSourceRef } from '../../ground/refs.ts';
import {
  ImageBackgroundType,
  ImageFidelityType,
  ImageFormatType,
  ImageModerationType,
  MemoryToolScopeType,
  SearchContextSizeType,
  ToolTypeType,
} from './enums.ts';
import { AttributeFilterType } from './filters.ts';

const access = { scope: 'AGENTS:READ' } as const;

const typeNames: Readonly<Record<ToolType, string>> = {
  web_search: 'WebSearchTool',
  file_search: 'FileSearchTool',
  python: 'PythonTool',
  sandbox: 'SandboxTool',
  image_generation: 'ImageGenerationTool',
  spreadsheet: 'SpreadsheetTool',
  memory: 'MemoryTool',
  mcp_server: 'McpServerTool',
  mcp: 'McpTool',
  subagent: 'SubagentTool',
  deep_research: 'DeepResearchTool',
};

/** Callers who may not edit the agent see the type of a tool only: its settings are then null. */
export const EnabledToolType = builder.interfaceRef<EnabledTool>('EnabledTool').implement({
  access,
  description:
    'A tool of the service that all runs of an agent may use. Settings are null where they are not set, and for callers who may not edit the agent.',
  fields: (t) => ({
    type: t.expose('type', { type: ToolTypeType, description: 'The tool.' }),
    requireApproval: t.boolean({
      description: 'Whether every call waits for approval by a person.',
      resolve: ({ type, options, requireApproval }) =>
        type === 'mcp' && options.server_label !== undefined
          ? (options.require_approval ?? 'always') === 'always'
          : requireApproval === true,
    }),
  }),
  resolveType: ({ type }) => typeNames[type],
});

type ToolFields = PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, EnabledTool>;

function toolType(
  type: ToolType,
  description: string,
  fields: ObjectFieldsShape<BuilderTypes, EnabledTool> = () => ({}),
): ObjectRef<BuilderTypes, EnabledTool> {
  return builder.objectRef<EnabledTool>(typeNames[type]).implement({
    access,
    description,
    interfaces: [EnabledToolType],
    fields,
  });
}

function text(t: ToolFields, name: string, description: string) {
  return t.string({ nullable: true, description, resolve: ({ options }) => readString(options[name]) ?? null });
}
function texts(value: unknown): string[] | null {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : null;
}
function whole(value: unknown): number | null {
  return Number.isInteger(value) ? (value as number) : null;
}
const UserLocationType = builder.objectRef<JsonObject>('UserLocation').implement({
  access,
  description: 'Where the user is, roughly.',
  fields: (t) => ({
    city: t.string({ nullable: true, description: 'The city.', resolve: ({ city }) => readString(city) ?? null }),
    region: t.string({ nullable: true, description: 'The region.', resolve: ({ region }) => readString(region) ?? null }),
    country: t.string({ nullable: true, description: 'The country.', resolve: ({ country }) => readString(country) ?? null }),
    timezone: t.string({
      nullable: true,
      description: 'The time zone.',
      resolve: ({ timezone }) => readString(timezone) ?? null,
    }),
  }),
});

toolType('web_search', 'Searches the web.', (t) => ({
  contextSize: t.field({
    type: SearchContextSizeType,
    nullable: true,
    description: 'How much of what is found is read; null: MEDIUM.',
    resolve: ({ options }) => SearchContextSizeType.find(options.search_context_size),
  }),
  userLocation: t.field({
    type: UserLocationType,
    nullable: true,
    description: 'Where the user is.',
    resolve: ({ options }) => (isObject(options.user_location) ? options.user_location : null),
  }),
  allowedDomains: t.stringList({
    nullable: true,
    description: 'Only there, subdomains included.',
    resolve: ({ options }) => texts(membersOf(options.filters).allowed_domains),
  }),
  blockedDomains: t.stringList({
    nullable: true,
    description: 'Not there, subdomains included.',
    resolve: ({ options }) => texts(membersOf(options.filters).blocked_domains),
  }),
  includeXSearch: t.boolean({
    nullable: true,
    description: 'Whether posts of a social network are searched too; null: no.',
    resolve: ({ options }) => {
      const searchFlag = options.includeXSearch ?? options.include_x_search;
      return typeof searchFlag === 'boolean' ? searchFlag : null;
    },
  }),
}));

toolType('file_search', 'Searches the knowledge of the agent, and vector stores.', (t) => ({
  dataSourceIds: t.idList({
    nullable: true,
    description: 'Only these data sources of the agent; null: all.',
    resolve: ({ options }) => texts(options.data_source_ids),
  }),
  dataSources: t.field({
    type: [DataSourceRef],
    nullable: true,
    description: 'Those, as far as the caller may see them.',
    resolve: ({ options }, _args, context) => loadNodes(context, 'dataSource', texts(options.data_source_ids)),
  }),
  vectorStoreIds: t.idList({
    nullable: true,
    description: 'Only these vector stores.',
    resolve: ({ options }) => texts(options.vector_store_ids),
  }),
  resultsMax: t.int({
    nullable: true,
    description: 'Most passages of one search; null: 10.',
    resolve: ({ options }) => whole(options.max_num_results),
  }),
  scoreMin: t.float({
    nullable: true,
    description: 'Only passages with at least this score.',
    resolve: ({ options }) => {
      const { score_threshold: score } = membersOf(options.ranking_options);
      return typeof score === 'number' ? score : null;
    },
  }),
  filter: t.field({
    type: AttributeFilterType,
    nullable: true,
    description: 'Which items are searched; null: all.',
    resolve: ({ options }) => {
      if (!isObject(options.filters)) return null;
      let isFit = true;
      const read = readFilter(options.filters, 'filters', { isFull: false, add: () => (isFit = false) });
      return isFit ? read : null;
    },
  }),
}));

toolType('python', 'Runs Python.');
toolType('sandbox', 'Works in a closed computer.');
toolType('spreadsheet', 'Works on tables.');

const ImageMaskType = builder.objectRef<JsonObject>('ImageMask').implement({
  access,
  description: 'Where an image is changed: one of its members is set.',
  fields: (t) => ({
    imageUrl: t.string({
      nullable: true,
      description: 'A data URL with the image in base64.',
      resolve: (mask) => readString(mask.image_url) ?? null,
    }),
    fileId: t.id({ nullable: true, description: 'A file of the chat.', resolve: (mask) => readString(mask.file_id) ?? null }),
  }),
});

toolType('image_generation', 'Makes images.', (t) => ({
  model: text(t, 'model', 'The model that makes them; null: the default one.'),
  size: text(t, 'size', 'Width and height, such as `1024x1024`, or `auto`.'),
  quality: text(t, 'quality', 'As the provider names it, such as `high`.'),
  style: text(t, 'style', 'As the provider names it, such as `vivid`.'),
  background: t.field({
    type: ImageBackgroundType,
    nullable: true,
    description: 'The background.',
    resolve: ({ options }) => ImageBackgroundType.find(options.background),
  }),
  outputFormat: t.field({
    type: ImageFormatType,
    nullable: true,
    description: 'The format of the images.',
    resolve: ({ options }) => ImageFormatType.find(options.output_format),
  }),
  outputCompression: t.int({
    nullable: true,
    description: 'In percent: 0 to 100.',
    resolve: ({ options }) => whole(options.output_compression),
  }),
  moderation: t.field({
    type: ImageModerationType,
    nullable: true,
    description: 'How much is refused.',
    resolve: ({ options }) => ImageModerationType.find(options.moderation),
  }),
  inputFidelity: t.field({
    type: ImageFidelityType,
    nullable: true,
    description: 'How close results stay to images that are changed.',
    resolve: ({ options }) => ImageFidelityType.find(options.input_fidelity),
  }),
  count: t.int({ nullable: true, description: 'How many are made.', resolve: ({ options }) => whole(options.n) }),
  inputImageMask: t.field({
    type: ImageMaskType,
    nullable: true,
    description: 'Where an image is changed.',
    resolve: ({ options }) => (isObject(options.input_image_mask) ? options.input_image_mask : null),
  }),
}));

toolType('memory', 'Remembers beyond a conversation.', (t) => ({
  scope: t.field({
    type: MemoryToolScopeType,
    nullable: true,
    description: 'Whose memories; null: USER.',
    resolve: ({ options }) => MemoryToolScopeType.find(options.scope),
  }),
}));

/** Which tools of an MCP server are meant. */
export const ToolFilterType = builder.objectRef<AllowedTools>('ToolFilter').implement({
  access,
  description: 'Some tools of an MCP server: those that fit both members.',
  fields: (t) => ({
    names: t.stringList({
      nullable: true,
      description: 'By their names at the server; null: any name.',
      resolve: ({ names }) => (names === undefined ? null : [...names]),
    }),
    isReadOnly: t.boolean({
      nullable: true,
      description: 'True: those that only read, as the server says; false: the others; null: both.',
      resolve: ({ isReadOnly }) => isReadOnly ?? null,
    }),
  }),
});

export function toToolFilter(filterValue: unknown): AllowedTools | null {
  return filterValue === undefined || filterValue === null ? null : readAllowed(filterValue);
}

function allowedTools(t: ToolFields) {
  return {
    allowedTools: t.field({
      type: ToolFilterType,
      nullable: true,
      description: 'Which of its tools may be called; null: all.',
      resolve: ({ options }) => toToolFilter(options.allowed_tools),
    }),
  };
}

/** The names that a configured server may have been given under. */
const serverNames = ['server', 'server_id', 'id', 'name', 'server_label'] as const;

toolType('mcp_server', 'The tools of an MCP server that is connected.', (t) => ({
  server: t.string({
    nullable: true,
    description: 'The name of a server of the operator, or the name or id of a connected one.',
    resolve: ({ options }) => serverNames.map((name) => readString(options[name])).find((name) => name !== undefined) ?? null,
  }),
  serverDescription: text(t, 'server_description', 'What the server is for.'),
  ...allowedTools(t),
}));

const McpApprovalRulesType = builder.objectRef<JsonObject>('McpApprovalRules').implement({
  access,
  description: 'Which calls wait for approval, by tool. A tool that both rules or none of them name waits.',
  fields: (t) => ({
    always: t.field({
      type: ToolFilterType,
      nullable: true,
      description: 'Calls of these tools wait.',
      resolve: ({ always }) => toToolFilter(always),
    }),
    never: t.field({
      type: ToolFilterType,
      nullable: true,
      description: 'Calls of these tools do not wait.',
      resolve: ({ never }) => toToolFilter(never),
    }),
  }),
});

toolType('mcp', 'The tools of an MCP server, by its address.', (t) => ({
  serverLabel: text(t, 'server_label', 'What the server is called here.'),
  serverUrl: text(t, 'server_url', 'Its address.'),
  serverDescription: text(t, 'server_description', 'What the server is for.'),
  ...allowedTools(t),
  approvalRules: t.field({
    type: McpApprovalRulesType,
    nullable: true,
    description: 'Which calls wait for approval, where that goes by tool; null: see `requireApproval`.',
    resolve: ({ options }) => (isObject(options.require_approval) ? options.require_approval : null),
  }),
}));

toolType('subagent', 'Asks other agents.', (t) => ({
  agentIds: t.idList({ nullable: true, description: 'The agents.', resolve: ({ options }) => texts(options.agents) }),
  agents: t.field({
    type: [AgentRef],
    nullable: true,
    description: 'Those, as far as the caller may see them.',
    resolve: ({ options }, _args, context) => loadNodes(context, 'agent', texts(options.agents)),
  }),
}));

toolType('deep_research', 'Researches in many steps.', (t) => ({
  subagentsMax: t.int({
    nullable: true,
    description: 'Most subagents.',
    resolve: ({ options }) => whole(membersOf(options.budget).subagents),
  }),
  tokensMax: t.int({
    nullable: true,
    description: 'Most tokens of all subagents together.',
    resolve: ({ options }) => whole(membersOf(options.budget).tokens),
  }),
}));
