import { z } from 'zod';
import {
  awaitedCalls,
  listOutputFiles,
  toolMessageId,
  toTranscriptMessages,
  visibleParts,
} from '../engine/runs/events/transcript.ts';
import { flowStepStatuses } from '../entities/agents/flow.ts';
import { flowStepTypes } from '../entities/agents/part.ts';
import type { ThreadMode, ToolCall } from '../entities/conversations/chats/chat.ts';
import {
  incompleteReasons,
  isTerminal,
  publicForm,
  publicOutput,
  publicResult,
  type RunError,
  type RunEvent,
  type RunItem,
  type RunSnapshot,
} from '../entities/conversations/runs/event.ts';
import { DomainError, errorBody, publicError } from '../entities/ground/errors.ts';
import { timeOfId } from '../entities/ground/ids.ts';
import { body, idText, maybe, ofType, streamFlag } from './ground/body.ts';
import { foldOfEnd, type StreamEncoder, type StreamEncoderFactory, type Variables, type WireReply } from './ground/encoder.ts';
import { addressPart, fileIdPart } from './ground/prompt-parts.ts';
import {
  choiceByType,
  component,
  constant,
  described,
  integer,
  list,
  named,
  number,
  object,
  oneOfTexts,
  record,
  reference,
  type Sent,
  text,
  unlessEmpty,
} from './ground/schema.ts';
import { memberShape } from './ground/shape.ts';
import { chatOptions, secrets, secretsText } from './responses/request.ts';

/** Chats: what GraphQL calls JSON in a message, the events of a run, and its reply in one piece, with their encoders. */

const date = (description: string) => text(description).meta({ format: 'date-time' });
const warnings = list('What of the AI has no effect; absent when everything has.', reference('Warning'));
const usage = object('Tokens, as the models counted them.', {
  inputTokens: integer('Input tokens.'),
  outputTokens: integer('Output tokens.'),
  cachedTokens: integer('Of those read: those the model had read before.'),
  reasoningTokens: integer('Of those written: those spent on thinking.'),
  totalTokens: integer('Both together; in a reply in one piece.').optional(),
  isEstimated: z
    .boolean()
    .meta({ description: 'Whether the service estimated some of them; absent where models counted all.' })
    .optional(),
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
    firstTokenMs: number('Until its first token; null when there was none.').nullable(),
  }),
});
const incompleteReason = oneOfTexts(
  'Why it was cut; `max_tool_calls` and `timeout` are bounds of the service.',
  incompleteReasons,
);
const failure = object('Why it failed, in the shape of every error.', {
  message: text('For a person to read.'),
  type: text('The kind of failure.'),
  param: text('The member that was wrong.').nullable(),
  code: text('For programs.'),
});
/** The error of a run in the shape of every v1 error. */
function toWireFailure({ code, message }: RunError): Sent<typeof failure> {
  return errorBody(publicError(new DomainError(code, message))).error;
}

const toolCalls = list('Calls that the caller is asked to make; see Submit tool outputs.', reference('ToolCall'));
const systemMessageId = text('The message that holds the calls: hand it to Submit tool outputs.');
export const promptPart = named(
  'PromptPart',
  choiceByType('A part of a message.', [
    component('PromptTextPart', 'A text.', { type: constant('text'), text: text('The text.') }),
    fileIdPart,
    addressPart,
  ]),
);
const parts = list('Its text and the images that tools made before it; absent without images.', promptPart);
const outputFile = object('A file that a tool of the service made.', {
  fileId: text('The file of the chat.').nullable(),
  filename: text('Its name.'),
  mimeType: text('Its media type.'),
  sizeBytes: integer('Its bytes.'),
  url: text('A link that works for an hour without a key.'),
});
const flowStep = object('A finished step of a flow.', {
  stepId: text('Its id in the flow, else `step_` and its place from 1.'),
  type: oneOfTexts('What it does.', flowStepTypes),
  status: oneOfTexts('How it ended.', flowStepStatuses),
  input: text('What it worked with; at most 4 kB.'),
  output: text('What it came to; at most 4 kB.'),
  durationMs: integer('Milliseconds that it took.'),
});

