import type { JsonSchema } from '../declarations.ts';
import {
  added,
  behaves,
  choice,
  choiceByType,
  constant,
  flag,
  integer,
  list,
  object,
  oneOfTexts,
  orNull,
  record,
  ref,
  text,
} from './schema.ts';

/** Tools of the responses format, and how a request lets the model choose among them. */

const functionName = text('1 to 64 letters, digits, `_` or `-`; unique in the request.', { pattern: '^[A-Za-z0-9_-]{1,64}$' });
const parameters = orNull(record('JSON Schema of the arguments; none when absent.'));

/** A tool of the service: what else it says is kept and repeated in the response. */
function serverTool(type: string, description: string, members: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  return { ...object(description, { type: constant(type), ...members }), additionalProperties: true };
}

type Members = Readonly<Record<string, JsonSchema>>;
const some = (description: string) => orNull(text(description, { maxLength: 2_000 }));
const texts = (description: string) => list(description, { type: 'string', maxLength: 2_000 }, { maxItems: 200 });
const oneOf = (description: string, values: readonly string[]) => orNull(oneOfTexts(description, values));
const textOrRecord = (description: string): JsonSchema => ({
  description,
  anyOf: [{ type: 'string' }, { type: 'object', additionalProperties: true }, { type: 'null' }],
});

const webSearch: Members = {
  'includeXSearch?': added(
    orNull(flag('Whether posts of a social network are searched too; also taken as `include_x_search`.', { default: false })),
    'web-search-include-x-search',
  ),
  'search_context_size?': oneOf('How much of what is found is read.', ['low', 'medium', 'high']),
  'user_location?': orNull(
    object('Where the user is, roughly.', {
      'type?': oneOf('How exact it is.', ['approximate']),
      'city?': some('The city.'),
      'country?': some('The country.'),
      'region?': some('The region.'),
      'timezone?': some('The time zone.'),
    }),
  ),
  'filters?': orNull(
    object('Where to search.', {
      'allowed_domains?': orNull(texts('Only there.')),
      'blocked_domains?': orNull(texts('Not there.')),
    }),
  ),
};
const container: Members = { 'container?': textOrRecord('Where it runs.') };
const images: Members = {
  'model?': some('The model that makes them.'),
  'size?': some('Such as `1024x1024`.'),
  'quality?': some('Such as `high`.'),
  'style?': some('The style.'),
  'background?': oneOf('The background.', ['transparent', 'opaque', 'auto']),
  'output_format?': oneOf('The format of the images.', ['png', 'jpeg', 'webp']),
  'moderation?': oneOf('How much is refused.', ['auto', 'low']),
  'input_fidelity?': oneOf('How close they stay to images that were given.', ['high', 'low']),
  'output_compression?': orNull(integer('In percent.')),
  'partial_images?': orNull(integer('How many come before the last one.')),
  'n?': orNull(integer('How many are made.')),
  'input_image_mask?': orNull(record('Where an image is changed.')),
  'model_configuration?': added(orNull(record('Further settings of the model.'))),
};
const mcpServer: Members = {
  'id?': some('The id of the integration.'),
  'server_id?': some('The same.'),
  'name?': some('Its name.'),
  'server_label?': some('The same.'),
  'server_description?': some('What it is for.'),
  'allowed_tools?': {
    description: 'The tools that may be called.',
    anyOf: [
      { type: 'array', items: { type: 'string' }, maxItems: 200 },
      { type: 'object', additionalProperties: true },
      { type: 'null' },
    ],
  },
};

const makesItems = 'server-tool-items';
const marked = (schema: JsonSchema): JsonSchema => ({ ...schema, ...behaves(makesItems) });

const serverTools: Readonly<Record<string, readonly [schema: string, tool: JsonSchema]>> = {
  web_search: ['WebSearchTool', serverTool('web_search', 'Searches the web.', webSearch)],
  web_search_preview: ['WebSearchPreviewTool', serverTool('web_search_preview', 'The former name of `web_search`.', webSearch)],
  python: ['PythonTool', added(serverTool('python', 'Runs Python.', container), makesItems)],
  code_interpreter: ['CodeInterpreterTool', marked(serverTool('code_interpreter', 'The same as `python`.', container))],
  image_generation: ['ImageGenerationTool', marked(serverTool('image_generation', 'Makes images.', images))],
  mcp_server: [
    'McpServerTool',
    added(
      serverTool('mcp_server', 'Tools of a configured MCP integration: without items of discovery or approval.', mcpServer),
      'mcp-without-discovery',
    ),
  ],
  spreadsheet: [
    'SpreadsheetTool',
    added(
      serverTool('spreadsheet', 'Works on tables.', {
        'file_id?': some('The file that holds them.'),
        'file_ids?': orNull(texts('The files that hold them.')),
      }),
      makesItems,
    ),
  ],
  memory: [
    'MemoryTool',
    added(serverTool('memory', 'Remembers beyond a conversation.', { 'scope?': some('What it is for.') }), makesItems),
  ],
  sandbox: ['SandboxTool', added(serverTool('sandbox', 'Works in a closed computer.', container), makesItems)],
  deep_research: ['DeepResearchTool', added(serverTool('deep_research', 'Researches in many steps.'), makesItems)],
};
const schemaNames = Object.fromEntries(Object.entries(serverTools).map(([type, [name]]) => [type, name]));
/** The tools of an MCP integration have names of their own. */
const serverToolTypes = Object.keys(serverTools).filter((type) => type !== 'mcp_server');

export const toolSchemas: Readonly<Record<string, JsonSchema>> = {
  FunctionToolParam: object('A function of the caller.', {
    type: constant('function'),
    name: functionName,
    'description?': orNull(text('What it does: the model chooses by it.')),
    'parameters?': parameters,
    'strict?': orNull(flag('Whether arguments must follow the schema exactly.')),
  }),
  FunctionTool: object('A function of the caller.', {
    type: constant('function'),
    name: functionName,
    description: orNull(text('What it does.')),
    parameters,
    strict: orNull(flag('Whether arguments must follow the schema exactly.')),
  }),
  ...Object.fromEntries(Object.values(serverTools)),
  ResponseToolParam: choiceByType('A function of the caller, or a tool of the service.', {
    function: 'FunctionToolParam',
    ...schemaNames,
  }),
  ResponseTool: choiceByType('A tool of the request, as the response repeats it.', { function: 'FunctionTool', ...schemaNames }),

  ToolChoiceMode: oneOfTexts('`auto`: the model decides; `none`: no call; `required`: at least one call.', [
    'auto',
    'none',
    'required',
  ]),
  ToolChoiceFunction: object('This function must be called.', {
    type: constant('function'),
    name: text('One of the functions of the request.'),
  }),
  ToolChoiceServerTool: object('This tool of the service must be called.', {
    type: oneOfTexts('The type of one of the tools of the request.', serverToolTypes),
  }),
  ToolChoiceAllowed: object('Only these tools may be called: a hard limit.', {
    type: constant('allowed_tools'),
    'mode?': orNull(oneOfTexts('Whether one of them must be called.', ['auto', 'required', 'none'], { default: 'auto' })),
    tools: list('The tools.', { anyOf: [ref('ToolChoiceFunction'), ref('ToolChoiceServerTool')] }),
  }),
  ResponseToolChoice: choice('How the model chooses among the tools.', [
    'ToolChoiceMode',
    'ToolChoiceFunction',
    'ToolChoiceServerTool',
    'ToolChoiceAllowed',
  ]),
};
