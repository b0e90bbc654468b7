import type { ChatMessage, NewMessage, PromptPart } from '../../../entities/conversations/chats/chat.ts';
import type { RunItem } from '../../../entities/conversations/runs/event.ts';
import { isObject } from '../../../lib/json/json.ts';
import { isInline } from '../../models/inline-images.ts';
import type { ModelMessage, ModelPart } from '../../models/port.ts';
import { earlierTurns } from '../../models/prompts/summary.ts';
import { approvedSuffix } from './transcript.ts';

/** Parts that a model sees as an image: as bytes, or as a reference to a file. */
const imageParts: readonly string[] = ['image', 'chat-file', 'tool-image'];
const imageChars = 4_000;
/**
 * The part of a bound by which history is cut. A cut at each turn would change the beginning of each request, and no prompt cache would serve it.
 */
const stepShare = 0.25;
const missingOutputText = 'Cancelled: no output was given for this call.';

/**
 * A chat's transcript in a form that every provider accepts: each call is followed by exactly one output, and empty messages are
 * left out. So a transcript that was cut anywhere can be continued. A summary replaces compressed turns.
 *
 * @param tokensMax  beyond it the oldest turns are left out (four characters a token), a quarter of it at a time; the last turn always stays.
 */
export function buildHistory(transcript: readonly ChatMessage[], tokensMax: number | undefined): readonly ModelMessage[] {
  const turns: ModelMessage[][] = [];
  const compressionIndex = transcript.findLastIndex(isCompressed);
  const summary = transcript[compressionIndex]?.compression;
  for (const [place, message] of transcript.entries()) {
    if (place <= compressionIndex) continue;
    if (message.role === 'user' || turns.length === 0) turns.push([]);
    turns.at(-1)?.push(...modelMessages(message, transcript, place));
  }
  const recentTurns = tokensMax === undefined ? turns : lastTurns(turns, tokensMax * 4);
  const historyMessages = withApprovedOutputs(recentTurns.flat()).map(withoutImageAddresses);
  return typeof summary === 'string' && summary !== ''
    ? [{ role: 'system', content: `${earlierTurns}\n${summary}` }, ...historyMessages]
    : historyMessages;
}

/**
 * The outputs of calls that a person approved, in the place of the approval: a run that made such a call tells of it once more. The call itself
 * stands with what the model thought and said before it.
 */
function withApprovedOutputs(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const outputs = new Map(
    messages.flatMap((message) =>
      message.role === 'tool' && message.toolCallId.endsWith(approvedSuffix)
        ? [[message.toolCallId, message.content] as const]
        : [],
    ),
  );
  if (outputs.size === 0) return messages;
  const answeredIds = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])));
  const isTold = (id: string) => outputs.has(id) && answeredIds.has(id.slice(0, -approvedSuffix.length));
  return messages.flatMap((message): readonly ModelMessage[] => {
    if (message.role === 'tool') {
      if (isTold(message.toolCallId)) return [];
      const content = outputs.get(message.toolCallId + approvedSuffix);
      return [content === undefined ? message : { ...message, content }];
    }
    if (message.role !== 'assistant' || message.toolCalls?.some(({ id }) => isTold(id)) !== true) return [message];
    const { toolCalls, ...rest } = message;
    const pendingCalls = toolCalls.filter(({ id }) => !isTold(id));
    return pendingCalls.length > 0
      ? [{ ...rest, toolCalls: pendingCalls }]
      : rest.content === null && rest.thoughts === undefined
        ? []
        : [rest];
  });
}

/** Older versions stored images by address. A model gets no address to fetch, and these images are not fetched again. */
function withoutImageAddresses(message: ModelMessage): ModelMessage {
  if (message.role !== 'user' || typeof message.content === 'string') return message;
  if (!message.content.some(isByAddress)) return message;
  const content = message.content.map((part): ModelPart => (isByAddress(part) ? { type: 'text', text: notShown(part) } : part));
  return { ...message, content };
}

function isByAddress(part: ModelPart): part is Extract<ModelPart, { type: 'image' }> {
  return part.type === 'image' && !isInline(part.url);
}

function notShown({ url }: { readonly url: string }): string {
  return `[image ${url.slice(0, 300)}, not shown]`;
}

/** A new message in the form of stored ones. */
export function asStored(message: ChatMessage | NewMessage): ChatMessage {
  return { chatId: '', ordinal: 0, parentId: null, isActive: true, updatedAt: message.createdAt, ...message };
}

/** Whether a summary replaces this message and all before it. */
export function isCompressed({ compression }: Pick<ChatMessage, 'compression'>): boolean {
  return typeof compression === 'string';
}