const prompt = z.union([z.string().min(1), z.array(promptPart).min(1).max(100)]).meta({
  description:
    'A string, or an array of parts: `{type: "text", text}`, `{type: "id", id}` (a file of the chat), `{type: "url", url}` (an image by its address or as a data URL). JSON: a text or a list.',
});
const requestSecrets = maybe(secretsText, described(secrets));
const messageMembers = {
  prompt,
  date: ofType<Date>('DateTime', "The user's date and time; the model is told.").nullish(),
  modelId: text("A model for this message instead of the agent's.").nullish(),
  options: maybe('Options of this message.', chatOptions),
  tools: maybe('Functions of the caller, and tools of the service.', z.array(ofType('ToolInput', 'A tool.'))),
  secrets: requestSecrets,
};
const streamed = { replyMembers: streamFlag() };
export const sendMessageBody = body(
  'SendMessageInput',
  'A message to a chat.',
  {
    ...messageMembers,
    threadMode: ofType<ThreadMode>('ThreadMode', 'Default collect.').nullish(),
  },
  streamed,
);
export const editMessageBody = body('EditMessageInput', 'What a message of the user says instead.', messageMembers, streamed);
export const regenerateBody = body(
  'RegenerateMessageInput',
  'How an answer is asked for again.',
  {
    modelId: text('Another model than the one that answered before.').nullish(),
    secrets: maybe(`The secrets of the request, which the service has not kept. ${secretsText}`, described(secrets)),
  },
  streamed,
);
export const toolOutputsBody = body(
  'SubmitToolOutputsInput',
  'The outputs of all calls that a message asked for.',
  {
    systemMessageId: text('The message that holds the calls.'),
    outputs: z.array(ofType('ToolOutputInput', 'An output.')).meta({ description: 'One for each call.' }),
    options: maybe('Options of this message.', chatOptions),
    secrets: requestSecrets,
  },
  streamed,
);
export const retryBody = body('RetryRunInput', 'What a run that is asked again needs and the service has not kept.', {
  secrets: requestSecrets,
});
export const newChatBody = body('CreateChatInput', 'A new chat.', {
  name: text('1 to 200 characters; without one, the first exchange names the chat.').nullish(),
  projectId: idText('The project that it is in.').nullish(),
  userInputs: maybe(
    "Values of the agent's user inputs, by variable name: texts, numbers, true or false.",
    described({ type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } }),
  ),
});
/** A part as the document of a route selects it. */
interface SelectedPart {
  readonly type: string;
}
const partKinds: Readonly<Record<string, string>> = { TextPart: 'text', FilePart: 'id', ImagePart: 'url' };
export const messageParts = memberShape(
  'Message.parts',
  list(
    'The content parts as they were sent: `{type: "text", text}`, `{type: "id", id}`, `{type: "url", url}`. Null for plain text.',
    promptPart,
  ),
  (parts: readonly SelectedPart[], { isPlainText }: { readonly isPlainText: boolean }) =>
    isPlainText ? null : (parts.map(({ type, ...part }) => ({ ...part, type: partKinds[type] })) as Sent<typeof promptPart>[]),
);
export const pinPosition = memberShape(
  'Chat.pinPosition',
  described<number>({ type: 'integer', format: 'int32', description: 'Lower stands higher, from 1; 0 when it is not pinned.' }),
  (position: number | null) => position ?? 0,
);

const messageId = text('The id of the message.');
const role = constant('assistant');
const createEndFields = (status: string) => ({
  status: constant(status),
  incompleteReason: incompleteReason.optional(),
  error: failure.optional(),
  usage: usage.nullable(),
  selection: selection.nullable(),
  warnings: list(
    'What of the AI or the request has no effect, as the run found it; absent when everything has.',
    reference('Warning'),
  ).optional(),
});

