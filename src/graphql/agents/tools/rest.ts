import type { FieldRef, ObjectRef } from '@pothos/core';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { isObject } from '../../../lib/json/json.ts';
import { type BuilderTypes, builder } from '../../ground/builder/builder.ts';

/**
 * Tools as REST has them: one type with the members of all. GraphQL's are in inputs.ts and enabled-tools.ts. The names of the types begin with `Rest`,
 * which OpenAPI does not show.
 */

type Kind = 'String' | 'Strings' | 'Int' | 'Float' | 'Boolean' | 'JSON' | 'ToolNames';
type Member = readonly [kind: Kind | Nested, description: string];
type Members = Readonly<Record<string, Member>>;
/** An object within a tool: `<name>` where it is shown, `<name>Input` where it is given. */
interface Nested {
  readonly name: string;
  readonly description: string;
  readonly members: Members;
}

const userLocation: Nested = {
  name: 'RestToolUserLocation',
  description: 'Where the user is, roughly.',
  members: {
    type: ['String', 'How exact it is: `approximate`.'],
    city: ['String', 'The city.'],
    country: ['String', 'The country.'],
    region: ['String', 'The region.'],
    timezone: ['String', 'The time zone.'],
  },
};
const searchFilters: Nested = {
  name: 'RestToolSearchFilters',
  description: 'What is searched: domains for `web_search`, attributes of files for `file_search`.',
  members: {
    allowedDomains: ['Strings', 'web_search: only there, subdomains included.'],
    blockedDomains: ['Strings', 'web_search: not there, subdomains included.'],
    type: ['String', 'file_search: eq, ne, gt, gte, lt, lte, in, nin, and, or.'],
    key: [
      'String',
      'file_search: an attribute of files in vector stores, or data_source_id, source_type, mime_type, path, updated_at.',
    ],
    value: [
      'JSON',
      'file_search: what it is compared with. JSON: a text, a number, a boolean, or a list of those for in and nin.',
    ],
    filters: ['JSON', 'file_search: the parts of and, or. JSON: a list of such filters, which nest up to 8 levels.'],
  },
};
const rankingOptions: Nested = {
  name: 'RestToolRankingOptions',
  description: 'How the results of `file_search` are ranked.',
  members: {
    ranker: ['String', 'auto or none.'],
    scoreThreshold: ['Float', 'Only results with at least this score: 0 to 1.'],
  },
};
const image: Nested = {
  name: 'RestToolImage',
  description: 'An image that is changed.',
  members: {
    imageUrl: ['String', 'An address, or a data URL with the image in base64.'],
    fileId: ['String', 'The id of a file of a chat.'],
  },
};
const researchBudget: Nested = {
  name: 'RestToolResearchBudget',
  description: 'What deep research may spend.',
  members: {
    subagents: ['Int', 'Most subagents.'],
    tokens: ['Int', 'Most tokens of all subagents together.'],
  },
};

