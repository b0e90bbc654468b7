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
  inputImage: 'image_generation: the file that every call changes.',
  inputFidelity: 'image_generation: how close results stay to images that were given: high or low.',
  server: 'mcp_server: the name or the id of the integration.',
  serverId: 'mcp_server: the id of the integration.',
  name: 'mcp_server: the name of the integration.',
  serverLabel: 'mcp: the name of the server. mcp_server: the name of the integration.',
  serverDescription: 'mcp_server, mcp: what the server is for.',
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

type Members = Readonly<Record<string, unknown>>;

const SearchFiltersType = builder.objectRef<Members>('ToolSearchFilters').implement({
  description: 'What is searched: domains for `web_search`, attributes of files for `file_search`.',
  fields: (t) => ({
    allowedDomains: t.stringList({
      nullable: true,
      description: 'web_search: only there.',
      resolve: (it) => listOf(it.allowed_domains),
    }),
    blockedDomains: t.stringList({
      nullable: true,
      description: 'web_search: not there.',
      resolve: (it) => listOf(it.blocked_domains),
    }),
    type: t.string({
      nullable: true,
      description: 'file_search: eq, ne, gt, gte, lt, lte, in, nin, and, or.',
      resolve: ({ type }) => textOf(type),
    }),
    key: t.string({ nullable: true, description: 'file_search: the attribute.', resolve: ({ key }) => textOf(key) }),
    value: t.field({
      type: 'JSON',
      nullable: true,
      description: 'file_search: what it is compared with. JSON: a text, a number, a boolean, or a list of those.',
      resolve: ({ value }) => value ?? null,
    }),
    filters: t.field({
      type: 'JSON',
      nullable: true,
      description: 'file_search: the parts of and, or. JSON: a list of such filters.',
      resolve: ({ filters }) => filters ?? null,
    }),
  }),
});

const UserLocationType = builder.objectRef<Members>('ToolUserLocation').implement({
  description: 'Where the user is, roughly.',
  fields: (t) => {
    const text = (name: string, description: string) =>
      t.string({ nullable: true, description, resolve: (it) => textOf(it[name]) });
    return {
      type: text('type', 'How exact it is: `approximate`.'),
      city: text('city', 'The city.'),
      country: text('country', 'The country.'),
      region: text('region', 'The region.'),
      timezone: text('timezone', 'The time zone.'),
    };
  },
});

const RankingOptionsType = builder.objectRef<Members>('ToolRankingOptions').implement({
  description: 'How the results of `file_search` are ranked.',
  fields: (t) => ({
    ranker: t.string({ nullable: true, description: 'auto or none.', resolve: ({ ranker }) => textOf(ranker) }),
    scoreThreshold: t.float({
      nullable: true,
      description: 'Only results with at least this score.',
      resolve: (it) => numberOf(it.score_threshold),
    }),
  }),
});

const ImageMaskType = builder.objectRef<Members>('ToolImage').implement({
  description: 'An image that is changed.',
  fields: (t) => ({
    imageUrl: t.string({ nullable: true, description: 'Its address.', resolve: (it) => textOf(it.image_url) }),
    fileId: t.string({ nullable: true, description: 'The id of a file of a chat.', resolve: (it) => textOf(it.file_id) }),
  }),
});

const ResearchBudgetType = builder.objectRef<Members>('ToolResearchBudget').implement({
  description: 'What deep research may spend.',
  fields: (t) => ({
    subagents: t.int({ nullable: true, description: 'Most subagents.', resolve: (it) => numberOf(it.subagents) }),
    tokens: t.int({
      nullable: true,
      description: 'Most tokens of all subagents together.',
      resolve: (it) => numberOf(it.tokens),
    }),
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
        description: 'web_search, file_search: what is searched.',
        resolve: ({ options }) => membersOf(options.filters),
      }),
      userLocation: t.field({
        type: UserLocationType,
        nullable: true,
        description: 'web_search: where the user is.',
        resolve: ({ options }) => membersOf(options.user_location),
      }),
      container: t.field({
        type: 'JSON',
        nullable: true,
        description: 'python, sandbox: a name, or `{type: "auto"}`. JSON: a text or an object.',
        resolve: ({ options }) => options.container ?? null,
      }),
      inputImageMask: t.field({
        type: ImageMaskType,
        nullable: true,
        description: 'image_generation: where an image is changed.',
        resolve: ({ options }) => membersOf(options.input_image_mask),
      }),
      rankingOptions: t.field({
        type: RankingOptionsType,
        nullable: true,
        description: 'file_search: how results are ranked.',
        resolve: ({ options }) => membersOf(options.ranking_options),
      }),
      budget: t.field({
        type: ResearchBudgetType,
        nullable: true,
        description: 'deep_research: what it may spend.',
        resolve: ({ options }) => membersOf(options.budget),
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

function membersOf(value: unknown): Members | null {
  return isObject(value) ? value : null;
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
