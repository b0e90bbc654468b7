import { z } from 'zod';
import { imagesMax } from '../../entities/conversations/runs/tool.ts';
import {
  type Annotations,
  anyOf,
  behaves,
  choice,
  choiceByType,
  component,
  constant,
  flag,
  integer,
  integerRange,
  isExtension,
  list,
  named,
  object,
  oneOfTexts,
  openComponent,
  record,
  text,
} from '../ground/schema.ts';

/** Tools of the responses format, and how a request lets the model choose among them. */

const nameRule = 'must be 1 to 64 letters, digits, _ or -';
const functionName = text('1 to 64 letters, digits, `_` or `-`; unique in the request.').regex(/^[A-Za-z0-9_-]{1,64}$/, nameRule);
const parameters = record('JSON Schema of the arguments; none when absent.', 'must be a JSON Schema object').nullable();
const strict = flag('Whether arguments must follow the schema exactly.').nullable();

export const functionToolParam = component('FunctionToolParam', 'A function of the caller.', {
  type: constant('function'),
  name: functionName,
  description: text('What it does: the model chooses by it.').nullish(),
  parameters: parameters.optional(),
  strict: strict.optional(),
});
const functionTool = component('FunctionTool', 'A function of the caller.', {
  type: constant('function'),
  name: functionName,
  description: text('What it does.').nullable(),
  parameters,
  strict,
});

const shortText = z.string('must be a string of at most 2000 characters').max(2_000);
const some = (description: string) => shortText.meta({ description }).nullish();
const textsRule = 'must be an array of at most 200 strings';
/** A wrong item is a fault of the whole list. */
const texts = (description: string) =>
  z
    .array(z.unknown(), textsRule)
    .max(200)
    .refine((items) => items.every((item) => shortText.safeParse(item).success), { params: { code: 'INVALID_TYPE' } })
    .meta({ items: { type: 'string', maxLength: 2_000 }, description })
    .nullish();
const createChoice = <const Values extends readonly string[]>(description: string, values: Values) =>
  oneOfTexts(description, values).nullish();
