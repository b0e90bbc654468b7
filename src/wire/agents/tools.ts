import { z } from 'zod';
import { type EnabledTool, toolTypeNames } from '../../entities/conversations/runs/tool.ts';
import { isObject, type JsonObject } from '../../lib/json/json.ts';
import { body, maybe, ofType, readAs } from '../ground/body.ts';
import type { ShownTo } from '../ground/encoder.ts';
import { type Annotations, described, flag, int32, list, number, oneOfTexts, type Sent, text } from '../ground/schema.ts';
import { shapedType } from '../ground/shape.ts';

/** Tools as REST has them: one object with the members of all. */

type Kind = 'String' | 'Strings' | 'Int' | 'Float' | 'Boolean' | 'JSON' | 'ToolNames';
/** `form`: what OpenAPI says of JSON in a request. */
type Member = readonly [kind: Kind | Nested, description: string, form?: Annotations];
type Members = Readonly<Record<string, Member>>;
/** An object within a tool: `<name>` where it is shown, `<name>Input` where it is given. */
interface Nested {
  readonly name: string;
  readonly description: string;
  readonly members: Members;
}

const plain = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }];
const textsByName = { type: 'object', additionalProperties: { type: 'string' } };
const allowedToolsForm = { anyOf: [{ type: 'array', items: { type: 'string' }, maxItems: 200 }, { type: 'object' }] };
const approvalForm = { anyOf: [{ type: 'boolean' }, { type: 'string' }, { type: 'object' }] };

const userLocation: Nested = {
  name: 'ToolUserLocation',
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
  name: 'ToolSearchFilters',
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
      { anyOf: [...plain, { type: 'array', items: { anyOf: plain } }] },
    ],
    filters: [
      'JSON',
      'file_search: the parts of and, or. JSON: a list of such filters, which nest up to 8 levels.',
      { type: 'array', items: { type: 'object' } },
    ],
  },
};
const rankingOptions: Nested = {
  name: 'ToolRankingOptions',
  description: 'How the results of `file_search` are ranked.',
  members: {
    ranker: ['String', 'auto or none.'],
    scoreThreshold: ['Float', 'Only results with at least this score: 0 to 1.'],
  },
};
const image: Nested = {
  name: 'ToolImage',
  description: 'An image that is changed.',
  members: {
    imageUrl: ['String', 'An address, or a data URL with the image in base64.'],
    fileId: ['String', 'The id of a file of a chat.'],
  },
};
const researchBudget: Nested = {
  name: 'ToolResearchBudget',
  description: 'What deep research may spend.',
  members: {
    subagents: ['Int', 'Most subagents.'],
    tokens: ['Int', 'Most tokens of all subagents together.'],
  },
};

/** In the order of replies. */
const members: Members = {
  includeXSearch: ['Boolean', 'web_search: whether posts of a social network are searched too.'],
  searchContextSize: ['String', 'web_search: how much of what is found is read: low, medium or high.'],
  userLocation: [userLocation, 'web_search: where the user is.'],
  filters: [searchFilters, 'web_search, file_search: what is searched.'],
  dataSourceIds: ['Strings', 'file_search: only these data sources of the agent.'],
  vectorStoreIds: ['Strings', 'file_search: only these vector stores.'],
  maxNumResults: ['Int', 'file_search: most passages of one search.'],
  rankingOptions: [rankingOptions, 'file_search: how results are ranked.'],
  container: [
    'JSON',
    'python, sandbox: only `{type: "auto"}`, the default. JSON: a text or an object.',
    { anyOf: [{ type: 'string' }, { type: 'object' }] },
  ],
  model: ['String', 'image_generation: the model that makes them.'],
  size: ['String', 'image_generation: such as `1024x1024`.'],
  quality: ['String', 'image_generation: such as `high`.'],
  background: ['String', 'image_generation: transparent, opaque or auto.'],
  outputFormat: ['String', 'image_generation: png, jpeg or webp.'],
  outputCompression: ['Int', 'image_generation: in percent.'],
  n: ['Int', 'image_generation: how many are made.'],
  style: ['String', 'image_generation: such as `vivid`.'],
  moderation: ['String', 'image_generation: how much is refused: auto or low.'],
  inputFidelity: ['String', 'image_generation: how close results stay to images that were given: high or low.'],
  inputImage: ['String', 'image_generation: the id of a file of the caller: every call changes this image.'],
  inputImageMask: [image, 'image_generation: where an image is changed.'],
  server: ['String', 'mcp_server: the name or the id of the integration.'],
  serverId: ['String', 'mcp_server: the id of the integration.'],
  name: ['String', 'mcp_server: the name of the integration.'],
  serverLabel: ['String', 'mcp: the name of the server in this request. mcp_server: the name of the integration.'],
  serverDescription: ['String', 'mcp_server, mcp: what the server is for; the model reads the first 1,000 characters.'],
  serverUrl: ['String', 'mcp: the address of the server.'],
  allowedTools: [
    'ToolNames',
    'mcp_server, mcp: the tools that may be called, as names or as `{tool_names, read_only}`.',
    allowedToolsForm,
  ],
  fileId: ['String', 'spreadsheet: refused, because the tool works with the files of the chat by their names.'],
  fileIds: ['Strings', 'spreadsheet: refused like `fileId`.'],
  scope: ['String', 'memory: `user`: memories of the user with all agents; `agent`: with this agent only.'],
  agents: ['Strings', 'subagent: the ids of the agents.'],
  budget: [researchBudget, 'deep_research: what it may spend.'],
};
const approvalDescription =
  'Whether each call of a tool of the service waits for approval. mcp: also `always` (the default), `never`, or `{always: {tool_names}, never: {tool_names}}`.';

