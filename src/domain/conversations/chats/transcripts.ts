import { freshContentAddress } from '../../../engine/knowledge/content-links.ts';
import type { Chat, ChatMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunError } from '../../../entities/conversations/runs/event.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import { oneLine } from '../../../lib/text/text.ts';
import type { Deps } from '../../deps.ts';
import { asVisible } from '../runs/thread.ts';

/**
 * The messages that people may read, one array for each id, in order; of each chat the newest MESSAGES_MAX of its active branch. Transcripts, exports
 * and summaries read messages only through this function, `readTranscriptPages` and `visibleMessages`, which remove content for models (hidden messages,
 * invisible parts, contexts).
 *
 * Cost: three statements.
 */
export async function readTranscripts(deps: Deps, chatIds: readonly string[]): Promise<readonly (readonly ChatMessage[])[]> {
  const messages = await deps.storage.conversations.chats.messagesOf(chatIds, deps.settings.MESSAGES_MAX);
  const byChat = Map.groupBy(visibleMessages(deps, messages), ({ chatId }) => chatId);
  return chatIds.map((id) => byChat.get(id) ?? []);
}

/** One page of the messages of each chat that people may read, in order or newest first. Cost: one statement, at any depth and length of the chats. */
export async function readTranscriptPages(
  deps: Deps,
  chatIds: readonly string[],
  request: PageRequest,
  order: 'asc' | 'desc',
): Promise<readonly Page<ChatMessage>[]> {
  const pages = await deps.storage.conversations.chats.messagePages(chatIds, request, order);
  return pages.map((page) => ({ ...page, items: visibleMessages(deps, page.items) }));
}

/** Stored messages as people may read them. */
export function visibleMessages(deps: Deps, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.flatMap(asVisible).map((message) => withFreshLinks(deps, message));
}

/**
 * Why the run that answers each message failed, in the order of the messages; null for all others. An answer that failed may have said nothing, so the
 * question says that it has no answer. Cost: one statement; none without messages of users.
 */
export async function listFailures(deps: Deps, messages: readonly ChatMessage[]): Promise<readonly (RunError | null)[]> {
  const questions = messages.filter(({ role, runId }) => role === 'user' && runId !== null);
  const failures = await deps.storage.conversations.branches.failuresOf(questions.map(({ id }) => id));
  return messages.map(({ id }) => failures.get(id) ?? null);
}

/** Whether the agent says it in answer to something, and not to begin the chat. */
export function isAnswer({ role, runId, context, isHidden }: ChatMessage): boolean {
  return role === 'assistant' && !isHidden && (runId !== null || context?.length !== 0);
}

/** Links to sources work for an hour, so whoever reads the message gets new ones. */
function withFreshLinks(deps: Deps, message: ChatMessage): ChatMessage {
  const { citations } = message;
  if (citations === null || citations.length === 0) return message;
  return { ...message, citations: citations.map((citation) => ({ ...citation, url: freshContentAddress(deps, citation) })) };
}

/** A message of an export, with why it was not answered. */
type Said = ChatMessage & { readonly failure: RunError | null };

const speakers = { user: 'User', assistant: 'Assistant', system: 'System', tool: 'Tool' } as const;

/** A transcript as Markdown: a heading for the chat and for each message, and a list of sources after each answer. */
export function toMarkdown(chat: Chat, messages: readonly Said[]): string {
  const title = oneLine(chat.name === '' ? 'Chat' : chat.name);
  const blocks = messages.map(({ role, createdAt, content, toolCalls, citations, failure }) =>
    [
      `## ${speakers[role]} · ${createdAt.toISOString()}`,
      ...(content === '' ? [] : [content]),
      ...(failure === null ? [] : [`*Not answered: ${oneLine(failure.message)}*`]),
      ...(toolCalls ?? []).map((call) => fenced(`${call.name} ${call.arguments}`)),
      ...(citations === null || citations.length === 0
        ? []
        : [citations.map(({ index, name, url }) => `- [${index}] ${oneLine(name)} <${oneLine(url)}>`).join('\n')]),
    ].join('\n\n'),
  );
  return `${[`# ${title}`, `With ${oneLine(chat.agent.name)}, begun ${chat.createdAt.toISOString()}.`, ...blocks].join('\n\n')}\n`;
}

/** A transcript as JSON, with the members of the API's chat session. */
export function toJson(chat: Chat, messages: readonly Said[]): string {
  const { id, createdAt, updatedAt, name, agent } = chat;
  const messageRecords = messages.map((message) => ({
    id: message.id,
    createdAt: message.createdAt,
    updatedAt: message.updatedAt,
    role: message.role,
    content: message.content,
    ...(message.parts === null ? {} : { parts: message.parts }),
    ...(message.toolCalls === null
      ? {}
      : { toolCalls: message.toolCalls.map(({ origin: _origin, place: _place, ...call }) => call) }),
    ...(message.toolCallId === null ? {} : { toolCallId: message.toolCallId, toolStatus: message.toolStatus }),
    ...(message.citations === null ? {} : { citations: message.citations }),
    ...(message.failure === null ? {} : { error: message.failure, runId: message.runId }),
  }));
  return `${JSON.stringify({ id, createdAt, updatedAt, name, ai: agent, messages: messageRecords }, null, 2)}\n`;
}

/** Longer than any run of backticks in the text, so that the text cannot end the block. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
