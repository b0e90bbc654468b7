import { toolBody } from '../../../wire/agents/tools.ts';
import { type BuilderTypes, builder, type InputBuilder } from '../../ground/builder/builder.ts';
import { byName, flatInput, held, itself, tagged } from '../../ground/builder/flat-inputs.ts';
import { NamedTextInput } from '../../ground/types/named-texts.ts';
import {
  ImageBackgroundType,
  ImageFidelityType,
  ImageFormatType,
  ImageModerationType,
  MemoryToolScopeType,
  SearchContextSizeType,
} from './enums.ts';
import { AttributeFilterInput } from './filters.ts';

/**
 * Tools as GraphQL takes them: of a request, and the standing ones of an agent, which no secret and no file of one user belongs to. Each has its own
 * members only. Their flat form is that of REST.
 */

function approval(t: InputBuilder) {
  return {
    requireApproval: t.boolean({
      required: false,
      description: 'Whether each call waits for approval by a person. Default false.',
    }),
  };
}

const FunctionToolInput = builder.inputType('FunctionToolInput', {
  description: 'A function that the client runs when the model calls it.',
  fields: (t) => ({
    name: t.string({ description: '1 to 64 letters, digits, `_` or `-`; unique in the request.' }),
    description: t.string({ required: false, description: 'What it does: the model chooses by it.' }),
    parameters: t.field({
      type: 'JsonSchema',
      required: false,
      description: 'JSON Schema of the arguments; none when absent.',
    }),
    strict: t.boolean({ required: false, description: 'Whether arguments must follow the schema exactly.' }),
  }),
});

const UserLocationInput = builder.inputType('UserLocationInput', {
  description: 'Where the user is, roughly.',
  fields: (t) => ({
    city: t.string({ required: false, description: 'The city.' }),
    region: t.string({ required: false, description: 'The region.' }),
    country: t.string({ required: false, description: 'The country.' }),
    timezone: t.string({ required: false, description: 'The time zone.' }),
  }),
});

const WebSearchToolInput = flatInput(
  builder.inputType('WebSearchToolInput', {
    description: 'Searches the web.',
    fields: (t) => ({
      ...approval(t),
      contextSize: t.field({
        type: SearchContextSizeType,
        required: false,
        description: 'How much of what is found is read. Default MEDIUM.',
      }),
      userLocation: t.field({ type: UserLocationInput, required: false, description: 'Where the user is.' }),
      allowedDomains: t.stringList({ required: false, description: 'Only there, subdomains included; at most 200.' }),
      blockedDomains: t.stringList({ required: false, description: 'Not there, subdomains included; at most 200.' }),
      includeXSearch: t.boolean({
        required: false,
        description: 'Whether posts of a social network are searched too. Default false.',
      }),
    }),
  }),
  {
    body: toolBody,
    members: {
      contextSize: 'searchContextSize',
      allowedDomains: 'filters.allowedDomains',
      blockedDomains: 'filters.blockedDomains',
    },
  },
);

const FileSearchToolInput = flatInput(
  builder.inputType('FileSearchToolInput', {
    description: 'Searches the knowledge of the agent, and vector stores.',
    fields: (t) => ({
      ...approval(t),
      dataSourceIds: t.idList({ required: false, description: 'Only these data sources of the agent; at most 200.' }),
      vectorStoreIds: t.idList({ required: false, description: 'Only these vector stores; at most 200.' }),
      resultsMax: t.int({ required: false, description: 'Most passages of one search: 1 to 50. Default 10.' }),
      scoreMin: t.float({ required: false, description: 'Only passages with at least this score: 0 to 1.' }),
      filter: t.field({ type: AttributeFilterInput, required: false, description: 'Which items are searched.' }),
    }),
  }),
  {
    body: toolBody,
    members: { resultsMax: 'maxNumResults', scoreMin: 'rankingOptions.scoreThreshold', filter: 'filters' },
  },
);

const PlainToolInput = builder.inputType('PlainToolInput', {
  description: 'A tool without settings of its own.',
  fields: approval,
});

const ImageMaskInput = flatInput<object>(
  builder.inputType('ImageMaskInput', {
    description: 'Where an image is changed.',
    isOneOf: true,
    fields: (t) => ({
      imageUrl: t.string({ required: false, description: 'A data URL with the image in base64.' }),
      fileId: t.id({ required: false, description: 'The id of a file of the chat.' }),
    }),
  }),
  { choices: { imageUrl: held('imageUrl'), fileId: held('fileId') } },
);

