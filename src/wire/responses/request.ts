import { z } from 'zod';
import type { ThreadMode } from '../../entities/conversations/chats/chat.ts';
import { type ChatMode, servedIncludes } from '../../entities/conversations/runs/response.ts';
import { identifiers } from '../ground/identifiers.ts';
import {
  anyOf,
  behaves,
  choiceByType,
  component,
  constant,
  described,
  describeMembers,
  flag,
  flowVersionMax,
  graphqlInput,
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
export const textParam = component('ResponseTextParam', 'The form of the text.', {
  format: choiceByType('What the text is.', [formatText, formatJsonObject, formatJsonSchemaParam]).nullish(),
  verbosity: verbosity.nullish(),
});
export const responseText = component('ResponseText', 'The form of the text.', {
  format: choiceByType('What the text is.', [formatText, formatJsonObject, formatJsonSchema]),
  verbosity: verbosity.optional(),
});

const effort = oneOfTexts('How hard the model thinks.', ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'], {
  'x-parley-extension-values': ['none', 'xhigh'],
});
const summary = oneOfTexts('How the thinking is told.', ['auto', 'concise', 'detailed']);
export const reasoningParam = component('ResponseReasoningParam', 'How the model thinks.', {
  effort: effort.nullish(),
  summary: summary.nullish(),
});
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
named('UserSecrets', z.record(z.string(), z.string()).meta({ description: 'Secrets by name.' }));

const tracing = object('Whether the run is traced.', { enabled: flag('Whether it is.').nullish() }).nullish();
/** Of a message of a chat, a completion or a response. */
export const chatOptions = openComponent('ChatOptions', 'Options of a chat; other members are ignored.', {
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
});

const refersTo = (name: string, more: object = {}) => ({ $ref: `#/components/schemas/${name}`, ...more });
const inputItems = { anyOf: [{ type: 'string' }, { type: 'array', items: refersTo('InputItemParam') }] };
export const secrets = refersTo('UserSecrets', { maxProperties: 50 });
const addedSecrets = { ...secrets, ...isExtension, ...behaves('user-secrets') };
const penalty = range(-2, 2, { default: 0 });
export const serviceTier = z.enum(['auto', 'default', 'flex', 'scale', 'priority']).meta({ default: 'auto' });
const logitBiasRule = 'must be an object of at most 1,024 numbers from -100 to 100 by the ids of tokens';
export const logitBias = z
  .record(z.string().regex(/^\d{1,9}$/), z.number().min(-100).max(100), logitBiasRule)
  .refine((bias) => Object.keys(bias).length <= 1_024, logitBiasRule);

/** A request, with the names of its members as GraphQL has them. */
export const responseInput = graphqlInput('ResponseInput', {
  model: z.string(),
  input: described(inputItems),
  instructions: z.string().max(1_000_000),
  tools: described({ type: 'array', items: refersTo('ResponseToolParam') }),
  toolChoice: described(refersTo('ResponseToolChoice', { default: 'auto' })),
  parallelToolCalls: z.boolean().meta({ default: true }),
  text: textParam,
  reasoning: reasoningParam,
  include: described<readonly string[]>({ items: { type: 'string', enum: servedIncludes } }),
  truncation: z.enum(['auto', 'disabled']).meta({ default: 'disabled' }),
  maxOutputTokens: integerRange(1, tokensMax),
  maxToolCalls: integerRange(1, 10_000),
  temperature: range(0, 2, { default: 1 }),
  topP: range(0, 1, { default: 1 }),
  topLogprobs: integerRange(0, 20, { default: 0 }),
  presencePenalty: penalty,
  frequencyPenalty: penalty,
  metadata: described({
    type: 'object',
    description: 'Texts by name.',
    additionalProperties: { type: 'string', maxLength: 512 },
    maxProperties: 16,
    propertyNames: { maxLength: 64 },
    default: {},
  }),
  previousResponseId: z.string(),
  conversation: conversationParam,
  store: z.boolean().meta({ default: true }),
  background: z.boolean().meta({ default: false }),
  serviceTier,
  logitBias,
  ...identifiers,
  chatMode: described<ChatMode>({ default: 'execute', ...isExtension, ...behaves('chat-mode') }),
  threadMode: described<ThreadMode>({ default: 'collect', ...isExtension, ...behaves('thread-mode') }),
  userSecrets: described(addedSecrets),
  options: chatOptions.meta({ ...isExtension, ...behaves('chat-options') }),
});
export type ReadInput = z.input<typeof responseInput>;
export type ResponseInput = Unread<ReadInput>;

graphqlInput('ResumeResponseInput', {
  input: described(inputItems),
  background: z.boolean().meta({ default: false }),
  userSecrets: described(addedSecrets),
});

// Members that REST reads.
describeMembers('ResponseInput', { stream: described({ default: false }), streamOptions });
describeMembers('ResumeResponseInput', { stream: described({ default: false }) });