function modelMessages(message: ChatMessage, transcript: readonly ChatMessage[], place: number): ModelMessage[] {
  switch (message.role) {
    case 'system':
      return message.content === '' ? [] : [{ role: 'system', content: message.content }];
    case 'user':
      if (message.context !== null) return message.context as ModelMessage[];
      return [{ role: 'user', content: message.parts === null ? message.content : message.parts.map(modelPart) }];
    case 'assistant':
      return assistantMessages(message, transcript.slice(place + 1));
    case 'tool':
      // Already written directly after its call.
      return [];
  }
}

function assistantMessages(message: ChatMessage, later: readonly ChatMessage[]): ModelMessage[] {
  const { content, toolCalls } = message;
  const before = (message.context ?? []) as ModelMessage[];
  if (message.context?.length === 0) return [];
  if (toolCalls === null || toolCalls.length === 0) return content === '' ? before : [...before, { role: 'assistant', content }];
  const firstOther = later.findIndex(({ role }) => role !== 'tool');
  const outputs = new Map(
    (firstOther < 0 ? later : later.slice(0, firstOther)).map((output) => [output.toolCallId, output] as const),
  );
  return [
    ...before,
    { role: 'assistant', content: content === '' ? null : content, toolCalls },
    ...toolCalls.map(({ id }): ModelMessage => ({ role: 'tool', toolCallId: id, content: outputText(outputs.get(id)) })),
    // Images of outputs follow them: no provider takes images inside an output.
    ...toolCalls.flatMap(({ id }) => readContext(outputs.get(id)).filter(({ role }) => role !== 'tool')),
  ];
}

/** The output as the model gets it, including parts that people do not see. */
function outputText(output: ChatMessage | undefined): string {
  if (output === undefined) return missingOutputText;
  const whole = readContext(output).find(({ role }) => role === 'tool')?.content;
  const content = typeof whole === 'string' ? whole : output.content;
  if (output.toolStatus === 'error') return `Error: ${content}`;
  if (output.toolStatus === 'cancelled') return content === '' ? missingOutputText : `Cancelled: ${content}`;
  return content;
}

function readContext(message: ChatMessage | undefined): readonly ModelMessage[] {
  return (message?.context ?? []) as readonly ModelMessage[];
}

function modelPart(part: PromptPart): ModelPart {
  if (part.type === 'url') return { type: 'image', url: part.url };
  return { type: 'text', text: part.type === 'text' ? part.text : `[file ${part.id}]` };
}

/** Turns are left out up to the first that begins behind a step, so that the cut stays where it is until the history is a step longer. */
function lastTurns(turns: readonly ModelMessage[][], charsMax: number): readonly ModelMessage[][] {
  let length = 0;
  const starts = turns.map((turn) => {
    const start = length;
    length += measureTurn(turn);
    return start;
  });
  if (length <= charsMax) return turns;
  const step = Math.max(1, Math.floor(charsMax * stepShare));
  const countSteps = (start: number | undefined) => Math.floor((start ?? 0) / step);
  const first = starts.findIndex(
    (start, place) => length - start <= charsMax && countSteps(start) > countSteps(starts[place - 1]),
  );
  return turns.slice(first < 0 ? -1 : first);
}

/**
 * The newest messages of a chat that is longer than what is read of it, from a place that stays the same over many turns.
 *
 * @param messages  the newest of the chat, at most `messagesMax`, in order.
 */
export function cutToStep(messages: readonly ChatMessage[], messagesMax: number): readonly ChatMessage[] {
  const [oldest] = messages;
  if (oldest === undefined || messages.length < messagesMax) return messages;
  const step = Math.max(1, Math.floor(messagesMax * stepShare));
  const start = Math.ceil(oldest.ordinal / step) * step;
  return messages.slice(
    Math.max(
      0,
      messages.findIndex(({ ordinal }) => ordinal >= start),
    ),
  );
}

/** Characters of the messages as JSON; an image counts as 1,000 tokens, however long its bytes or the reference to them are. */
function measureTurn(turn: readonly ModelMessage[]): number {
  let images = 0;
  const text = JSON.stringify(turn, (_name, value: unknown) => {
    if (!isObject(value) || !imageParts.includes(String(value.type))) return value;
    images += 1;
    return undefined;
  });
  return text.length + images * imageChars;
}

/** The text of the messages among the items; null when there is none. */
export function readTurnText(items: readonly RunItem[]): string | null {
  const texts = items.flatMap((item) => (item.type === 'message' ? [item.text] : []));
  return texts.length === 0 ? null : texts.join('\n\n');
}