function imageFields(t: InputBuilder) {
  return {
    ...approval(t),
    model: t.string({ required: false, description: 'The model that makes them; the default one when absent.' }),
    size: t.string({ required: false, description: 'Width and height, such as `1024x1024`, or `auto`.' }),
    quality: t.string({ required: false, description: 'As the provider names it, such as `high`.' }),
    style: t.string({ required: false, description: 'As the provider names it, such as `vivid`.' }),
    background: t.field({ type: ImageBackgroundType, required: false, description: 'The background.' }),
    outputFormat: t.field({ type: ImageFormatType, required: false, description: 'The format of the images.' }),
    outputCompression: t.int({ required: false, description: 'In percent: 0 to 100.' }),
    moderation: t.field({ type: ImageModerationType, required: false, description: 'How much is refused.' }),
    inputFidelity: t.field({
      type: ImageFidelityType,
      required: false,
      description: 'How close results stay to images that are changed.',
    }),
    count: t.int({ required: false, description: 'How many are made: 1 to 4.' }),
    inputImageMask: t.field({ type: ImageMaskInput, required: false, description: 'Where an image is changed.' }),
  };
}
const imageMembers = { count: 'n' } as const;

const EnabledImageGenerationInput = flatInput(
  builder.inputType('EnabledImageGenerationInput', { description: 'Makes images.', fields: imageFields }),
  { body: toolBody, members: imageMembers },
);
const ImageGenerationToolInput = flatInput(
  builder.inputType('ImageGenerationToolInput', {
    description: 'Makes images.',
    fields: (t) => ({
      ...imageFields(t),
      inputImageId: t.id({ required: false, description: 'A file of the caller: every call changes this image.' }),
    }),
  }),
  { body: toolBody, members: { ...imageMembers, inputImageId: 'inputImage' } },
);

const MemoryToolInput = builder.inputType('MemoryToolInput', {
  description: 'Remembers beyond a conversation.',
  fields: (t) => ({
    ...approval(t),
    scope: t.field({ type: MemoryToolScopeType, required: false, description: 'Whose memories. Default USER.' }),
  }),
});

export const ToolFilterInput = flatInput<object>(
  builder.inputType('ToolFilterInput', {
    description: 'Some tools of an MCP server. Both members together allow what fits both.',
    fields: (t) => ({
      names: t.stringList({ required: false, description: 'By their names at the server; at most 200.' }),
      isReadOnly: t.boolean({
        required: false,
        description: 'True: those that only read, as the server says; false: the others.',
      }),
    }),
  }),
  { members: { names: 'tool_names', isReadOnly: 'read_only' } },
);

function describedServer(t: InputBuilder) {
  return {
    serverDescription: t.string({
      required: false,
      description: 'What the server is for; the model reads the first 1,000 characters.',
    }),
  };
}

function mcpServerFields(t: InputBuilder) {
  return {
    ...approval(t),
    ...describedServer(t),
    server: t.string({ description: 'The name of a server of the operator, or the name or id of a connected one.' }),
    allowedTools: t.field({
      type: ToolFilterInput,
      required: false,
      description: 'Which of its tools may be called. Default: all.',
    }),
  };
}
const EnabledMcpServerInput = builder.inputType('EnabledMcpServerInput', {
  description: 'The tools of an MCP server that is connected.',
  fields: mcpServerFields,
});
const McpServerToolInput = flatInput(
  builder.inputType('McpServerToolInput', {
    description: 'The tools of an MCP server that is connected.',
    fields: (t) => ({
      ...mcpServerFields(t),
      secrets: t.field({
        type: [NamedTextInput],
        required: false,
        description: 'Texts for the references `{{secret:KEY}}` in its headers; never stored.',
      }),
    }),
  }),
  { body: toolBody, members: { secrets: byName } },
);

const McpApprovalRulesInput = builder.inputType('McpApprovalRulesInput', {
  description: 'Which calls wait for approval, by tool. A tool that both rules or none of them name waits.',
  fields: (t) => ({
    always: t.field({ type: ToolFilterInput, required: false, description: 'Calls of these tools wait.' }),
    never: t.field({ type: ToolFilterInput, required: false, description: 'Calls of these tools do not wait.' }),
  }),
});
const McpApprovalInput = flatInput<object>(
  builder.inputType('McpApprovalInput', {
    description: 'Which calls wait for approval by a person.',
    isOneOf: true,
    fields: (t) => ({
      everyCall: t.boolean({ required: false, description: 'True: every call; false: none.' }),
      byTool: t.field({ type: McpApprovalRulesInput, required: false, description: 'By the tool that is called.' }),
    }),
  }),
  { choices: { everyCall: itself, byTool: itself } },
);

function mcpFields(t: InputBuilder) {
  return {
    ...describedServer(t),
    serverLabel: t.string({ description: 'What the server is called here: 1 to 64 letters, digits, `_` or `-`.' }),
    serverUrl: t.string({ description: 'Its address: https, or http where this service may reach it.' }),
    allowedTools: t.field({
      type: ToolFilterInput,
      required: false,
      description: 'Which of its tools may be called. Default: all.',
    }),
    approval: t.field({
      type: McpApprovalInput,
      required: false,
      description: 'Which calls wait for approval. Default: every call.',
    }),
  };
}
const mcpMembers = { approval: 'requireApproval' } as const;

