import type { ResponseHead, WireObject } from '../../../entities/conversations/runs/response.ts';
import { type EnabledTool, findToolType } from '../../../entities/conversations/runs/tool.ts';
import { isObject, membersOf, readElements, readString } from '../../../lib/json/json.ts';
import { echoIn, type ResponseEcho } from '../../../wire/responses/reply.ts';
import { EnabledToolType } from '../../agents/tools/enabled-tools.ts';
import { ToolTypeType } from '../../agents/tools/enums.ts';
import { builder } from '../../ground/builder/builder.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NamedTextType, namedTexts } from '../../ground/types/named-texts.ts';
import {
  ReasoningEffortType,
  ReasoningSummaryType,
  ToolChoiceModeType,
  TruncationType,
  textFormatTypes,
  toolChoiceModes,
  truncations,
  VerbosityType,
} from './request-inputs.ts';

const access = { scope: 'CHATS:READ' } as const;

const FormatKindType = createEnum('TextFormatType', 'What a text is.', textFormatTypes, {
  text: 'Plain text.',
  json_object: 'A JSON object of any shape.',
  json_schema: 'JSON that follows a schema.',
});

const TextFormatType = builder.objectRef<WireObject>('TextFormat').implement({
  access,
  description: 'What the text of an answer is.',
  fields: (t) => ({
    type: t.field({
      type: FormatKindType,
      description: 'What it is.',
      resolve: ({ type }) => textFormatTypes.find((knownType) => knownType === type) ?? 'text',
    }),
    name: t.string({
      nullable: true,
      description: 'What its schema is called; null without one.',
      resolve: ({ name }) => readString(name) ?? null,
    }),
    description: t.string({
      nullable: true,
      description: 'What its schema is for; null where it is not said.',
      resolve: ({ description }) => readString(description) ?? null,
    }),
    schema: t.field({
      type: 'JsonSchema',
      nullable: true,
      description: 'The JSON Schema that it follows; null without one.',
      resolve: ({ schema }) => schema ?? null,
    }),
    isStrict: t.boolean({
      description: 'Whether the schema is followed exactly.',
      resolve: ({ strict }) => strict === true,
    }),
  }),
});

const FunctionToolType = builder.objectRef<WireObject>('FunctionTool').implement({
  access,
  description: 'A function of the caller.',
  fields: (t) => ({
    name: t.string({ description: 'Its name.', resolve: ({ name }) => readString(name) ?? '' }),
    description: t.string({
      nullable: true,
      description: 'What it does; null where it is not said.',
      resolve: ({ description }) => readString(description) ?? null,
    }),
    parameters: t.field({
      type: 'JsonSchema',
      nullable: true,
      description: 'JSON Schema of its arguments; null for none.',
      resolve: ({ parameters }) => parameters ?? null,
    }),
    isStrict: t.boolean({
      description: 'Whether arguments must follow the schema exactly.',
      resolve: ({ strict }) => strict === true,
    }),
  }),
});

/** How a model chooses among tools. */
interface ToolChoice {
  readonly mode: (typeof toolChoiceModes)[number];
  /** Undefined: all of the request. */
  readonly chosen: readonly WireObject[] | undefined;
}

const ToolChoiceType = builder.objectRef<ToolChoice>('ToolChoice').implement({
  access,
  description: 'How the model chooses among the tools.',
  fields: (t) => ({
    mode: t.expose('mode', { type: ToolChoiceModeType, description: 'Whether it calls one.' }),
    functions: t.stringList({
      nullable: true,
      description: 'The functions of the caller that it may call; null: there is no such limit.',
      resolve: ({ chosen: chosenTools }) =>
        chosenTools?.flatMap(({ type, name }) => (type === 'function' ? String(name) : [])) ?? null,
    }),
    tools: t.field({
      type: [ToolTypeType],
      nullable: true,
      description: 'The tools of the service that it may call; null: there is no such limit.',
      resolve: ({ chosen }) => chosen?.flatMap(({ type }) => findToolType(type) ?? []) ?? null,
    }),
  }),
});

