import { parsePassages } from '../../runs/prompt/context.ts';
import { parseGivenFiles } from '../../runs/prompt/given-files.ts';
import { earlierTurns } from '../../runs/prompt/history.ts';
import { parseSummaryRequest, type Said } from '../../runs/prompt/summary.ts';
import type { ModelMessage, ModelRequest } from '../port.ts';
import type { Quotable } from './ranking.ts';

/** A request, in the parts that the offline model works with. */
export interface Conversation {
  readonly question: string;
  readonly hasImages: boolean;
  readonly passages: readonly Quotable[];
  /** Files that came with messages; the files of the question first. */
  readonly files: readonly Quotable[];
  /** The messages before the question. Instructions are left out: they must not be quoted. */
  readonly earlier: readonly Quotable[];
  /** Tool outputs after the question, in order, with the names of the tools. */
  readonly toolOutputs: readonly { readonly name: string; readonly content: string }[];
  /** The messages to summarize, when the request asks for a summary. */
  readonly toSummarize: readonly Said[] | undefined;
  /** Whether the last message is a tool's output. */
  readonly isToolTurn: boolean;
}

export function readConversation(request: ModelRequest): Conversation {
  const { messages } = request;
  const last = messages.findLastIndex((message) => message.role === 'user');
  const asked = messages[last];
  return {
    question: asked === undefined ? '' : parseGivenFiles(textOf(asked)).rest,
    files: messages
      .toReversed()
      .flatMap((message) =>
        message.role === 'user'
          ? parseGivenFiles(textOf(message)).files.map(({ name, text }) => ({ citation: null, title: name, text }))
          : [],
      ),
    hasImages: asked?.role === 'user' && typeof asked.content !== 'string' && asked.content.some((part) => part.type === 'image'),
    passages: messages.flatMap((message) =>
      message.role === 'system' ? parsePassages(message.content).map(({ n, title, text }) => ({ citation: n, title, text })) : [],
    ),
    earlier: messages.slice(0, Math.max(0, last)).flatMap((message) => {
      if (message.role === 'system' && message.content.startsWith(`${earlierTurns}\n`))
        return [{ citation: null, title: 'summary', text: message.content.slice(earlierTurns.length + 1) }];
      if (message.role !== 'user' && message.role !== 'assistant') return [];
      return [{ citation: null, title: message.role === 'user' ? 'you' : 'I', text: parseGivenFiles(textOf(message)).rest }];
    }),
    toolOutputs: outputsOf(messages.slice(last + 1)),
    toSummarize: parseSummaryRequest(messages),
    isToolTurn: messages.at(-1)?.role === 'tool',
  };
}

function outputsOf(messages: readonly ModelMessage[]): readonly { name: string; content: string }[] {
  const names = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) names.set(call.id, call.name);
  }
  return messages.flatMap((message) =>
    message.role === 'tool' ? [{ name: names.get(message.toolCallId) ?? 'the tool', content: message.content }] : [],
  );
}

export function textOf(message: ModelMessage): string {
  if (typeof message.content === 'string') return message.content;
  if (message.content === null) return '';
  return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}
