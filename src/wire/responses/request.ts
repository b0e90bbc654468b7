import { z } from 'zod';
import type { ThreadMode } from '../../entities/conversations/chats/chat.ts';
import { type ChatMode, servedIncludes } from '../../entities/conversations/runs/response.ts';
import { body, maybe, ofType, readAs, streamFlag, unservedMembers, wirePart } from '../ground/body.ts';
import { identifiers } from '../ground/identifiers.ts';
import {
  anyOf,
  behaves,
  choiceByType,
  component,
  constant,
  described,
  flag,
  flowVersionMax,
  integerRange,
  isExtension,
  list,
  named,
  object,
  oneOfTexts,
  openComponent,
  range,
  record,
  text,
  tokensMax,
  type Unread,
} from '../ground/schema.ts';
import { unservedInResponses } from '../ground/unserved-members.ts';

/** What a request of the responses format says beyond its items and tools, and what the response repeats of it. */

const formatText = component('TextFormatText', 'Plain text.', { type: constant('text') });
const formatJsonObject = component('TextFormatJsonObject', 'A JSON object of any shape.', { type: constant('json_object') });
const nameRule = 'must be 1 to 64 letters, digits, _ or -';
const formatName = text('1 to 64 letters, digits, `_` or `-`.', nameRule).regex(/^[A-Za-z0-9_-]{1,64}$/);
const formatSchema = record('A JSON Schema.', 'must be a JSON Schema object');
const formatDescription = text('What it is for.').nullable();
const strict = flag('Whether the schema is followed exactly.');
const formatJsonSchemaParam = component('TextFormatJsonSchemaParam', 'JSON that follows a schema.', {
  type: constant('json_schema'),
  name: formatName,
  schema: formatSchema,
  description: formatDescription.optional(),
  strict: strict.nullish(),
});
const formatJsonSchema = component('TextFormatJsonSchema', 'JSON that follows a schema.', {
  type: constant('json_schema'),
  name: formatName,
  description: formatDescription,
  schema: formatSchema,
  strict,
});
export const verbosity = oneOfTexts('How much is said.', ['low', 'medium', 'high']);
export const textParam = wirePart(
  'ResponseTextInput',
  'The form of the text of a response.',
  component('ResponseTextParam', 'The form of the text.', {
    format: choiceByType('What the text is.', [formatText, formatJsonObject, formatJsonSchemaParam]).nullish(),
    verbosity: verbosity.nullish(),
  }),
);
export const responseText = component('ResponseText', 'The form of the text.', {
  format: choiceByType('What the text is.', [formatText, formatJsonObject, formatJsonSchema]),
  verbosity: verbosity.optional(),
});

const effort = oneOfTexts('How hard the model thinks.', ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'], {
  'x-parley-extension-values': ['none', 'xhigh', 'max'],
});
const summary = oneOfTexts('How the thinking is told.', ['auto', 'concise', 'detailed']);
export const reasoningParam = wirePart(
  'ResponseReasoningInput',
  'How the model thinks.',
  component('ResponseReasoningParam', 'How the model thinks.', {
    effort: effort.nullish(),
    summary: summary.nullish(),
  }),
);
export const responseReasoning = component('ResponseReasoning', 'How the model thinks.', {
  effort: effort.nullable(),
  summary: summary.nullable(),
});

export const conversationParam = named(
  'ResponseConversationParam',
  anyOf(
    'The thread to go on with: the id of a chat, or an object with it.',
    [z.string(), object('A thread.', { id: text('The id of a chat.') })],
    'must be an id or an object with an id',
  ),
);
const streamOptions = component('ResponseStreamOptions', 'How the event stream is sent.', {
  include_extensions: flag('Whether events, items and members are sent that the common format does not know.', {
    default: true,
    ...isExtension,
    ...behaves('extension-switch'),
  }).nullish(),
  include_obfuscation: flag('Ignored: nothing is obfuscated.').nullish(),
});
const streamOptionsRead = body(
  'ResponseStreamOptionsInput',
  'How the event stream is sent.',
  { includeExtensions: z.boolean().nullish(), includeObfuscation: z.boolean().nullish() },
  { asJson: 'checked' },
);
named('UserSecrets', z.record(z.string(), z.string()).meta({ description: 'Secrets by name.' }));

