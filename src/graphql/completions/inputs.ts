import { builder } from '../builder/builder.ts';
import { restOnly } from '../builder/rest-only.ts';
import { ChatOptionsInput, eitherSpelling, openInput, strictInput, wireInput } from '../types/json-inputs.ts';

const ToolCallFunctionInput = builder.inputType('CompletionToolCallFunctionInput', {
  description: 'Which function an assistant message called.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the function.' }),
    arguments: t.string({ required: true, description: 'Its arguments as JSON text.' }),
  }),
});

const ToolCallInput = builder.inputType('CompletionToolCallInput', {
  description: 'A call that an earlier assistant message asked for.',
  fields: (t) => ({
    id: t.string({ required: true, description: 'The id that the message with its output refers to.' }),
    type: t.string({ required: false, description: 'Always `function`.' }),
    function: t.field({ type: ToolCallFunctionInput, required: true, description: 'The called function.' }),
  }),
});

const MessageInput = builder.inputType('CompletionMessageInput', {
  description: 'One message of the conversation so far.',
  fields: (t) => ({
    role: t.string({ required: true, description: 'system, developer (the same), user, assistant or tool.' }),
    content: t.field({
      type: 'JSON',
      required: false,
      description:
        'A string; an array of parts; null beside tool calls. Parts: `{type: "text", text}`, `{type: "image_url", image_url: {url, detail}}`, `{type: "file", file: {file_data, file_id, filename}}`, or the `input_` spellings; `{type: "id", id}` (a file of a chat of the caller) and `{type: "url", url}` as chats take them. JSON: a text or a list.',
    }),
    toolCalls: t.field({
      type: [ToolCallInput],
      required: false,
      description: 'Calls of an assistant message, as they were received.',
    }),
    toolCallId: t.string({ required: false, description: 'On a message with the role tool: the call whose output this is.' }),
  }),
});

const FunctionInput = builder.inputType('CompletionFunctionInput', {
  description: 'A function that the client runs when the model calls it.',
  extensions: openInput,
  fields: (t) => ({
    name: t.string({ required: true, description: '1 to 64 letters, digits, `_` or `-`; unique in the request.' }),
    description: t.string({ required: false, description: 'What it does: the model chooses by it.' }),
    parameters: t.field({ type: 'JsonSchema', required: false, description: 'JSON Schema of the arguments; none when absent.' }),
    strict: t.boolean({ required: false, description: 'Whether arguments must follow the schema exactly.' }),
  }),
});

const UserLocationInput = builder.inputType('ToolUserLocationInput', {
  description: 'Where the user is, roughly.',
  fields: (t) => ({
    type: t.string({ required: false, description: 'How exact it is: `approximate`.' }),
    city: t.string({ required: false, description: 'The city.' }),
    country: t.string({ required: false, description: 'The country.' }),
    region: t.string({ required: false, description: 'The region.' }),
    timezone: t.string({ required: false, description: 'The time zone.' }),
  }),
});

const SearchFiltersInput = builder.inputType('ToolSearchFiltersInput', {
  description: 'What is searched: domains for `web_search`, attributes of files for `file_search`.',
  fields: (t) => ({
    allowedDomains: t.stringList({ required: false, description: 'web_search: only there, subdomains included.' }),
    blockedDomains: t.stringList({ required: false, description: 'web_search: not there, subdomains included.' }),
    type: t.string({ required: false, description: 'file_search: eq, ne, gt, gte, lt, lte, in, nin, and, or.' }),
    key: t.string({
      required: false,
      description:
        'file_search: an attribute of files in vector stores, or data_source_id, source_type, mime_type, path, updated_at.',
    }),
    value: t.field({
      type: 'JSON',
      required: false,
      description: 'file_search: what it is compared with. JSON: a text, a number, a boolean, or a list of those for in and nin.',
    }),
    filters: t.field({
      type: 'JSON',
      required: false,
      description: 'file_search: the parts of and, or. JSON: a list of such filters, which nest up to 8 levels.',
    }),
  }),
});

const ToolRankingOptionsInput = builder.inputType('ToolRankingOptionsInput', {
  description: 'How the results of `file_search` are ranked.',
  fields: (t) => ({
    ranker: t.string({ required: false, description: 'auto or none.' }),
    scoreThreshold: t.float({ required: false, description: 'Only results with at least this score: 0 to 1.' }),
  }),
});

const ImageMaskInput = builder.inputType('ToolImageInput', {
  description: 'An image that is changed.',
  fields: (t) => ({
    imageUrl: t.string({ required: false, description: 'An address, or a data URL with the image in base64.' }),
    fileId: t.string({ required: false, description: 'The id of a file of a chat.' }),
  }),
});

