import { identifiers } from '../../../wire/ground/identifiers.ts';
import { unservedInCompletions } from '../../../wire/ground/unserved-members.ts';
import { ToolInput } from '../../agents/tools/inputs.ts';
import { builder } from '../../ground/builder/builder.ts';
import { ChatOptionsInput, wireInput } from '../../ground/types/json-inputs.ts';
import { unservedFields } from '../../ground/types/unserved-fields.ts';
import { restSecrets } from '../chats/prompts.ts';

/** A request for a completion as REST has it, in the common format. The names of the types begin with `Rest`, which OpenAPI does not show. */

const ToolCallFunctionInput = builder.inputType('RestCompletionToolCallFunctionInput', {
  description: 'Which function an assistant message called.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the function.' }),
    arguments: t.string({ required: true, description: 'Its arguments as JSON text.' }),
  }),
});

export const RestToolCallInput = builder.inputType('RestCompletionToolCallInput', {
  description: 'A call that an earlier assistant message asked for.',
  fields: (t) => ({
    id: t.string({ required: true, description: 'The id that the message with its output refers to.' }),
    type: t.string({ required: false, description: 'Always `function`.' }),
    function: t.field({ type: ToolCallFunctionInput, required: true, description: 'The called function.' }),
  }),
});

export const RestMessageInput = builder.inputType('RestCompletionMessageInput', {
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
      type: [RestToolCallInput],
      required: false,
      description: 'Calls of an assistant message, as they were received.',
    }),
    refusal: t.string({
      required: false,
      description: 'On an assistant message without content: the words with which the model declined to answer.',
    }),
    toolCallId: t.string({ required: false, description: 'On a message with the role tool: the call whose output this is.' }),
    reasoningContent: t.string({
      required: false,
      description: 'What an assistant message thought; given back where the model provider takes it.',
    }),
    reasoningDetails: t.field({
      type: ['JSON'],
      required: false,
      description:
        'Thoughts of an assistant message, as they were received: what the model provider demands to see again. Each entry is JSON: it belongs to a provider.',
    }),
  }),
});

const FormatSchemaInput = builder.inputType('RestCompletionJsonSchemaInput', {
  description: 'The schema that an answer in JSON follows.',
  extensions: wireInput,
  fields: (t) => ({
    name: t.string({ required: false, description: 'What it is called.' }),
    description: t.string({ required: false, description: 'Accepted as in the completions format, and not used.' }),
    schema: t.field({ type: 'JsonSchema', required: false, description: 'The JSON Schema itself.' }),
    strict: t.boolean({ required: false, description: 'Whether it is followed exactly.' }),
  }),
});

const ResponseFormatInput = builder.inputType('RestCompletionResponseFormatInput', {
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

export const RestCompletionInput = builder.inputType('RestCompletionInput', {
  description: 'A request of the common completions format. Members it does not know are ignored over REST.',
  fields: (t) => ({
    model: t.string({ required: true, description: 'The id of a model or of an agent.' }),
    messages: t.field({
      type: [RestMessageInput],
      required: true,
      description: 'The whole conversation so far; at least one message.',
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
    logprobs: t.boolean({
      required: false,
      description: 'Whether tokens are told with their log probabilities, by providers that have them.',
    }),
    topLogprobs: t.int({ required: false, description: 'How many likely tokens are told for each position, from 0 to 20.' }),
    logitBias: t.field({
      type: 'JSON',
      required: false,
      description:
        'How much likelier tokens are, from -100 to 100, by their ids; for providers that take it. JSON: an object of numbers.',
    }),
    verbosity: t.string({ required: false, description: 'How much is said: low, medium or high, for models that take it.' }),
    serviceTier: t.string({
      required: false,
      description: 'auto, default, flex, scale or priority: the class of service, for providers that have such.',
    }),
    responseFormat: t.field({
      type: ResponseFormatInput,
      required: false,
      description: '`{type: "text"}`, `{type: "json_object"}` or `{type: "json_schema", json_schema: {name, schema, strict}}`.',
    }),
    reasoningEffort: t.string({
      required: false,
      description: 'none, minimal, low, medium, high or xhigh, for models that reason.',
    }),
    secrets: t.field(restSecrets),
    ...unservedFields(t, unservedInCompletions),
    user: t.string({ required: false, description: identifiers.user.description ?? '' }),
    safetyIdentifier: t.string({ required: false, description: identifiers.safetyIdentifier.description ?? '' }),
    promptCacheKey: t.string({ required: false, description: identifiers.promptCacheKey.description ?? '' }),
  }),
});