/** What each event says besides its type, its number, the run and the chat. */
const events: Readonly<Record<string, readonly [name: string, description: string, members: z.ZodRawShape]>> = {
  'run.started': ['ChatRunStartedEvent', 'The first event.', { status: constant('in_progress'), warnings: warnings.optional() }],
  step: [
    'ChatStepEvent',
    'Work between calls of the model; only where the AI shows intermediate steps.',
    {
      name: text('What is done: `retrieve`, or `flow` for a step of a flow.'),
      detail: record('What a search came to.').optional(),
      step: flowStep.optional(),
    },
  ],
  'message.started': ['ChatMessageStartedEvent', 'A message begins.', { messageId, role, createdAt: date('When it began.') }],
  'message.delta': ['ChatMessageDeltaEvent', 'A piece of a message.', { messageId, delta: text('What is added.') }],
  citation: ['ChatCitationEvent', 'A passage that the message rests on.', { messageId, citation: reference('Citation') }],
  'message.completed': [
    'ChatMessageCompletedEvent',
    'A message is whole.',
    {
      messageId,
      role,
      content: text('Its whole text.'),
      parts: parts.optional(),
      status: oneOfTexts('`incomplete` when the run was cut while it was being said.', ['completed', 'incomplete']),
      citations: list('The cited passages, in the order of its text.', reference('Citation')),
    },
  ],
  'tool.started': [
    'ChatToolStartedEvent',
    'A tool of the service is called.',
    {
      toolCallId: text('Joins its two events.'),
      name: text('The name of the tool.'),
      arguments: text('Its arguments as JSON text.'),
      hints: list('Short texts that a user interface may show meanwhile.', z.string()),
    },
  ],
  'tool.completed': [
    'ChatToolCompletedEvent',
    'A tool of the service is done.',
    {
      toolCallId: text('Joins its two events.'),
      status: oneOfTexts('The outcome of the call.', ['completed', 'failed']),
      output: text('What it gave; empty when it failed.'),
      error: object('Why it failed.', { code: text('For programs.'), message: text('For a person to read.') }).nullable(),
      files: list('Files that it made; absent when it made none.', outputFile).optional(),
    },
  ],
  'tool.call': ['ChatToolCallEvent', 'Outputs are asked for: the run ends here.', { systemMessageId, toolCalls }],
  'run.completed': ['ChatRunCompletedEvent', 'The run is over.', createEndFields('completed')],
  'run.failed': ['ChatRunFailedEvent', 'The run broke off.', createEndFields('failed')],
  'run.incomplete': ['ChatRunIncompleteEvent', 'The run was cut.', createEndFields('incomplete')],
  'run.cancelled': ['ChatRunCancelledEvent', 'The run was cancelled; what it said stays.', createEndFields('cancelled')],
  done: ['ChatDoneEvent', 'The last event.', {}],
};

const place = { runId: text('The run.'), chatId: text('The chat.') };

const eventSchemas = Object.entries(events).map(([type, [name, description, members]]) =>
  component(name, description, {
    type: constant(type),
    sequence: integer('Numbers the events of a run, from 0, without gaps.'),
    ...place,
    ...members,
  }),
);
const errorEvent = component(
  'ChatErrorEvent',
  'The stream cannot go on, the run does: follow it behind the last event. Without a number.',
  { type: constant('error'), ...place, error: failure },
);
named(
  'ChatStreamEvent',
  choiceByType('The `data` of a frame, whose `event` is its `type` and whose `id` is `<runId>:<sequence>`.', [
    ...eventSchemas,
    errorEvent,
  ]),
);

/**
 * Frames of a chat's own stream: a projection of the whole log, numbered without gaps by itself, because one event of the log may be no
 * frame or several. So the encoder always sees the log from its start, and a reader who comes back (`Last-Event-ID: <runId>:<n>`) gets
 * what comes after frame n.
 */
