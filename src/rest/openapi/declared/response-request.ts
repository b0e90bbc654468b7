import { includableMembers } from '../../../entities/runs/response.ts';
import type { JsonSchema } from '../declarations.ts';
import {
  added,
  addedValues,
  choiceByType,
  constant,
  flag,
  integer,
  object,
  oneOfTexts,
  orNull,
  record,
  ref,
  text,
} from './schema.ts';

/** What a request of the responses format says beyond its items and tools. */

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];
const summaries = ['auto', 'concise', 'detailed'];
const formatName = text('1 to 64 letters, digits, `_` or `-`.', { pattern: '^[A-Za-z0-9_-]{1,64}$' });
const tracing = object('Whether the run is traced.', { 'enabled?': orNull(flag('Whether it is.')) });
const verbosity = oneOfTexts('How much is said.', ['low', 'medium', 'high']);
const effort = addedValues(oneOfTexts('How hard the model thinks.', efforts), ['none', 'xhigh']);

export const requestSchemas: Readonly<Record<string, JsonSchema>> = {
  TextFormatText: object('Plain text.', { type: constant('text') }),
  TextFormatJsonObject: object('A JSON object of any shape.', { type: constant('json_object') }),
  TextFormatJsonSchemaParam: object('JSON that follows a schema.', {
    type: constant('json_schema'),
    name: formatName,
    schema: record('A JSON Schema.'),
    'description?': orNull(text('What it is for.')),
    'strict?': orNull(flag('Whether the schema is followed exactly.')),
  }),
  TextFormatJsonSchema: object('JSON that follows a schema.', {
    type: constant('json_schema'),
    name: formatName,
    description: orNull(text('What it is for.')),
    schema: record('A JSON Schema.'),
    strict: flag('Whether the schema is followed exactly.'),
  }),
  ResponseTextParam: object('The form of the text.', {
    'format?': orNull(
      choiceByType('What the text is.', {
        text: 'TextFormatText',
        json_object: 'TextFormatJsonObject',
        json_schema: 'TextFormatJsonSchemaParam',
      }),
    ),
    'verbosity?': orNull(verbosity),
  }),
  ResponseText: object('The form of the text.', {
    format: choiceByType('What the text is.', {
      text: 'TextFormatText',
      json_object: 'TextFormatJsonObject',
      json_schema: 'TextFormatJsonSchema',
    }),
    'verbosity?': verbosity,
  }),
  ResponseReasoningParam: object('How the model thinks.', {
    'effort?': orNull(effort),
    'summary?': orNull(oneOfTexts('How the thinking is told.', summaries)),
  }),
  ResponseReasoning: object('How the model thinks.', {
    effort: orNull(effort),
    summary: orNull(oneOfTexts('How the thinking is told.', summaries)),
  }),
  ResponseConversationParam: {
    description: 'The thread to go on with: the id of a chat, or an object with it.',
    anyOf: [{ type: 'string' }, object('A thread.', { id: text('The id of a chat.') })],
  },
  ResponseStreamOptions: object('How the event stream is sent.', {
    'include_extensions?': added(
      orNull(flag('Whether events, items and members are sent that the common format does not know.', { default: true })),
      'extension-switch',
    ),
    'include_obfuscation?': orNull(flag('Ignored: nothing is obfuscated.')),
  }),
  UserSecrets: record('Secrets by name.', { type: 'string' }),
  ChatOptions: {
    ...object('Options of a chat; other members are ignored.', {
      'flow?': orNull(
        object('The flow of the agent.', {
          'override?': orNull(
            object('Another one than its own.', {
              'force?': orNull(flag('Whether it is taken even where the agent says otherwise.')),
              'id?': orNull(text('The id of the flow.')),
              'version?': orNull(integer('The version of the flow.', { minimum: 1 })),
            }),
          ),
          'tracing?': orNull(tracing),
        }),
      ),
      'tracing?': orNull(tracing),
    }),
    additionalProperties: true,
  },
};

const metadata = record('Texts by name.', { type: 'string', maxLength: 512 });
const secrets = { ...ref('UserSecrets'), maxProperties: 50 };
const repeated = { maxLength: 512 };
const penalty = { minimum: -2, maximum: 2, default: 0 };
const input = { anyOf: [{ type: 'string' }, { type: 'array', items: ref('InputItemParam') }] };

/** By schema coordinate. */
export const requestMembers: Readonly<Record<string, JsonSchema>> = {
  'ResponseInput.input': input,
  'ResponseInput.instructions': { maxLength: 1_000_000 },
  'ResponseInput.tools': { type: 'array', items: ref('ResponseToolParam') },
  'ResponseInput.toolChoice': { ...ref('ResponseToolChoice'), default: 'auto' },
  'ResponseInput.parallelToolCalls': { default: true },
  'ResponseInput.text': ref('ResponseTextParam'),
  'ResponseInput.reasoning': ref('ResponseReasoningParam'),
  'ResponseInput.include': { items: { type: 'string', enum: [...includableMembers] } },
  'ResponseInput.truncation': { enum: ['auto', 'disabled'], default: 'disabled' },
  'ResponseInput.maxOutputTokens': { minimum: 1 },
  'ResponseInput.maxToolCalls': { minimum: 1, maximum: 10_000 },
  'ResponseInput.temperature': { minimum: 0, maximum: 2, default: 1 },
  'ResponseInput.topP': { minimum: 0, maximum: 1, default: 1 },
  'ResponseInput.topLogprobs': { minimum: 0, maximum: 20, default: 0 },
  'ResponseInput.presencePenalty': penalty,
  'ResponseInput.frequencyPenalty': penalty,
  'ResponseInput.metadata': { ...metadata, maxProperties: 16, propertyNames: { maxLength: 64 }, default: {} },
  'ResponseInput.conversation': ref('ResponseConversationParam'),
  'ResponseInput.store': { default: true },
  'ResponseInput.background': { default: false },
  'ResponseInput.stream': { default: false },
  'ResponseInput.streamOptions': ref('ResponseStreamOptions'),
  'ResponseInput.serviceTier': { enum: ['auto', 'default', 'flex', 'scale', 'priority'], default: 'auto' },
  'ResponseInput.safetyIdentifier': repeated,
  'ResponseInput.promptCacheKey': repeated,
  'ResponseInput.user': repeated,
  'ResponseInput.chatMode': added({ default: 'execute' }, 'chat-mode'),
  'ResponseInput.threadMode': added({ default: 'collect' }, 'thread-mode'),
  'ResponseInput.userSecrets': added(secrets, 'user-secrets'),
  'ResponseInput.options': added(ref('ChatOptions'), 'chat-options'),

  'ResumeResponseInput.input': input,
  'ResumeResponseInput.background': { default: false },
  'ResumeResponseInput.stream': { default: false },
  'ResumeResponseInput.userSecrets': added(secrets, 'user-secrets'),
};