function inputMembers(declared: Members): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(Object.entries(declared).map(([name, member]) => [name, maybe(member[1], inputMember(member))]));
}

function inputMember([kind, description, form]: Member): z.ZodType {
  switch (kind) {
    case 'String':
      return readAs('String', z.string());
    case 'Strings':
      return list(description, readAs('String', z.string()));
    case 'Int':
      return readAs('Int', z.int());
    case 'Float':
      return readAs('Float', z.number());
    case 'Boolean':
      return readAs('Boolean', z.boolean());
    case 'JSON':
    case 'ToolNames':
      return ofType('JSON', description, form);
    default:
      return body(`${kind.name}Input`, kind.description, inputMembers(kind.members));
  }
}

const functionTool = body(
  'CompletionFunctionInput',
  'A function that the client runs when the model calls it.',
  {
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/)
      .meta({ description: '1 to 64 letters, digits, `_` or `-`; unique in the request.' }),
    description: text('What it does: the model chooses by it.').nullish(),
    parameters: ofType('JsonSchema', 'JSON Schema of the arguments; none when absent.', {
      type: 'object',
      additionalProperties: true,
    }).nullish(),
    strict: flag('Whether arguments must follow the schema exactly.').nullish(),
  },
  { ignoresUnknown: true },
);

/** A tool of a request, or a standing one of an agent. */
export const toolBody = body(
  'CompletionToolInput',
  'A function of the client, or a tool of the service. `Query.tools` says which this instance can run; others are refused with TOOL_NOT_AVAILABLE. Over REST, members may be written in snake_case or in camelCase.',
  {
    ...inputMembers(members),
    type: oneOfTexts(
      '`function`, or a tool of the service: `web_search`, `file_search`, `python`, `sandbox`, `image_generation`, `spreadsheet`, `memory`, `mcp_server`, `mcp`, `subagent`, `deep_research`.',
      ['function', ...toolTypeNames],
    ),
    function: maybe('For the type `function`.', functionTool),
    requireApproval: ofType('JSON', approvalDescription, approvalForm).nullish(),
    authorization: text('mcp: an access token for it; never stored.').nullish(),
    headers: ofType('JSON', 'mcp: headers of every request to it; never stored.', textsByName).nullish(),
    secrets: ofType(
      'JSON',
      'mcp_server: texts for the references `{{secret:KEY}}` in its headers; never stored.',
      textsByName,
    ).nullish(),
  },
  // A function of the caller is taken as it is, whatever else it has.
  { takesEitherSpelling: true, takenMembers: [], isOpen: ({ type }) => type === 'function' },
);

function replyMembers(declared: Members): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(Object.entries(declared).map(([name, member]) => [name, replyMember(member)]));
}

function replyMember([kind, description]: Member): z.ZodType {
  switch (kind) {
    case 'String':
      return text(description).nullable();
    case 'Strings':
      return list(description, z.string()).nullable();
    case 'Int':
      return int32(description).nullable();
    case 'Float':
      return number(description).nullable();
    case 'Boolean':
      return flag(description).nullable();
    case 'JSON':
      return described({ description });
    case 'ToolNames':
      return described({ description, ...allowedToolsForm }).nullable();
    default:
      return shapedType(kind.name, kind.description, replyMembers(kind.members)).nullable().meta({ description });
  }
}

export const shownTool = shapedType('EnabledTool', 'A tool of the service that all runs of an agent may use.', {
  type: text('The type of the tool.'),
  requireApproval: described({ description: approvalDescription, ...approvalForm }),
  ...replyMembers(members),
});

/** A standing tool with the members of all: those that it does not have are null. */
export function showTool(tool: EnabledTool, context: ShownTo): Sent<typeof shownTool> {
  const { type, options } = tool;
  return { type, requireApproval: readApproval(tool), ...showMembers(members, options, context) };
}

/** Callers who see only the type of a tool see no default either. */
function readApproval({ type, options, requireApproval }: EnabledTool): unknown {
  if (type !== 'mcp' || requireApproval === true || options.server_label === undefined) return requireApproval === true;
  return options.require_approval ?? 'always';
}

/** Ids of things that another scope reads. */
const references: ReadonlySet<string> = new Set(['dataSourceIds', 'vectorStoreIds', 'fileId']);

function showMembers(declared: Members, values: JsonObject, context: ShownTo): JsonObject {
  const shown = Object.entries(declared).map(([name, [kind]]) => {
    if (references.has(name) && !context.mayRead(name)) return [name, kind === 'Strings' ? [] : null] as const;
    return [name, showValue(kind, values[storedName(name)], context)] as const;
  });
  return Object.fromEntries(shown);
}

/** A stored value as its kind; null for one of another kind. */
function showValue(kind: Member[0], value: unknown, context: ShownTo): unknown {
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
      return isObject(value) ? value : showValue('Strings', value, context);
    case 'Strings':
      return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : null;
    default:
      return isObject(value) ? showMembers(kind.members, value, context) : null;
  }
}

function storedName(name: string): string {
  return name === 'includeXSearch' ? name : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