const anything = z.record(z.string(), z.unknown());
const container = {
  container: anyOf(
    'Where it runs: only `{type: "auto"}`, the default, is served.',
    [z.string(), anything],
    'must be a string or an object',
  ).nullish(),
};
const webSearch = {
  includeXSearch: flag('Whether posts of a social network are searched too; also taken as `include_x_search`.', {
    default: false,
    ...isExtension,
    ...behaves('web-search-include-x-search'),
  }).nullish(),
  search_context_size: createChoice('How much of what is found is read.', ['low', 'medium', 'high']),
  user_location: object('Where the user is, roughly.', {
    type: createChoice('How exact it is.', ['approximate']),
    city: some('The city.'),
    country: some('The country.'),
    region: some('The region.'),
    timezone: some('The time zone.'),
  }).nullish(),
  filters: object('Where to search.', {
    allowed_domains: texts('Only there.'),
    blocked_domains: texts('Not there.'),
  }).nullish(),
};
const images = {
  model: some('The model that makes them.'),
  size: some('Such as `1024x1024`.'),
  quality: some('Such as `high`.'),
  style: some('The style.'),
  background: createChoice('The background.', ['transparent', 'opaque', 'auto']),
  output_format: createChoice('The format of the images.', ['png', 'jpeg', 'webp']),
  moderation: createChoice('How much is refused.', ['auto', 'low']),
  input_fidelity: createChoice('How close they stay to images that were given.', ['high', 'low']),
  output_compression: integerRange(0, 100, { description: 'In percent.' }).nullish(),
  partial_images: integer('How many come before the last one.').nullish(),
  n: integerRange(1, imagesMax, { description: 'How many are made.' }).nullish(),
  input_image: some('The id of a file of the caller: every call changes this image.'),
  input_image_mask: record('Where an image is changed.').nullish(),
  model_configuration: record('Further settings of the model.').meta(isExtension).nullish(),
};
const allowedTools = anyOf(
  'The tools that may be called.',
  [z.array(z.string()).max(200), anything],
  `${textsRule}, or an object`,
).nullish();
const mcpServer = {
  server: some('The name of a configured server, or the id of an integration of the agent.'),
  id: some('The same.'),
  server_id: some('The same.'),
  name: some('The same.'),
  server_label: some('The same.'),
  server_description: some('What it is for; the model reads the first 1,000 characters.'),
  allowed_tools: allowedTools,
  secrets: record('Texts for the references `{{secret:KEY}}` in its headers; never stored.').nullish(),
};
const mcp = {
  server_label: text('The name of the server in this request.').regex(/^[A-Za-z0-9_-]{1,64}$/, nameRule),
  server_url: text('Its address: https, or http where this service may reach it.')
    .max(2_000)
    .regex(/^https?:\/\/[^\s/?#@\\]+(?:[/?#]\S*)?$/i, 'must be an http or https address without a user name or password'),
  server_description: some('What it is for; the model reads the first 1,000 characters.'),
  allowed_tools: allowedTools,
  authorization: some('An access token for it; never stored.'),
  headers: record('Headers of every request to it; never stored.').nullish(),
  require_approval: anyOf(
    'Which calls wait for approval: `always` (the default), `never`, or `{always: {tool_names}, never: {tool_names}}`.',
    [z.enum(['always', 'never']), anything],
    'must be "always", "never" or an object',
  ).nullish(),
};
const fileSearch = {
  data_source_ids: texts('Only these data sources of the agent.'),
  vector_store_ids: texts('Only these vector stores.'),
  max_num_results: integerRange(1, 50, { description: 'Most passages of one search: 1 to 50.' }).nullish(),
  filters: record(
    'Only items with these attributes, or with this `data_source_id`, `source_type`, `mime_type`, `path` or `updated_at`.',
  ).nullish(),
  ranking_options: record('How results are ranked: `score_threshold`.').nullish(),
};
/** A number whose upper bound is a setting: its tool checks it, and names both bounds. */
const boundedInteger = (description: string, minimum: number) =>
  z.int('must be an integer').meta({ description, minimum }).nullish();
const deepResearch = {
  budget: object('What it may spend.', {
    subagents: boundedInteger('Most subagents: 1 to 5.', 1),
    tokens: boundedInteger('Most tokens of all subagents together: 1,000 to 200,000.', 1_000),
  }).nullish(),
};
const spreadsheet = {
  file_id: some('Refused: the tool works with the files of the chat, by their names.'),
  file_ids: texts('Refused like `file_id`.'),
};

/** A tool of the service. The response repeats it as it was given; domain/agents/tools/members.ts refuses other members. */
function serverTool<const Type extends string, Shape extends z.ZodRawShape>(
  id: string,
  type: Type,
  description: string,
  shape: Shape,
  marks: Annotations = {},
) {
  const requireApproval = flag('Whether each call waits for approval.', { default: false, ...isExtension }).nullish();
  return openComponent(id, description, { type: constant(type), ...shape, requireApproval }, marks);
}

const isMarked = behaves('server-tool-items');
const isAdded = { ...isExtension, ...isMarked };
const serverTools = [
  serverTool('WebSearchTool', 'web_search', 'Searches the web.', webSearch),
  serverTool('WebSearchPreviewTool', 'web_search_preview', 'The former name of `web_search`.', webSearch),
  serverTool('FileSearchTool', 'file_search', 'Searches the knowledge of the agent.', fileSearch),
  serverTool('PythonTool', 'python', 'Runs Python.', container, isAdded),
  serverTool('CodeInterpreterTool', 'code_interpreter', 'The same as `python`.', container, isMarked),
  serverTool('ImageGenerationTool', 'image_generation', 'Makes images.', images, isMarked),
  serverTool(
    'McpServerTool',
    'mcp_server',
    'Tools of a configured MCP integration: without items of discovery or approval.',
    mcpServer,
    { ...isExtension, ...behaves('mcp-without-discovery') },
  ),
  serverTool('McpTool', 'mcp', 'Tools of an MCP server that the request names.', mcp),
  serverTool('SpreadsheetTool', 'spreadsheet', 'Works on tables.', spreadsheet, isAdded),
  serverTool(
    'MemoryTool',
    'memory',
    'Remembers beyond a conversation.',
    { scope: createChoice('Whose memories: of the user with all agents, or with this agent only.', ['user', 'agent']) },
    isAdded,
  ),
  serverTool('SandboxTool', 'sandbox', 'Works in a closed computer.', container, isAdded),
  serverTool('SubagentTool', 'subagent', 'Asks other agents.', { agents: texts('The ids of the agents.') }, isAdded),
  serverTool('DeepResearchTool', 'deep_research', 'Researches in many steps.', deepResearch, isAdded),
] as const;

export const responseToolParam = named(
  'ResponseToolParam',
  choiceByType('A function of the caller, or a tool of the service.', [functionToolParam, ...serverTools]),
);
export const responseTool = named(
  'ResponseTool',
  choiceByType('A tool of the request, as the response repeats it.', [functionTool, ...serverTools]),
);

export const serverToolTypes = serverTools.map(({ shape }) => shape.type.value);

export const toolChoiceMode = named(
  'ToolChoiceMode',
  oneOfTexts('`auto`: the model decides; `none`: no call; `required`: at least one call.', ['auto', 'none', 'required']),
);
const toolChoiceFunction = component('ToolChoiceFunction', 'This function must be called.', {
  type: constant('function'),
  name: text('One of the functions of the request.'),
});
export const toolChoiceServerTool = component('ToolChoiceServerTool', 'This tool of the service must be called.', {
  type: oneOfTexts('The type of one of the tools of the request.', serverToolTypes),
  server_label: text('Of an MCP server of the request.').optional(),
  name: text('One tool of that server.').nullish(),
});
const toolChoiceAllowed = component('ToolChoiceAllowed', 'Only these tools may be called: a hard limit.', {
  type: constant('allowed_tools'),
  mode: oneOfTexts('Whether one of them must be called.', ['auto', 'required', 'none'], { default: 'auto' }).nullish(),
  tools: list('The tools.', z.union([toolChoiceFunction, toolChoiceServerTool])).min(1),
});
export const responseToolChoice = named(
  'ResponseToolChoice',
  choice('How the model chooses among the tools.', [toolChoiceMode, toolChoiceFunction, toolChoiceServerTool, toolChoiceAllowed]),
);