export const chatEventEncoder: StreamEncoderFactory = (variables) => new ChatEventEncoder(variables);

class ChatEventEncoder implements StreamEncoder {
  readonly #chatId: string;
  readonly #knownFrame: number;
  #runId: string;
  #frame = 0;
  /** Items since the last message: it shows their images. */
  #unsaid: RunItem[] = [];
  /** Members of a text delta between its number and its text; changes with the message. */
  #deltaMiddle = '';

  constructor(variables: Variables) {
    this.#chatId = typeof variables.chatId === 'string' ? variables.chatId : '';
    this.#runId = typeof variables.runId === 'string' ? variables.runId : '';
    const { lastFrame } = variables;
    this.#knownFrame = typeof lastFrame === 'number' ? lastFrame : -1;
  }

  encode(events: readonly RunEvent[]): string {
    let text = '';
    for (const event of events) {
      if (event.type === 'response.output_text.delta') text += this.#delta(event.json);
      else text += this.#other(event);
    }
    return text;
  }

  end(): string {
    return '';
  }

  /** The run continues: this frame only says why the stream ends. It takes no number, so a reader resumes after the last numbered frame. */
  fail(error: unknown): string {
    return `event: error\ndata: ${JSON.stringify({ type: 'error', runId: this.#runId, chatId: this.#chatId, ...errorBody(publicError(error)) })}\n\n`;
  }

  #delta(json: string): string {
    const sequence = this.#frame;
    this.#frame += 1;
    if (sequence <= this.#knownFrame) return '';
    return `id: ${this.#runId}:${sequence}\nevent: message.delta\ndata: {"type":"message.delta","sequence":${sequence}${this.#deltaMiddle}${json}}\n\n`;
  }

