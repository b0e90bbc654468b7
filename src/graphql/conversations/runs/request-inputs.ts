import { serviceTiers } from '../../../engine/models/port.ts';
import { ToolTypeType } from '../../agents/tools/enums.ts';
import { builder } from '../../ground/builder/builder.ts';
import { type Conversion, flatInput, held, itself, type Place, tagged } from '../../ground/builder/flat-inputs.ts';
import { createEnum } from '../../ground/types/enums.ts';

/** What requests for completions and for responses have in common. */

export const toolChoiceModes = ['auto', 'none', 'required'] as const;
export const ToolChoiceModeType = createEnum('ToolChoiceMode', 'Whether the model calls a tool.', toolChoiceModes, {
  auto: 'As it likes.',
  none: 'It calls none.',
  required: 'It must call one.',
});

const ServiceToolChoiceInput = flatInput<object>(
  builder.inputType('ServiceToolChoiceInput', {
    description: 'A tool of the service among those of the request or of the agent.',
    fields: (t) => ({
      type: t.field({ type: ToolTypeType, description: 'The tool.' }),
      serverLabel: t.string({ required: false, description: 'Of an MCP server: its label.' }),
      name: t.string({ required: false, description: 'Of an MCP server: one of its tools.' }),
    }),
  }),
  { members: { serverLabel: 'server_label' } },
);

const ChosenToolInput = flatInput<object>(
  builder.inputType('ChosenToolInput', {
    description: 'A tool among those of the request.',
    isOneOf: true,
    fields: (t) => ({
      function: t.string({ required: false, description: 'The name of a function of the caller.' }),
      tool: t.field({ type: ServiceToolChoiceInput, required: false, description: 'A tool of the service.' }),
    }),
  }),
  { choices: { function: held('name', { type: 'function' }), tool: itself } },
);

const AllowedToolsInput = builder.inputType('AllowedToolsInput', {
  description: 'The tools that may be called: a hard limit.',
  fields: (t) => ({
    mode: t.field({ type: ToolChoiceModeType, required: false, description: 'Whether one of them is called. Default AUTO.' }),
    tools: t.field({ type: [ChosenToolInput], description: 'The tools.' }),
  }),
});

export const ToolChoiceInput = flatInput<unknown>(
  builder.inputType('ToolChoiceInput', {
    description: 'How the model chooses among the tools.',
    isOneOf: true,
    fields: (t) => ({
      mode: t.field({ type: ToolChoiceModeType, required: false, description: 'Among all of them.' }),
      function: t.string({ required: false, description: 'It must call the function of the caller with this name.' }),
      tool: t.field({ type: ServiceToolChoiceInput, required: false, description: 'It must call this tool of the service.' }),
      allowed: t.field({ type: AllowedToolsInput, required: false, description: 'It may call these tools only.' }),
    }),
  }),
  {
    choices: {
      mode: itself,
      function: held('name', { type: 'function' }),
      tool: itself,
      allowed: tagged('type', 'allowed_tools'),
    },
  },
);

export const textFormatTypes = ['text', 'json_object', 'json_schema'] as const;
const PlainFormatType = createEnum('PlainTextFormat', 'What a text is, without a schema.', ['text', 'json_object'], {
  text: 'Plain text.',
  json_object: 'A JSON object of any shape.',
});

const JsonSchemaFormatInput = flatInput<object>(
  builder.inputType('JsonSchemaFormatInput', {
    description: 'JSON that follows a schema.',
    fields: (t) => ({
      name: t.string({ description: 'What it is called: 1 to 64 letters, digits, `_` or `-`.' }),
      description: t.string({ required: false, description: 'What it is for.' }),
      schema: t.field({ type: 'JsonSchema', description: 'The JSON Schema.' }),
      isStrict: t.boolean({ required: false, description: 'Whether it is followed exactly.' }),
    }),
  }),
  { members: { isStrict: 'strict' } },
);

/** Its flat form is that of responses; `formatOfCompletions` makes that of completions. */
export const TextFormatInput = flatInput<object>(
  builder.inputType('TextFormatInput', {
    description: 'What the text of an answer is.',
    isOneOf: true,
    fields: (t) => ({
      plain: t.field({ type: PlainFormatType, required: false, description: 'Text, or JSON of any shape.' }),
      jsonSchema: t.field({ type: JsonSchemaFormatInput, required: false, description: 'JSON that follows a schema.' }),
    }),
  }),
  { choices: { plain: held('type'), jsonSchema: tagged('type', 'json_schema') } },
);

/** The members of the schema stand under `json_schema` there. */
export const formatOfCompletions: Conversion = {
  flatten: (value) => {
    const { type, ...schema } = value as { readonly type: string };
    return type === 'json_schema' ? { type, json_schema: schema } : { type };
  },
  place: ([first, ...rest]: Place) => (first === 'json_schema' ? rest : first === undefined ? [] : [first, ...rest]),
};

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export const ReasoningEffortType = createEnum('ReasoningEffort', 'How hard a model thinks that can.', efforts, {
  none: 'Not at all.',
  minimal: 'As little as it can.',
  low: 'A little.',
  medium: 'As most questions need.',
  high: 'Much.',
  xhigh: 'Very much.',
  max: 'As much as it can; for models that have it.',
});

const reasoningSummaries = ['auto', 'concise', 'detailed'] as const;
export const ReasoningSummaryType = createEnum('ReasoningSummary', 'How the thinking of a model is told.', reasoningSummaries, {
  auto: 'As the model likes.',
  concise: 'In short.',
  detailed: 'At length.',
});

const verbosities = ['low', 'medium', 'high'] as const;
export const VerbosityType = createEnum('Verbosity', 'How much is said.', verbosities, {
  low: 'Little.',
  medium: 'As most questions need.',
  high: 'Much.',
});

export const truncations = ['disabled', 'auto'] as const;
export const TruncationType = createEnum('Truncation', 'What becomes of a conversation that is too long.', truncations, {
  disabled: 'It is refused.',
  auto: 'Its oldest turns are left out.',
});

export const ServiceTierType = createEnum('ServiceTier', 'The class of service, for providers that have such.', serviceTiers, {
  auto: 'As the provider is set up.',
  default: 'The ordinary one.',
  flex: 'Cheaper and slower.',
  scale: 'Bought ahead.',
  priority: 'Faster and dearer.',
});

export const secretsDescription = 'Secrets for tools: at most 50 of 4 KB each. Never stored, logged or shown to the model.';
export const metadataDescription = 'Texts to keep with it: at most 16 of 512 characters, by names of 64.';
