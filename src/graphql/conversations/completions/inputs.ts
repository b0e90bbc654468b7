import type { CompletionInput } from '../../../domain/conversations/completions/input.ts';
import { samplingOptionList } from '../../../entities/agents/options.ts';
import { completionBody, completionMessage, toolCall } from '../../../wire/completions/request.ts';
import { describe } from '../../../wire/ground/body.ts';
import { optionMembers } from '../../agents/inputs.ts';
import { ToolInput } from '../../agents/tools/inputs.ts';
import { builder } from '../../ground/builder/builder.ts';
import { byName, flatInput, held, itself, tagged } from '../../ground/builder/flat-inputs.ts';
import { ChatOptionsInput } from '../../ground/types/json-inputs.ts';
import { NamedTextInput } from '../../ground/types/named-texts.ts';
import { ImageDetailType } from '../runs/items/parts.ts';
import {
  formatOfCompletions,
  ReasoningEffortType,
  ServiceTierType,
  secretsDescription,
  TextFormatInput,
  ToolChoiceInput,
  VerbosityType,
} from '../runs/request-inputs.ts';

const ImageInput = builder.inputType('CompletionImageInput', {
  description: 'An image by its address.',
  fields: (t) => ({
    url: t.string({ description: 'An http(s) address, or a data URL with the image in base64.' }),
    detail: t.field({ type: ImageDetailType, required: false, description: 'How closely the model looks. Default AUTO.' }),
  }),
});

const FileInput = flatInput<object>(
  builder.inputType('CompletionFileInput', {
    description: 'A file by its content. What is no image is given to the model as the text in it.',
    fields: (t) => ({
      fileData: t.string({ description: 'The file as a data URL in base64.' }),
      filename: t.string({ required: false, description: 'Its name; at most 255 characters.' }),
    }),
  }),
  { members: { fileData: 'file_data' } },
);

const PartInput = flatInput<object>(
  builder.inputType('CompletionPartInput', {
    description: 'A part of a message of the user.',
    isOneOf: true,
    fields: (t) => ({
      text: t.string({ required: false, description: 'A text.' }),
      image: t.field({ type: ImageInput, required: false, description: 'An image.' }),
      file: t.field({ type: FileInput, required: false, description: 'A file.' }),
      fileId: t.id({ required: false, description: 'A file of a chat of the caller.' }),
      url: t.string({ required: false, description: 'An http(s) address: the model is given what is there.' }),
    }),
  }),
  {
    choices: {
      text: held('text', { type: 'text' }),
      image: held('image_url', { type: 'image_url' }),
      file: held('file', { type: 'file' }),
      fileId: held('id', { type: 'id' }),
      url: held('url', { type: 'url' }),
    },
  },
);

const ContentInput = flatInput<unknown>(
  builder.inputType('CompletionContentInput', {
    description: 'What a user says: a text, or parts.',
    isOneOf: true,
    fields: (t) => ({
      text: t.string({ required: false, description: 'A text.' }),
      parts: t.field({ type: [PartInput], required: false, description: 'Parts in their order.' }),
    }),
  }),
  { choices: { text: itself, parts: itself } },
);

const ToolCallInput = flatInput(
  builder.inputType('CompletionToolCallInput', {
    description: 'A call that an earlier answer asked for.',
    fields: (t) => ({
      id: t.string({ description: 'The id that its output refers to.' }),
      name: t.string({ description: 'The function that was called.' }),
      arguments: t.string({ description: 'Its arguments as JSON text.' }),
    }),
  }),
  { body: toolCall, members: { name: 'function.name', arguments: 'function.arguments' } },
);

const ReasoningDetailInput = builder.inputType('CompletionReasoningDetailInput', {
  description: 'A thought of an earlier answer, as it was received.',
  fields: (t) => ({
    data: t.string({ required: true, description: 'The thought, with what its provider demands to see again.' }),
  }),
});