const EnabledMcpInput = flatInput(
  builder.inputType('EnabledMcpInput', { description: 'The tools of an MCP server, by its address.', fields: mcpFields }),
  { body: toolBody, members: mcpMembers },
);
const McpToolInput = flatInput(
  builder.inputType('McpToolInput', {
    description: 'The tools of an MCP server, by its address.',
    fields: (t) => ({
      ...mcpFields(t),
      authorization: t.string({ required: false, description: 'An access token for it; never stored.' }),
      headers: t.field({
        type: [NamedTextInput],
        required: false,
        description: 'Headers of every request to it; never stored.',
      }),
    }),
  }),
  { body: toolBody, members: { ...mcpMembers, headers: byName } },
);

const SubagentToolInput = flatInput(
  builder.inputType('SubagentToolInput', {
    description: 'Asks other agents.',
    fields: (t) => ({ ...approval(t), agentIds: t.idList({ required: false, description: 'The agents; at most 200.' }) }),
  }),
  { body: toolBody, members: { agentIds: 'agents' } },
);

const DeepResearchToolInput = flatInput(
  builder.inputType('DeepResearchToolInput', {
    description: 'Researches in many steps.',
    fields: (t) => ({
      ...approval(t),
      subagentsMax: t.int({ required: false, description: 'Most subagents: 1 to 5.' }),
      tokensMax: t.int({ required: false, description: 'Most tokens of all subagents together: 1,000 to 200,000.' }),
    }),
  }),
  { body: toolBody, members: { subagentsMax: 'budget.subagents', tokensMax: 'budget.tokens' } },
);

/** The tools that a request and an agent name alike. */
function sharedFields(t: PothosSchemaTypes.InputFieldBuilder<BuilderTypes, 'InputObject'>) {
  return {
    webSearch: t.field({ type: WebSearchToolInput, required: false, description: 'Searches the web.' }),
    fileSearch: t.field({ type: FileSearchToolInput, required: false, description: 'Searches knowledge.' }),
    python: t.field({ type: PlainToolInput, required: false, description: 'Runs Python.' }),
    sandbox: t.field({ type: PlainToolInput, required: false, description: 'Works in a closed computer.' }),
    spreadsheet: t.field({ type: PlainToolInput, required: false, description: 'Works on tables.' }),
    memory: t.field({ type: MemoryToolInput, required: false, description: 'Remembers beyond a conversation.' }),
    subagent: t.field({ type: SubagentToolInput, required: false, description: 'Asks other agents.' }),
    deepResearch: t.field({ type: DeepResearchToolInput, required: false, description: 'Researches in many steps.' }),
  };
}
const serviceTools = {
  ...{ webSearch: tagged('type', 'web_search'), fileSearch: tagged('type', 'file_search'), python: tagged('type', 'python') },
  ...{ sandbox: tagged('type', 'sandbox'), spreadsheet: tagged('type', 'spreadsheet'), memory: tagged('type', 'memory') },
  ...{ subagent: tagged('type', 'subagent'), deepResearch: tagged('type', 'deep_research') },
  ...{ imageGeneration: tagged('type', 'image_generation'), mcpServer: tagged('type', 'mcp_server'), mcp: tagged('type', 'mcp') },
};

export const ToolInput = flatInput(
  builder.inputType('ToolInput', {
    description:
      'A function of the client, or a tool of the service. `Query.tools` says which this instance can run; others are refused with TOOL_NOT_AVAILABLE.',
    isOneOf: true,
    fields: (t) => ({
      ...sharedFields(t),
      function: t.field({ type: FunctionToolInput, required: false, description: 'A function of the client.' }),
      imageGeneration: t.field({ type: ImageGenerationToolInput, required: false, description: 'Makes images.' }),
      mcpServer: t.field({ type: McpServerToolInput, required: false, description: 'The tools of a connected MCP server.' }),
      mcp: t.field({ type: McpToolInput, required: false, description: 'The tools of an MCP server, by its address.' }),
    }),
  }),
  { body: toolBody, choices: { ...serviceTools, function: held('function', { type: 'function' }) } },
);

export const EnabledToolInput = flatInput(
  builder.inputType('EnabledToolInput', {
    description: 'A tool of the service that all runs of an agent may use. One that this instance cannot run may be kept.',
    isOneOf: true,
    fields: (t) => ({
      ...sharedFields(t),
      imageGeneration: t.field({ type: EnabledImageGenerationInput, required: false, description: 'Makes images.' }),
      mcpServer: t.field({ type: EnabledMcpServerInput, required: false, description: 'The tools of a connected MCP server.' }),
      mcp: t.field({ type: EnabledMcpInput, required: false, description: 'The tools of an MCP server, by its address.' }),
    }),
  }),
  { body: toolBody, choices: serviceTools },
);
