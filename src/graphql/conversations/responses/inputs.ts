import type { z } from 'zod';
import { toolInFormat } from '../../../domain/agents/tools/read.ts';
import { camelCase } from '../../../http/input/names.ts';
import { describe } from '../../../wire/ground/body.ts';
import { type ResponseInput, responseBody, resumeBody } from '../../../wire/responses/request.ts';
import { ToolInput } from '../../agents/tools/inputs.ts';
import { builder } from '../../ground/builder/builder.ts';
import { byName, type Conversion, flatInput } from '../../ground/builder/flat-inputs.ts';
import { ChatOptionsInput } from '../../ground/types/json-inputs.ts';
import { NamedTextInput } from '../../ground/types/named-texts.ts';
import { RunInput } from '../runs/items/inputs.ts';
import {
  metadataDescription,
  ReasoningEffortType,
  ReasoningSummaryType,
  ServiceTierType,
  secretsDescription,
  TextFormatInput,
  ToolChoiceInput,
  TruncationType,
  VerbosityType,
} from '../runs/request-inputs.ts';
import { ChatModeType, ResponseThreadModeType } from './enums.ts';

/** The tools of a response are in the spelling of its format. */
const inFormat: Conversion = {
  flatten: toolsInFormat,
  place: (place) => place.map((name) => (typeof name === 'string' ? camelCase(name) : name)),
};

export const ResponseInputType = flatInput<ResponseInput>(
  builder.inputType('ResponseInput', {
    description: 'A request for a response.',
    fields: (t) => ({
      model: t.string({
        required: false,
        description: "The id of a model or of an agent; default: the thread's, else the default model.",
      }),
      input: t.field({
        type: RunInput,
        required: false,
        description: 'What the model is given. Required unless the request goes on with a thread.',
      }),
      instructions: t.string({ required: false, description: 'For this response only: not inherited by later ones.' }),
      tools: t.field({ type: [ToolInput], required: false, description: 'What the model may call.' }),
      toolChoice: t.field({
        type: ToolChoiceInput,
        required: false,
        description: 'How the model chooses among the tools. Default AUTO.',
      }),
      parallelToolCalls: t.boolean({ required: false, description: 'Whether one turn may have several calls. Default true.' }),
      format: t.field({ type: TextFormatInput, required: false, description: 'What the text is. Default TEXT.' }),
      verbosity: t.field({ type: VerbosityType, required: false, description: 'How much is said.' }),
      reasoningEffort: t.field({
        type: ReasoningEffortType,
        required: false,
        description: 'How hard the model thinks, for models that do.',
      }),
      reasoningSummary: t.field({
        type: ReasoningSummaryType,
        required: false,
        description: 'How the thinking is told.',
      }),
      truncation: t.field({
        type: TruncationType,
        required: false,
        description: 'What becomes of a conversation that is too long. Default DISABLED.',
      }),
      maxOutputTokens: t.int({ required: false, description: 'Most tokens of one answer of the model; at least 1.' }),
      maxToolCalls: t.int({ required: false, description: 'Most calls of tools of the service in the whole response.' }),
      temperature: t.float({ required: false, description: 'From 0 to 2.' }),
      topP: t.float({ required: false, description: 'From 0 to 1.' }),
      topLogprobs: t.int({
        required: false,
        description: 'How many likely tokens are told for each position, from 0 to 20; models that give none are not asked.',
      }),
      presencePenalty: t.float({ required: false, description: 'From -2 to 2.' }),
      frequencyPenalty: t.float({ required: false, description: 'From -2 to 2.' }),
      metadata: t.field({ type: [NamedTextInput], required: false, description: metadataDescription }),
      previousResponseId: t.id({
        required: false,
        description:
          'The response to go on from: on its thread when it is the newest there, else on a new one that forks behind it.',
      }),
      chatId: t.id({
        required: false,
        description: 'The chat to go on with. Excludes `previousResponseId`.',
      }),
      store: t.boolean({ required: false, description: 'Whether the response and its thread are kept. Default true.' }),
      background: t.boolean({ required: false, description: 'Whether it continues without a reader. Needs `store`.' }),
      serviceTier: t.field({
        type: ServiceTierType,
        required: false,
        description: 'The class of service. Default AUTO.',
      }),
      safetyIdentifier: t.string({ required: false, description: describe(responseBody, 'safetyIdentifier') }),
      promptCacheKey: t.string({ required: false, description: describe(responseBody, 'promptCacheKey') }),
      user: t.string({ required: false, description: describe(responseBody, 'user') }),
      chatMode: t.field({ type: ChatModeType, required: false, description: 'Which tools it may call. Default EXECUTE.' }),
      threadMode: t.field({
        type: ResponseThreadModeType,
        required: false,
        description: 'Default COLLECT. Without effect while nothing is at work on the thread, and without `store`.',
      }),
      secrets: t.field({ type: [NamedTextInput], required: false, description: secretsDescription }),
      options: t.field({ type: ChatOptionsInput, required: false, description: 'How the run is made.' }),
    }),
  }),
  {
    body: responseBody,
    members: {
      tools: inFormat,
      format: 'text.format',
      verbosity: 'text.verbosity',
      reasoningEffort: 'reasoning.effort',
      reasoningSummary: 'reasoning.summary',
      metadata: byName,
      chatId: 'conversation',
      secrets: { name: 'userSecrets', ...byName },
    },
  },
);

export const ResumeResponseInputType = flatInput<z.output<typeof resumeBody>>(
  builder.inputType('ResumeResponseInput', {
    description: 'How a paused response goes on.',
    fields: (t) => ({
      input: t.field({ type: RunInput, required: false, description: 'What the model is given besides.' }),
      background: t.boolean({ required: false, description: 'Whether it continues without a reader.' }),
      secrets: t.field({
        type: [NamedTextInput],
        required: false,
        description: 'Secrets for tools, again: they are not stored.',
      }),
    }),
  }),
  { body: resumeBody, members: { secrets: { name: 'userSecrets', ...byName } } },
);

function toolsInFormat(tools: unknown): unknown {
  return Array.isArray(tools) ? tools.map(toolInFormat) : tools;
}
