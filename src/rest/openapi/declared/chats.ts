import { incompleteReasons } from '../../../entities/runs/event.ts';
import type { JsonSchema } from '../declarations.ts';
import { choiceByType, constant, integer, list, number, object, oneOfTexts, orNull, record, ref, text } from './schema.ts';

/** Chats: what GraphQL calls JSON in a message, and the events of a chat's own stream. */

type Members = Readonly<Record<string, JsonSchema>>;

const messageId = text('The id of the message.');
const role = constant('assistant');
const usage = object('Tokens, as the models counted them.', {
  inputTokens: integer('Tokens read.'),
  outputTokens: integer('Tokens written.'),
  cachedTokens: integer('Of those read: those the model had read before.'),
  reasoningTokens: integer('Of those written: those spent on thinking.'),
  'totalTokens?': integer('Both together; in a reply in one piece.'),
});
const selection = object('Which model answered and how it was chosen.', {
  provider: text('The provider that answered.'),
  model: text('Its model.'),
  fallbackChain: list(
    'Models that were asked before it and failed, in order.',
    object('A model that failed.', {
      provider: text('Its provider.'),
      model: text('The model.'),
      reason: text('Why it failed.'),
    }),
  ),
  latencyHints: object('How long it took, in milliseconds.', {
    queueMs: number('Until the model was asked.'),
    firstTokenMs: orNull(number('Until its first token; null when there was none.')),
  }),
});
const incompleteReason = oneOfTexts(
  'Why it was cut; `max_tool_calls` and `timeout` are bounds of the service.',
  incompleteReasons,
);
const failure = object('Why it failed, in the shape of every error.', {
  message: text('For a person to read.'),
  type: text('The kind of failure.'),
  param: orNull(text('The member that was wrong.')),
  code: text('For programs.'),
});
const toolCalls = list('Calls that the caller is asked to make; see Submit tool outputs.', ref('ToolCall'));
const systemMessageId = text('The message that holds the calls: hand it to Submit tool outputs.');
const ended = (status: string): Members => ({
  status: constant(status),
  'incompleteReason?': incompleteReason,
  'error?': failure,
  usage: orNull(usage),
  selection: orNull(selection),
});

/** What each event says besides its type, its number, the run and the chat. */
const events: Readonly<Record<string, readonly [name: string, description: string, members: Members]>> = {
  'run.started': ['ChatRunStartedEvent', 'The first event.', { status: constant('in_progress') }],
  step: [
    'ChatStepEvent',
    'Work between calls of the model; only where the AI shows intermediate steps.',
    { name: text('What is done, such as `retrieve`.'), detail: record('How it went.') },
  ],
  'message.started': [
    'ChatMessageStartedEvent',
    'A message begins.',
    { messageId, role, createdAt: text('When it began.', { format: 'date-time' }) },
  ],
  'message.delta': ['ChatMessageDeltaEvent', 'A piece of a message.', { messageId, delta: text('What is added.') }],
  citation: ['ChatCitationEvent', 'A passage that the message rests on.', { messageId, citation: ref('Citation') }],
  'message.completed': [
    'ChatMessageCompletedEvent',
    'A message is whole.',
    {
      messageId,
      role,
      content: text('Its whole text.'),
      status: oneOfTexts('`incomplete` when the run was cut while it was being said.', ['completed', 'incomplete']),
      citations: list('The passages it rests on, in the order of its text.', ref('Citation')),
    },
  ],
  'tool.started': [
    'ChatToolStartedEvent',
    'A tool of the service is called.',
    {
      toolCallId: text('Joins its two events.'),
      name: text('The name of the tool.'),
      arguments: text('Its arguments as JSON text.'),
      hints: list('Short texts that a user interface may show meanwhile.', { type: 'string' }),
    },
  ],
  'tool.completed': [
    'ChatToolCompletedEvent',
    'A tool of the service is done.',
    {
      toolCallId: text('Joins its two events.'),
      status: oneOfTexts('How it went.', ['completed', 'failed']),
      output: text('What it gave; empty when it failed.'),
      error: orNull(object('Why it failed.', { code: text('For programs.'), message: text('For a person to read.') })),
    },
  ],
  'tool.call': ['ChatToolCallEvent', 'Outputs are asked for: the run ends here.', { systemMessageId, toolCalls }],
  'run.completed': ['ChatRunCompletedEvent', 'The run is over.', ended('completed')],
  'run.failed': ['ChatRunFailedEvent', 'The run broke off.', ended('failed')],
  'run.incomplete': ['ChatRunIncompleteEvent', 'The run was cut.', ended('incomplete')],
  'run.cancelled': ['ChatRunCancelledEvent', 'The run was cancelled; what it said stays.', ended('cancelled')],
  done: ['ChatDoneEvent', 'The last event.', {}],
};

const place: Members = { runId: text('The run.'), chatId: text('The chat.') };

export const chatSchemas: Readonly<Record<string, JsonSchema>> = {
  ...Object.fromEntries(
    Object.entries(events).map(([type, [name, description, members]]) => [
      name,
      object(description, {
        type: constant(type),
        sequence: integer('Numbers the events of a run, from 0, without gaps.'),
        ...place,
        ...members,
      }),
    ]),
  ),
  ChatErrorEvent: object('The stream cannot go on, the run does: follow it behind the last event. Without a number.', {
    type: constant('error'),
    ...place,
    error: failure,
  }),
  ChatStreamEvent: choiceByType('The `data` of a frame, whose `event` is its `type` and whose `id` is `<runId>:<sequence>`.', {
    ...Object.fromEntries(Object.entries(events).map(([type, [name]]) => [type, name])),
    error: 'ChatErrorEvent',
  }),
  ChatReply: object('How a run answered a message.', {
    runId: text('The run.'),
    status: ref('RunStatus'),
    message: orNull(
      object('What it said last; null when it said nothing.', {
        id: text('The id of the message.'),
        createdAt: text('When it began.', { format: 'date-time' }),
        updatedAt: text('The same.', { format: 'date-time' }),
        role: ref('MessageRole'),
        content: text('Its text; empty for a message that only asks for calls.'),
      }),
    ),
    'systemMessageId?': systemMessageId,
    'toolCalls?': toolCalls,
    'citations?': list('The passages it rests on, in the order of its text.', ref('Citation')),
    'incompleteReason?': incompleteReason,
    'error?': failure,
    usage: orNull(usage),
  }),
  PromptTextPart: object('A text.', { type: constant('text'), text: text('The text.') }),
  PromptFilePart: object('A file of the chat.', { type: constant('id'), id: text('The id of the file.') }),
  PromptUrlPart: object('An image.', {
    type: constant('url'),
    url: text('An http(s) address, or a data URL with the image in base64.', { maxLength: 8_000_000 }),
  }),
  PromptPart: choiceByType('A part of a message.', { text: 'PromptTextPart', id: 'PromptFilePart', url: 'PromptUrlPart' }),
};

const secrets = { ...ref('UserSecrets'), maxProperties: 50 };

/** By schema coordinate. */
export const chatMembers: Readonly<Record<string, JsonSchema>> = {
  'CreateChatInput.userInputs': { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
  'SendMessageInput.prompt': {
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', items: ref('PromptPart'), minItems: 1, maxItems: 100 },
    ],
  },
  'SendMessageInput.options': ref('ChatOptions'),
  'SendMessageInput.secrets': secrets,
  'SubmitToolOutputsInput.options': ref('ChatOptions'),
  'SubmitToolOutputsInput.secrets': secrets,
  'Message.parts': { type: 'array', items: ref('PromptPart') },
};