/** What a response was asked, as it is stored with the response. */
export const RunRequestType = builder.objectRef<ResponseEcho>('RunRequest').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What a response was asked. Members are those of `ResponseInput`, with the values that its run uses.',
  fields: (t) => ({
    model: t.exposeString('model', { description: 'The model as the request named it.' }),
    instructions: t.exposeString('instructions', {
      nullable: true,
      description: 'Of this response only; null when the request had none.',
    }),
    previousResponseId: t.exposeID('previous_response_id', {
      nullable: true,
      description: 'The response that it continues, as the request named it.',
    }),
    store: t.exposeBoolean('store', { description: 'Whether it is kept.' }),
    background: t.exposeBoolean('background', { description: 'Whether it continues without a reader.' }),
    maxOutputTokens: t.exposeInt('max_output_tokens', {
      nullable: true,
      description: 'Most tokens of one answer of the model; null for no limit.',
    }),
    maxToolCalls: t.exposeInt('max_tool_calls', {
      nullable: true,
      description: 'Most calls of tools of the service; null for no limit.',
    }),
    parallelToolCalls: t.exposeBoolean('parallel_tool_calls', { description: 'Whether one turn may have several calls.' }),
    temperature: t.exposeFloat('temperature', { description: 'As the request set it, or 1: models have defaults of their own.' }),
    topP: t.exposeFloat('top_p', { description: 'As the request set it, or 1.' }),
    topLogprobs: t.exposeInt('top_logprobs', {
      description: 'How many likely tokens are returned for each position, from 0.',
    }),
    presencePenalty: t.exposeFloat('presence_penalty', { description: 'As the request set it, or 0.' }),
    frequencyPenalty: t.exposeFloat('frequency_penalty', { description: 'As the request set it, or 0.' }),
    reasoningEffort: t.field({
      type: ReasoningEffortType,
      nullable: true,
      description: 'How hard the model thinks; null when the request did not say.',
      resolve: ({ reasoning }) => reasoning.effort,
    }),
    reasoningSummary: t.field({
      type: ReasoningSummaryType,
      nullable: true,
      description: 'How the thinking is told; null when the request did not say.',
      resolve: ({ reasoning }) => reasoning.summary,
    }),
    verbosity: t.field({
      type: VerbosityType,
      nullable: true,
      description: 'How much is said; null when the request did not say.',
      resolve: ({ text }) => text.verbosity ?? null,
    }),
    format: t.field({ type: TextFormatType, description: 'What the text is.', resolve: ({ text }) => text.format as WireObject }),
    toolChoice: t.field({
      type: ToolChoiceType,
      description: 'How the model chooses among the tools.',
      resolve: (request) => readChoice(request.tool_choice),
    }),
    functions: t.field({
      type: [FunctionToolType],
      description: 'The functions of the caller.',
      resolve: ({ tools }) => tools.flatMap((tool) => (tool.type === 'function' ? [{ ...tool }] : [])),
    }),
    tools: t.field({
      type: [EnabledToolType],
      description: 'The tools of the service that the request named, without what is secret.',
      resolve: ({ tools }) => tools.flatMap((tool) => toServiceTools(tool as WireObject)),
    }),
    truncation: t.field({
      type: TruncationType,
      description: 'What becomes of a conversation that is too long.',
      resolve: ({ truncation }) => truncations.find((knownTruncation) => knownTruncation === truncation) ?? 'disabled',
    }),
    metadata: t.field({
      type: [NamedTextType],
      description: 'Texts that the request keeps with the response.',
      resolve: ({ metadata }) => namedTexts(metadata),
    }),
    user: t.exposeString('user', { nullable: true, description: 'The value of the request.' }),
    safetyIdentifier: t.exposeString('safety_identifier', { nullable: true, description: 'The value of the request.' }),
    promptCacheKey: t.exposeString('prompt_cache_key', { nullable: true, description: 'The value of the request.' }),
  }),
});

export function requestIn(head: ResponseHead | undefined): ResponseEcho | null {
  return head === undefined ? null : echoIn(head);
}

/** The choice as the response repeats it. */
function readChoice(echo: unknown): ToolChoice {
  if (!isObject(echo)) return { mode: toolChoiceModes.find((knownMode) => knownMode === echo) ?? 'auto', chosen: undefined };
  if (echo.type !== 'allowed_tools') return { mode: 'required', chosen: [echo] };
  return {
    mode: toolChoiceModes.find((known) => known === echo.mode) ?? 'auto',
    chosen: readElements(echo.tools).map(membersOf),
  };
}

function toServiceTools({ type: name, ...options }: WireObject): EnabledTool[] {
  const type = findToolType(name);
  if (type === undefined) return [];
  return [{ type, options, ...(options.require_approval === true ? { requireApproval: true } : {}) }];
}