const tracing = object('Whether the run is traced.', { enabled: flag('Whether it is.').nullish() }).nullish();
/** Of a message of a chat, a completion or a response. */
export const chatOptions = wirePart(
  'ChatOptionsInput',
  'Options of a chat. Over REST other members are ignored.',
  openComponent('ChatOptions', 'Options of a chat; other members are ignored.', {
    flow: object('The flow of the agent.', {
      override: object('Another one than its own.', {
        force: flag('Whether it is taken even where the agent says otherwise.').nullish(),
        id: text('The id of the flow.').nullish(),
        version: integerRange(1, flowVersionMax, { description: 'The version of the flow.' }).nullish(),
      }).nullish(),
      tracing,
    }).nullish(),
    tracing,
    provider: object('Which providers may answer.', {
      order: list('Ids of providers, the first one first.', text('The id of a provider, such as `openai`.')).nullish(),
      allow_fallbacks: flag('Whether others may answer when these do not; default true.').nullish(),
    }).nullish(),
  }),
);

const refersTo = (name: string, more: object = {}) => ({ $ref: `#/components/schemas/${name}`, ...more });
const inputItems = { anyOf: [{ type: 'string' }, { type: 'array', items: refersTo('InputItemParam') }] };
export const secrets = refersTo('UserSecrets', { maxProperties: 50 });
const addedSecrets = { ...secrets, ...isExtension, ...behaves('user-secrets') };
export const secretsText = 'Secrets for tools, by name: at most 50 of 4 KB each. Never stored, logged or shown to the model.';
// What it names is the domain's to check.
const includes = z.array(z.string().meta({ enum: servedIncludes }));
export const serviceTier = oneOfTexts(
  'auto, default, flex, scale or priority: the class of service, for providers that have such.',
  ['auto', 'default', 'flex', 'scale', 'priority'],
  { default: 'auto' },
);
const logitBiasRule = 'must be an object of at most 1,024 numbers from -100 to 100 by the ids of tokens';
export const logitBias = z
  .record(z.string().regex(/^\d{1,9}$/), z.number().min(-100).max(100), logitBiasRule)
  .refine((bias) => Object.keys(bias).length <= 1_024, logitBiasRule)
  .meta({
    description:
      'How much likelier tokens are, from -100 to 100, by their ids; for providers that take it. JSON: an object of numbers.',
  });