const members = {
  includeXSearch: ['Boolean', 'web_search: whether posts of a social network are searched too.'],
  searchContextSize: ['String', 'web_search: how much of what is found is read: low, medium or high.'],
  userLocation: [userLocation, 'web_search: where the user is.'],
  filters: [searchFilters, 'web_search, file_search: what is searched.'],
  container: ['JSON', 'python, sandbox: only `{type: "auto"}`, the default. JSON: a text or an object.'],
  model: ['String', 'image_generation: the model that makes them.'],
  size: ['String', 'image_generation: such as `1024x1024`.'],
  quality: ['String', 'image_generation: such as `high`.'],
  background: ['String', 'image_generation: transparent, opaque or auto.'],
  outputFormat: ['String', 'image_generation: png, jpeg or webp.'],
  style: ['String', 'image_generation: such as `vivid`.'],
  moderation: ['String', 'image_generation: how much is refused: auto or low.'],
  inputFidelity: ['String', 'image_generation: how close results stay to images that were given: high or low.'],
  outputCompression: ['Int', 'image_generation: in percent.'],
  n: ['Int', 'image_generation: how many are made.'],
  inputImage: ['String', 'image_generation: the id of a file of the caller: every call changes this image.'],
  inputImageMask: [image, 'image_generation: where an image is changed.'],
  server: ['String', 'mcp_server: the name or the id of the integration.'],
  serverUrl: ['String', 'mcp: the address of the server.'],
  dataSourceIds: ['Strings', 'file_search: only these data sources of the agent.'],
  vectorStoreIds: ['Strings', 'file_search: only these vector stores.'],
  maxNumResults: ['Int', 'file_search: most passages of one search.'],
  rankingOptions: [rankingOptions, 'file_search: how results are ranked.'],
  agents: ['Strings', 'subagent: the ids of the agents.'],
  budget: [researchBudget, 'deep_research: what it may spend.'],
  serverId: ['String', 'mcp_server: the id of the integration.'],
  serverLabel: ['String', 'mcp: the name of the server in this request. mcp_server: the name of the integration.'],
  serverDescription: ['String', 'mcp_server, mcp: what the server is for; the model reads the first 1,000 characters.'],
  name: ['String', 'mcp_server: the name of the integration.'],
  allowedTools: ['ToolNames', 'mcp_server, mcp: the tools that may be called, as names or as `{tool_names, read_only}`.'],
  fileId: ['String', 'spreadsheet: refused, because the tool works with the files of the chat by their names.'],
  fileIds: ['Strings', 'spreadsheet: refused like `fileId`.'],
  scope: ['String', 'memory: `user`: memories of the user with all agents; `agent`: with this agent only.'],
} as const satisfies Members;
const approvalDescription =
  'Whether each call of a tool of the service waits for approval. mcp: also `always` (the default), `never`, or `{always: {tool_names}, never: {tool_names}}`.';

type Values = Readonly<Record<string, unknown>>;

/** @param valuesOf  where the stored values of an object stand. */
function outputFields<Shown, Own extends Members>(
  t: PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, Shown>,
  members: Own,
  valuesOf: (shownOptions: Shown) => Values,
): Mapped<Own, FieldRef<BuilderTypes>> {
  return mapped(members, ([kind, description], name) => {
    const type = typeof kind === 'object' ? makeOutput(kind) : kind === 'Strings' ? (['String'] as const) : kind;
    const resolve = (shown: Shown) => shownAs(kind, valuesOf(shown)[wireName(name)]);
    return t.field({ type, nullable: true, description, resolve } as never);
  });
}

function makeOutput({ name, description, members: own }: Nested): ObjectRef<BuilderTypes, Values> {
  return builder
    .objectRef<Values>(name)
    .implement({ access: { scope: 'AGENTS:READ' }, description, fields: (t) => outputFields(t, own, (values) => values) });
}

export const RestEnabledTool = builder.objectRef<EnabledTool>('RestEnabledTool').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A tool of the service that all runs of an agent may use.',
  fields: (t) => ({
    ...outputFields(t, members, ({ options }) => options),
    type: t.exposeString('type', { description: 'The type of the tool.' }),
    requireApproval: t.field({ type: 'ToolApproval', description: approvalDescription, resolve: readApproval }),
  }),
});

/** Callers who see only the type of a tool see no default either. */
function readApproval({ type, options, requireApproval }: EnabledTool): unknown {
  if (type !== 'mcp' || requireApproval === true || options.server_label === undefined) return requireApproval === true;
  return options.require_approval ?? 'always';
}

/** A stored value as its kind; null for one of another kind. */
function shownAs(kind: Member[0], value: unknown): unknown {
  switch (kind) {
    case 'String':
      return typeof value === 'string' ? value : null;
    case 'Int':
    case 'Float':
      return typeof value === 'number' ? value : null;
    case 'Boolean':
      return typeof value === 'boolean' ? value : null;
    case 'JSON':
      return value ?? null;
    case 'ToolNames':
      return isObject(value) ? value : shownAs('Strings', value);
    case 'Strings':
      return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : null;
    default:
      return isObject(value) ? value : null;
  }
}

function wireName(name: string): string {
  return name === 'includeXSearch' ? name : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

type Mapped<Own, Field> = { readonly [Name in keyof Own]: Field };

function mapped<Own extends Members, Field>(members: Own, make: (member: Member, name: string) => Field): Mapped<Own, Field> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, make(member, name)])) as Mapped<Own, Field>;
}