  #other(event: RunEvent): string {
    switch (event.type) {
      case 'response.created':
        this.#runId = event.run.runId;
        return this.#write('run.started', {
          status: event.run.status,
          warnings: unlessEmpty(event.run.warnings ?? []),
        });
      case 'response.output_item.added':
        return this.#itemAdded(event.item, event.statusHints);
      case 'response.output_text.annotation.added':
        return this.#write('citation', { messageId: event.itemId, citation: event.citation });
      case 'response.output_item.done':
        return this.#itemDone(event.item);
      case 'parley.step':
        return this.#step(event);
      case 'parley.flow.step':
        return event.isHidden === true ? '' : this.#write('step', { name: 'flow', step: event.step });
      default:
        return isTerminal(event) && 'run' in event ? this.#ended(event.run) : '';
    }
  }

  #step({ name, detail: { documents: _documents, ...detail } }: Extract<RunEvent, { readonly type: 'parley.step' }>): string {
    return this.#write('step', { name, detail });
  }

  #itemAdded(item: RunItem, hints: readonly string[] = []): string {
    if (item.type === 'message') {
      const names = JSON.stringify({ runId: this.#runId, chatId: this.#chatId, messageId: item.id });
      this.#deltaMiddle = `,${names.slice(1, -1)},"delta":`;
      return this.#write('message.started', { messageId: item.id, role: 'assistant', createdAt: timeOfId(item.id) });
    }
    if (item.type !== 'server_tool_call') return '';
    return this.#write('tool.started', { toolCallId: item.callId, name: item.name, arguments: item.arguments, hints });
  }

  #itemDone(item: RunItem): string {
    if (item.type === 'message') {
      const { id: messageId, text, citations, status } = item;
      const parts = text === '' ? null : visibleParts(text, this.#unsaid);
      if (text !== '') this.#unsaid = [];
      const members = { messageId, role: 'assistant', content: text, parts: parts ?? undefined, status, citations };
      return this.#write('message.completed', members);
    }
    this.#unsaid.push(item);
    if (item.type === 'server_tool_call' && item.form !== undefined) {
      const { callId, status, form, result } = item;
      return this.#write('tool.completed', {
        toolCallId: callId,
        status,
        ...(result === undefined ? { output: '', error: null } : publicResult(result)),
        call: publicForm(form, result),
      });
    }
    if (item.type !== 'server_tool_call_output') return '';
    const { callId: toolCallId, status, error, files } = item;
    return this.#write('tool.completed', {
      toolCallId,
      status,
      output: publicOutput(item),
      error,
      files,
    });
  }

  #ended(run: RunSnapshot): string {
    const toolCalls = awaitedCalls(run);
    const call = toolCalls.length === 0 ? '' : this.#write('tool.call', { systemMessageId: toolMessageId(run), toolCalls });
    const { status, incompleteReason, error, usage, selection } = run;
    const end = this.#write(`run.${status}`, {
      status,
      incompleteReason: incompleteReason ?? undefined,
      error: error === null ? undefined : toWireFailure(error),
      usage,
      selection,
      warnings: unlessEmpty(run.warnings ?? []),
    });
    return call + end + this.#write('done', {});
  }

  #write(type: string, members: Readonly<Record<string, unknown>>): string {
    const sequence = this.#frame;
    this.#frame += 1;
    if (sequence <= this.#knownFrame) return '';
    const data = JSON.stringify({ type, sequence, runId: this.#runId, chatId: this.#chatId, ...members });
    return `id: ${this.#runId}:${sequence}\nevent: ${type}\ndata: ${data}\n\n`;
  }
}

const chatReply = component('ChatReply', 'How a run answered a message.', {
  runId: text('The run.'),
  status: reference('RunStatus'),
  message: object('What it said last; null when it said nothing.', {
    id: text('The id of the message.'),
    createdAt: date('When it began.'),
    updatedAt: date('The same.'),
    role: reference('MessageRole'),
    content: text('Its text; empty for a message that only asks for calls.'),
    parts: parts.optional(),
  }).nullable(),
  systemMessageId: systemMessageId.optional(),
  toolCalls: toolCalls.optional(),
  citations: list('The cited passages, in the order of its text.', reference('Citation')).optional(),
  files: list('Files that tools of the service made; absent when they made none.', outputFile).optional(),
  steps: list('The finished steps of the flow that answered, where they are shown.', flowStep).optional(),
  incompleteReason: incompleteReason.optional(),
  error: failure.optional(),
  usage: usage.nullable(),
  selection: selection.nullable(),
  warnings: warnings.optional(),
});

/** `status` and `error` report a failed run: the message itself was accepted. */
export const chatMessageReply: WireReply = {
  schema: 'ChatReply',
  fold: () => foldOfEnd(toReply),
};

function toReply(run: RunSnapshot): Sent<typeof chatReply> {
  const message = toTranscriptMessages(run).findLast(({ isHidden }) => !isHidden);
  const calls = unlessEmpty(message?.toolCalls?.map(publicCall) ?? []);
  return {
    runId: run.runId,
    status: run.status,
    message: message === undefined ? null : toWireMessage(message),
    systemMessageId: calls === undefined ? undefined : message?.id,
    toolCalls: calls,
    citations: message?.citations ?? undefined,
    files: unlessEmpty(listOutputFiles(run.output)),
    steps: run.flowSteps,
    incompleteReason: run.incompleteReason ?? undefined,
    error: run.error === null ? undefined : toWireFailure(run.error),
    usage: run.usage === null ? null : { ...run.usage, totalTokens: run.usage.inputTokens + run.usage.outputTokens },
    selection: run.selection,
    warnings: unlessEmpty(run.warnings ?? []),
  };
}

/** Without what is for the service only. */
function publicCall({ origin: _origin, ...call }: ToolCall): Omit<ToolCall, 'origin'> {
  return call;
}

function toWireMessage({ id, createdAt, role, content, parts: visibleParts }: ReturnType<typeof toTranscriptMessages>[number]) {
  const began = createdAt.toISOString();
  return { id, createdAt: began, updatedAt: began, role, content, parts: visibleParts ?? undefined };
}