/** A request; its names are in camelCase. */
export const responseBody = body(
  'ResponseInput',
  'A request of the responses format. Members it does not know are ignored over REST.',
  {
    model: text("The id of a model or of an agent; default: the thread's, else the default model.").nullish(),
    input: described({
      ...inputItems,
      description:
        'A string, or an array of items: messages, function calls and their outputs, reasoning, references to items of earlier responses. JSON: a text or a list of many kinds.',
    }).nullish(),
    instructions: text('For this response only: not inherited by later ones.').max(1_000_000).nullish(),
    tools: described({
      ...{ type: 'array', items: refersTo('ResponseToolParam') },
      description: 'An array of functions of the caller and tools of the service. JSON: each type has members of its own.',
    }).nullish(),
    toolChoice: maybe(
      'auto, none, required, one tool, or `{type: "allowed_tools", mode, tools}`: a hard limit. JSON: a text or an object.',
      described(refersTo('ResponseToolChoice', { default: 'auto' })),
    ),
    parallelToolCalls: flag('Whether one turn may have several calls.', { default: true }).nullish(),
    text: maybe('An object: `format` is text, json_object or json_schema with `name`, `schema`, `strict`.', textParam),
    reasoning: maybe(
      'An object: `effort` is none, minimal, low, medium, high, xhigh or max; `summary` is auto, concise or detailed.',
      reasoningParam,
    ),
    include: maybe('Further parts of the reply, as the format names them.', includes),
    truncation: oneOfTexts('disabled (default) refuses what is too long; auto drops the oldest turns.', ['auto', 'disabled'], {
      default: 'disabled',
    }).nullish(),
    maxOutputTokens: integerRange(1, tokensMax, { description: 'Most tokens of one answer of the model; at least 1.' }).nullish(),
    maxToolCalls: integerRange(1, 10_000, {
      description: 'Most calls of tools of the service in the whole response.',
    }).nullish(),
    temperature: range(0, 2, { default: 1, description: 'From 0 to 2.' }).nullish(),
    topP: range(0, 1, { default: 1, description: 'From 0 to 1.' }).nullish(),
    topLogprobs: integerRange(0, 20, { default: 0, description: 'From 0 to 20; models that give none are not asked.' }).nullish(),
    presencePenalty: range(-2, 2, { default: 0, description: 'From -2 to 2.' }).nullish(),
    frequencyPenalty: range(-2, 2, { default: 0, description: 'From -2 to 2.' }).nullish(),
    metadata: described({
      type: 'object',
      description: 'Texts by name.',
      additionalProperties: { type: 'string', maxLength: 512 },
      maxProperties: 16,
      propertyNames: { maxLength: 64 },
      default: {},
    }).nullish(),
    previousResponseId: text(
      'The response to go on from: on its thread when it is the newest there, else on a new one that forks behind it.',
    ).nullish(),
    conversation: maybe(
      'The thread to go on with: the id of a chat, or an object with it. Excludes `previousResponseId`. JSON: a text or an object.',
      conversationParam,
    ),
    store: flag('Whether the response and its thread are kept. Default true.', { default: true }).nullish(),
    background: flag('Whether it continues without a reader. Needs `store`.', { default: false }).nullish(),
    serviceTier: serviceTier.nullish(),
    logitBias: logitBias.nullish(),
    ...unservedMembers(unservedInResponses),
    user: identifiers.user.nullish(),
    safetyIdentifier: identifiers.safetyIdentifier.nullish(),
    promptCacheKey: identifiers.promptCacheKey.nullish(),
    chatMode: ofType<ChatMode>('ChatMode', 'Default execute.', {
      default: 'execute',
      ...isExtension,
      ...behaves('chat-mode'),
    }).nullish(),
    threadMode: ofType<ThreadMode>(
      'ResponseThreadMode',
      'Default collect. Without effect while nothing is at work on the thread, and without `store`.',
      { default: 'collect', ...isExtension, ...behaves('thread-mode') },
    ).nullish(),
    userSecrets: maybe(secretsText, described(addedSecrets)),
    options: maybe('Options of a chat.', chatOptions.meta({ ...isExtension, ...behaves('chat-options') })),
  },
  {
    replyMembers: {
      ...streamFlag(undefined, { default: false }),
      streamOptions: maybe(
        'An object: `include_extensions: false` leaves out what the service adds to the format; `include_obfuscation` is ignored.',
        readAs(streamOptionsRead, streamOptions),
      ),
    },
  },
);
export type ReadInput = z.input<typeof responseBody>;
export type ResponseInput = Unread<ReadInput>;

export const resumeBody = body(
  'ResumeResponseInput',
  'How a paused response goes on.',
  {
    input: described({
      ...inputItems,
      description: 'Further input, as in a new request. JSON: a text or a list.',
    }).nullish(),
    background: flag('Whether it continues without a reader.', { default: false }).nullish(),
    userSecrets: maybe('Secrets for tools, again: they are not stored.', described(addedSecrets)),
  },
  {
    replyMembers: streamFlag('REST: whether to answer as an event stream, with the new events only.', { default: false }),
  },
);
