import { identifiers } from '../../../wire/ground/identifiers.ts';
import { unservedInResponses } from '../../../wire/ground/unserved-members.ts';
import { builder } from '../../ground/builder/builder.ts';
import { ChatOptionsInput, wireInput } from '../../ground/types/json-inputs.ts';
import { unservedFields } from '../../ground/types/unserved-fields.ts';
import { restSecrets } from '../chats/prompts.ts';
import { ChatModeType, ResponseThreadModeType } from './enums.ts';

/** Requests for responses as REST has them, in the common format. The names of the types begin with `Rest`, which OpenAPI does not show. */

const TextFormatInput = builder.inputType('RestResponseTextFormatInput', {
  description: 'What the text of a response is.',
  extensions: wireInput,
  fields: (t) => ({
    type: t.string({ required: false, description: 'text, json_object or json_schema.' }),
    name: t.string({ required: false, description: 'For json_schema: 1 to 64 letters, digits, `_` or `-`.' }),
    description: t.string({ required: false, description: 'For json_schema: what it is for.' }),
    schema: t.field({ type: 'JsonSchema', required: false, description: 'For json_schema: the JSON Schema itself.' }),
    strict: t.boolean({ required: false, description: 'For json_schema: whether it is followed exactly.' }),
  }),
});

const TextInput = builder.inputType('RestResponseTextInput', {
  description: 'The form of the text of a response.',
  extensions: wireInput,
  fields: (t) => ({
    format: t.field({ type: TextFormatInput, required: false, description: 'What the text is. Default: plain text.' }),
    verbosity: t.string({ required: false, description: 'How much is said: low, medium or high.' }),
  }),
});

const ReasoningInput = builder.inputType('RestResponseReasoningInput', {
  description: 'How the model thinks.',
  extensions: wireInput,
  fields: (t) => ({
    effort: t.string({ required: false, description: 'none, minimal, low, medium, high or xhigh.' }),
    summary: t.string({ required: false, description: 'How the thinking is told: auto, concise or detailed.' }),
  }),
});

export const RestResponseInput = builder.inputType('RestResponseInput', {
  description: 'A request of the responses format. Members it does not know are ignored over REST.',
  fields: (t) => ({
    model: t.string({
      required: false,
      description: "The id of a model or of an agent; default: the thread's, else the default model.",
    }),
    input: t.field({
      type: 'JSON',
      required: false,
      description:
        'A string, or an array of items: messages, function calls and their outputs, reasoning, references to items of earlier responses. JSON: a text or a list of many kinds.',
    }),
    instructions: t.string({ required: false, description: 'For this response only: not inherited by later ones.' }),
    tools: t.field({
      type: 'JSON',
      required: false,
      description: 'An array of functions of the caller and tools of the service. JSON: each type has members of its own.',
    }),
    toolChoice: t.field({
      type: 'JSON',
      required: false,
      description:
        'auto, none, required, one tool, or `{type: "allowed_tools", mode, tools}`: a hard limit. JSON: a text or an object.',
    }),
    parallelToolCalls: t.boolean({ required: false, description: 'Whether one turn may have several calls.' }),
    text: t.field({
      type: TextInput,
      required: false,
      description: 'An object: `format` is text, json_object or json_schema with `name`, `schema`, `strict`.',
    }),
    reasoning: t.field({
      type: ReasoningInput,
      required: false,
      description: 'An object: `effort` is none, minimal, low, medium, high or xhigh; `summary` is auto, concise or detailed.',
    }),
    include: t.field({ type: ['String'], required: false, description: 'Further parts of the reply, as the format names them.' }),
    truncation: t.string({
      required: false,
      description: 'disabled (default) refuses what is too long; auto drops the oldest turns.',
    }),
    maxOutputTokens: t.int({ required: false, description: 'Most tokens of one answer of the model; at least 1.' }),
    maxToolCalls: t.int({ required: false, description: 'Most calls of tools of the service in the whole response.' }),
    temperature: t.float({ required: false, description: 'From 0 to 2.' }),
    topP: t.float({ required: false, description: 'From 0 to 1.' }),
    topLogprobs: t.int({ required: false, description: 'From 0 to 20; models that give none are not asked.' }),
    presencePenalty: t.float({ required: false, description: 'From -2 to 2.' }),
    frequencyPenalty: t.float({ required: false, description: 'From -2 to 2.' }),
    metadata: t.field({
      type: 'StringMap',
      required: false,
      description: 'At most 16 texts of 512 characters by names of 64, kept with the response.',
    }),
    previousResponseId: t.string({
      required: false,
      description:
        'The response to go on from: on its thread when it is the newest there, else on a new one that forks behind it.',
    }),
    conversation: t.field({
      type: 'JSON',
      required: false,
      description:
        'The thread to go on with: the id of a chat, or an object with it. Excludes `previousResponseId`. JSON: a text or an object.',
    }),
    store: t.boolean({ required: false, description: 'Whether the response and its thread are kept. Default true.' }),
    background: t.boolean({ required: false, description: 'Whether it continues without a reader. Needs `store`.' }),
    serviceTier: t.string({
      required: false,
      description: 'auto, default, flex, scale or priority: the class of service, for providers that have such.',
    }),
    logitBias: t.field({
      type: 'JSON',
      required: false,
      description:
        'How much likelier tokens are, from -100 to 100, by their ids; for providers that take it. JSON: an object of numbers.',
    }),
    ...unservedFields(t, unservedInResponses),
    safetyIdentifier: t.string({ required: false, description: identifiers.safetyIdentifier.description ?? '' }),
    promptCacheKey: t.string({ required: false, description: identifiers.promptCacheKey.description ?? '' }),
    user: t.string({ required: false, description: identifiers.user.description ?? '' }),
    chatMode: t.field({
      type: ChatModeType,
      required: false,
      description: 'Default execute.',
    }),
    threadMode: t.field({
      type: ResponseThreadModeType,
      required: false,
      description: 'Default collect. Without effect while nothing is at work on the thread, and without `store`.',
    }),
    userSecrets: t.field(restSecrets),
    options: t.field({
      type: ChatOptionsInput,
      required: false,
      description: 'Options of a chat.',
    }),
  }),
});

export const RestResumeResponseInput = builder.inputType('RestResumeResponseInput', {
  description: 'How a paused response goes on.',
  fields: (t) => ({
    input: t.field({ type: 'JSON', required: false, description: 'Further input, as in a new request. JSON: a text or a list.' }),
    background: t.boolean({ required: false, description: 'Whether it continues without a reader.' }),
    userSecrets: t.field({
      type: 'StringMap',
      required: false,
      description: 'Secrets for tools, again: they are not stored.',
    }),
  }),
});