const ResearchBudgetInput = builder.inputType('ToolResearchBudgetInput', {
  description: 'What deep research may spend.',
  fields: (t) => ({
    subagents: t.int({ required: false, description: 'Most subagents.' }),
    tokens: t.int({ required: false, description: 'Most tokens of all subagents together.' }),
  }),
});

/** A function of the caller, whatever the rest of the value is. */
function isFunctionTool(value: { readonly type?: unknown }): boolean {
  return value.type === 'function';
}

export const ToolInput = builder.inputType('CompletionToolInput', {
  description:
    'A function of the client, or a tool of the service. `Query.tools` says which this instance can run; others are refused with TOOL_NOT_AVAILABLE. Over REST, members may be written in snake_case or in camelCase.',
  extensions: { ...eitherSpelling, ...strictInput(), isOpen: isFunctionTool },
  fields: (t) => {
    const text = (description: string) => t.string({ required: false, description });
    const texts = (description: string) => t.stringList({ required: false, description });
    return {
      type: t.string({
        required: true,
        description:
          '`function`, or a tool of the service: `web_search`, `file_search`, `python`, `sandbox`, `image_generation`, `spreadsheet`, `memory`, `mcp_server`, `mcp`, `subagent`, `deep_research`.',
      }),
      function: t.field({ type: FunctionInput, required: false, description: 'For the type `function`.' }),
      includeXSearch: t.boolean({
        required: false,
        description: 'web_search: whether posts of a social network are searched too.',
      }),
      searchContextSize: text('web_search: how much of what is found is read: low, medium or high.'),
      userLocation: t.field({ type: UserLocationInput, required: false, description: 'web_search: where the user is.' }),
      filters: t.field({ type: SearchFiltersInput, required: false, description: 'web_search, file_search: what is searched.' }),
      container: t.field({
        type: 'JSON',
        required: false,
        description: 'python, sandbox: only `{type: "auto"}`, the default. JSON: a text or an object.',
      }),
      model: text('image_generation: the model that makes them.'),
      size: text('image_generation: such as `1024x1024`.'),
      quality: text('image_generation: such as `high`.'),
      background: text('image_generation: transparent, opaque or auto.'),
      outputFormat: text('image_generation: png, jpeg or webp.'),
      style: text('image_generation: such as `vivid`.'),
      moderation: text('image_generation: how much is refused: auto or low.'),
      inputFidelity: text('image_generation: how close results stay to images that were given: high or low.'),
      outputCompression: t.int({ required: false, description: 'image_generation: in percent.' }),
      n: t.int({ required: false, description: 'image_generation: how many are made.' }),
      inputImage: text('image_generation: the id of a file of the caller: every call changes this image.'),
      inputImageMask: t.field({
        type: ImageMaskInput,
        required: false,
        description: 'image_generation: where an image is changed.',
      }),
      requireApproval: t.field({
        type: 'ToolApproval',
        required: false,
        description:
          'Whether each call of a tool of the service waits for approval. mcp: also `always` (the default), `never`, or `{always: {tool_names}, never: {tool_names}}`.',
      }),
      server: text('mcp_server: the name or the id of the integration.'),
      serverUrl: text('mcp: the address of the server.'),
      authorization: text('mcp: an access token for it; never stored.'),
      headers: t.field({ type: 'StringMap', required: false, description: 'mcp: headers of every request to it; never stored.' }),
      secrets: t.field({
        type: 'StringMap',
        required: false,
        description: 'mcp_server: texts for the references `{{secret:KEY}}` in its headers; never stored.',
      }),
      dataSourceIds: texts('file_search: only these data sources of the agent.'),
      vectorStoreIds: texts('file_search: only these vector stores.'),
      maxNumResults: t.int({ required: false, description: 'file_search: most passages of one search.' }),
      rankingOptions: t.field({
        type: ToolRankingOptionsInput,
        required: false,
        description: 'file_search: how results are ranked.',
      }),
      agents: texts('subagent: the ids of the agents.'),
      budget: t.field({ type: ResearchBudgetInput, required: false, description: 'deep_research: what it may spend.' }),
      serverId: text('mcp_server: the id of the integration.'),
      serverLabel: text('mcp: the name of the server in this request. mcp_server: the name of the integration.'),
      serverDescription: text('mcp_server, mcp: what the server is for; the model reads the first 1,000 characters.'),
      name: text('mcp_server: the same.'),
      allowedTools: t.field({
        type: 'ToolNames',
        required: false,
        description: 'mcp_server, mcp: the tools that may be called, as names or as `{tool_names, read_only}`.',
      }),
      fileId: text('spreadsheet: refused, because the tool works with the files of the chat by their names.'),
      fileIds: texts('spreadsheet: refused like `fileId`.'),
      scope: text('memory: `user`: memories of the user with all agents; `agent`: with this agent only.'),
    };
  },
});

