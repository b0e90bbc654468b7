import { builder } from '../builder/builder.ts';

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
        'A string; an array of parts (`{type: "text", text}`, `{type: "image_url", image_url: {url, detail}}`, or the `input_` spellings); null beside tool calls.',
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
  fields: (t) => ({
    name: t.string({ required: true, description: '1 to 64 letters, digits, `_` or `-`; unique in the request.' }),
    description: t.string({ required: false, description: 'What it does: the model chooses by it.' }),
    parameters: t.field({ type: 'JSON', required: false, description: 'JSON Schema of the arguments; none when absent.' }),
    strict: t.boolean({ required: false, description: 'Whether arguments must follow the schema exactly.' }),
  }),
});

export const ToolInput = builder.inputType('CompletionToolInput', {
  description: 'A function of the client, or a tool of the service.',
  fields: (t) => ({
    type: t.string({ required: true, description: '`function`, or the type of a tool of the service.' }),
    function: t.field({ type: FunctionInput, required: false, description: 'For the type `function`.' }),
  }),
});

const StreamOptionsInput = builder.inputType('CompletionStreamOptionsInput', {
  description: 'How a stream is sent over REST.',
  fields: (t) => ({
    includeUsage: t.boolean({ required: false, description: 'Whether a last chunk reports the tokens used.' }),
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
    stream: t.boolean({ required: false, description: 'REST: whether to answer as an event stream.' }),
    streamOptions: t.field({ type: StreamOptionsInput, required: false, description: 'REST: how the stream is sent.' }),
    options: t.field({ type: 'JSON', required: false, description: 'Options of a chat: `{flow: {override, tracing}}`.' }),
    tools: t.field({ type: [ToolInput], required: false, description: 'What the model may call.' }),
    toolChoice: t.field({
      type: 'JSON',
      required: false,
      description: '`"auto"` (the default), `"none"`, `"required"`, or `{type: "function", function: {name}}`.',
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
    stop: t.field({ type: 'JSON', required: false, description: 'A text, or up to 16 texts, before which the answer ends.' }),
    seed: t.float({ required: false, description: 'A whole number: asks the model for the same answer again.' }),
    n: t.int({ required: false, description: 'Only 1.' }),
    responseFormat: t.field({
      type: 'JSON',
      required: false,
      description: '`{type: "text"}`, `{type: "json_object"}` or `{type: "json_schema", json_schema: {name, schema, strict}}`.',
    }),
    reasoningEffort: t.string({
      required: false,
      description: 'none, minimal, low, medium, high or xhigh, for models that reason.',
    }),
    user: t.string({ required: false, description: identifiers.user }),
    safetyIdentifier: t.string({ required: false, description: identifiers.safetyIdentifier }),
    promptCacheKey: t.string({ required: false, description: identifiers.promptCacheKey }),
  }),
});