const AssistantMessageInput = flatInput<object>(
  builder.inputType('CompletionAssistantMessageInput', {
    description: 'An earlier answer.',
    fields: (t) => ({
      text: t.string({ required: false, description: 'What it said, also a refusal; absent beside calls alone.' }),
      toolCalls: t.field({ type: [ToolCallInput], required: false, description: 'Calls that it asked for.' }),
      reasoning: t.string({ required: false, description: 'What it thought; given back where the model provider takes it.' }),
      reasoningDetails: t.field({
        type: [ReasoningDetailInput],
        required: false,
        description: 'Its thoughts as they were received: what the model provider demands to see again.',
      }),
    }),
  }),
  { members: { text: 'content', reasoning: 'reasoningContent' } },
);

const ToolMessageInput = flatInput<object>(
  builder.inputType('CompletionToolMessageInput', {
    description: 'The output of a call.',
    fields: (t) => ({
      toolCallId: t.string({ description: 'The call.' }),
      output: t.string({ description: 'What it gave.' }),
    }),
  }),
  { members: { output: 'content' } },
);

const MessageInput = flatInput(
  builder.inputType('CompletionMessageInput', {
    description: 'One message of the conversation so far.',
    isOneOf: true,
    fields: (t) => ({
      system: t.string({ required: false, description: 'What the model is instructed to do.' }),
      user: t.field({ type: ContentInput, required: false, description: 'What the user says.' }),
      assistant: t.field({ type: AssistantMessageInput, required: false, description: 'An earlier answer.' }),
      toolOutput: t.field({ type: ToolMessageInput, required: false, description: 'The output of a call that it asked for.' }),
    }),
  }),
  {
    body: completionMessage,
    choices: {
      system: held('content', { role: 'system' }),
      user: held('content', { role: 'user' }),
      assistant: tagged('role', 'assistant'),
      toolOutput: tagged('role', 'tool'),
    },
  },
);

const samplingMembers = samplingOptionList.map(({ requestDescription, ...option }) => ({
  ...option,
  description: requestDescription ?? option.description,
}));

export const CompletionInputType = flatInput<CompletionInput>(
  builder.inputType('CompletionInput', {
    description: 'A request for a completion.',
    fields: (t) => ({
      model: t.string({ description: 'The id of a model or of an agent.' }),
      messages: t.field({ type: [MessageInput], description: 'The whole conversation so far; at least one message.' }),
      options: t.field({ type: ChatOptionsInput, required: false, description: 'How the run is made.' }),
      tools: t.field({ type: [ToolInput], required: false, description: 'What the model may call.' }),
      toolChoice: t.field({
        type: ToolChoiceInput,
        required: false,
        description: 'How the model chooses among the tools. Default AUTO.',
      }),
      parallelToolCalls: t.boolean({
        required: false,
        description: 'Whether one turn of the model may have several calls.',
      }),
      generateCitations: t.boolean({
        required: false,
        description: "Whether the answer cites the passages it rests on. Default: the agent's setting; false for a plain model.",
      }),
      ...optionMembers(t, samplingMembers),
      stop: t.stringList({ required: false, description: 'Texts before which the answer ends; at most 16.' }),
      seed: t.float({ required: false, description: 'A whole number: asks the model for the same answer again.' }),
      format: t.field({ type: TextFormatInput, required: false, description: 'What the text is. Default TEXT.' }),
      reasoningEffort: t.field({
        type: ReasoningEffortType,
        required: false,
        description: 'How hard the model thinks, for models that do.',
      }),
      topLogprobs: t.int({
        required: false,
        description: 'How many likely tokens are told for each position, from 0 to 20, by providers that have them.',
      }),
      verbosity: t.field({ type: VerbosityType, required: false, description: 'How much is said, for models that take it.' }),
      serviceTier: t.field({ type: ServiceTierType, required: false, description: 'The class of service. Default AUTO.' }),
      secrets: t.field({ type: [NamedTextInput], required: false, description: secretsDescription }),
      user: t.string({ required: false, description: describe(completionBody, 'user') }),
      safetyIdentifier: t.string({ required: false, description: describe(completionBody, 'safetyIdentifier') }),
      promptCacheKey: t.string({ required: false, description: describe(completionBody, 'promptCacheKey') }),
    }),
  }),
  {
    body: completionBody,
    members: {
      ...Object.fromEntries(samplingMembers.map(({ name, graphName = name }) => [graphName, name])),
      format: { name: 'responseFormat', ...formatOfCompletions },
      secrets: byName,
    },
  },
);