const StreamOptionsInput = builder.inputType('CompletionStreamOptionsInput', {
  description: 'How a stream is sent over REST.',
  fields: (t) => ({
    includeUsage: t.boolean({ required: false, description: 'Whether a last chunk reports the tokens used.' }),
    includeExtensions: t.boolean({
      required: false,
      description: 'Whether the reply has what the common format does not know, such as citations that only the agent asks for.',
    }),
  }),
});

const FormatSchemaInput = builder.inputType('CompletionJsonSchemaInput', {
  description: 'The schema that an answer in JSON follows.',
  extensions: wireInput,
  fields: (t) => ({
    name: t.string({ required: false, description: 'What it is called.' }),
    description: t.string({ required: false, description: 'Accepted as in the completions format, and not used.' }),
    schema: t.field({ type: 'JsonSchema', required: false, description: 'The JSON Schema itself.' }),
    strict: t.boolean({ required: false, description: 'Whether it is followed exactly.' }),
  }),
});

const ResponseFormatInput = builder.inputType('CompletionResponseFormatInput', {
  description: 'What the text of an answer is.',
  extensions: wireInput,
  fields: (t) => ({
    type: t.string({ required: false, description: 'text, json_object or json_schema.' }),
    json_schema: t.field({
      type: FormatSchemaInput,
      required: false,
      description: 'For the type json_schema. Named as in the completions format.',
    }),
  }),
});

/** Shared with responses. */
export const identifiers = {
  user: 'A name of your own for your end user, handed on to the provider of the model.',
  safetyIdentifier: 'The newer name of `user` for the prevention of abuse; handed on to the provider of the model.',
  promptCacheKey: 'Requests that begin alike and name the same key share a cache, where the provider has one.',
} as const;

export const CompletionInputType = builder.inputType('CompletionInput', {
  description: 'A request of the common completions format. Members it does not know are ignored over REST.',
  fields: (t) => ({
    model: t.string({ required: true, description: 'The id of a model or of an agent.' }),
    messages: t.field({
      type: [MessageInput],
      required: true,
      description: 'The whole conversation so far; at least one message.',
    }),
    stream: t.boolean({ required: false, extensions: restOnly, description: 'REST: whether to answer as an event stream.' }),
    streamOptions: t.field({
      type: StreamOptionsInput,
      required: false,
      extensions: restOnly,
      description: 'REST: how the stream is sent.',
    }),
    options: t.field({
      type: ChatOptionsInput,
      required: false,
      description: 'Options of a chat: `{flow: {override, tracing}}`.',
    }),
    tools: t.field({ type: [ToolInput], required: false, description: 'What the model may call.' }),
    toolChoice: t.field({
      type: 'JSON',
      required: false,
      description:
        '`"auto"` (the default), `"none"`, `"required"`, `{type: "function", function: {name}}`, the type of a tool of the service as `{type}`, or `{type: "allowed_tools", allowed_tools: {mode, tools}}`. JSON: a text or an object.',
    }),
    parallelToolCalls: t.boolean({ required: false, description: 'Whether one turn of the model may have several calls.' }),
    generateCitations: t.boolean({
      required: false,
      description: "Whether the answer cites the passages it rests on. Default: the agent's setting; false for a plain model.",
    }),
    maxTokens: t.int({ required: false, description: 'Most tokens of the answer.' }),
    maxCompletionTokens: t.int({ required: false, description: 'The newer name of maxTokens; it wins.' }),
    temperature: t.float({ required: false, description: '0 to 2.' }),
    topP: t.float({ required: false, description: '0 to 1.' }),
    topK: t.int({ required: false, description: 'How many candidates are sampled from, where the model can.' }),
    frequencyPenalty: t.float({ required: false, description: '-2 to 2.' }),
    presencePenalty: t.float({ required: false, description: '-2 to 2.' }),
    stop: t.field({
      type: 'Texts',
      required: false,
      description: 'A text, or up to 16 texts, before which the answer ends.',
    }),
    seed: t.float({ required: false, description: 'A whole number: asks the model for the same answer again.' }),
    n: t.int({ required: false, description: 'Only 1.' }),
    responseFormat: t.field({
      type: ResponseFormatInput,
      required: false,
      description: '`{type: "text"}`, `{type: "json_object"}` or `{type: "json_schema", json_schema: {name, schema, strict}}`.',
    }),
    reasoningEffort: t.string({
      required: false,
      description: 'none, minimal, low, medium, high or xhigh, for models that reason.',
    }),
    secrets: t.field({
      type: 'StringMap',
      required: false,
      description: 'Secrets for tools, by name: at most 50 of 4 KB each. Never stored, logged or shown to the model.',
    }),
    user: t.string({ required: false, description: identifiers.user }),
    safetyIdentifier: t.string({ required: false, description: identifiers.safetyIdentifier }),
    promptCacheKey: t.string({ required: false, description: identifiers.promptCacheKey }),
  }),
});
