import { Readable } from 'node:stream';
import { summaryMessages } from '../../../engine/models/prompts/summary.ts';
import { finishedRun } from '../../../engine/runs/events/fold.ts';
import type { Chat, ChatMessage } from '../../../entities/conversations/chats/chat.ts';
import { readAnswerText } from '../../../entities/conversations/runs/answer.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { storableText } from '../../../lib/text/text.ts';
import { agentForRun, findModelId } from '../../agents/agents.ts';
import type { Deps } from '../../deps.ts';
import { removeBlobs } from '../../ground/blobs.ts';
import { chargeTo } from '../../ground/charges.ts';
import { closeMessages } from '../../knowledge/permissions/open-items.ts';
import { agentsOfChats, getChat, getOwnChat, missingChat, runActive } from './chats.ts';
import { listFailures, readTranscripts, toJson, toMarkdown } from './transcripts.ts';
import { toTree } from './tree.ts';

export const chatExportFormats = ['markdown', 'json'] as const;
export type ChatExportFormat = (typeof chatExportFormats)[number];

export interface Compression {
  /** The summary that replaces the older turns for models; null without one. */
  readonly summary: string | null;
  /** Messages that the summary replaces. They stay in the transcript. */
  readonly compressedCount: number;
  /** Messages that models still get unchanged. */
  readonly keptCount: number;
}

export interface ChatExport {
  readonly filename: string;
  readonly contentType: string;
  content(): Promise<string>;
}

/** The last turns stay unchanged: the current question and the one before. */
const keptTurns = 2;
const summaryTokensMax = 2_000;

/**
 * Copies a chat of the caller: messages, files (with shared bytes), name, user inputs and summary. The copy is not pinned and has
 * no runs; calls that wait for an answer wait only in the original.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN.
 */
export async function duplicateChat(deps: Deps, caller: Caller, id: string): Promise<Chat> {
  const chat = await getOwnChat(deps, caller, id);
  const copyId = deps.newId('chat');
  const newId = (kind: 'message' | 'chatFile') => deps.newId(kind);
  const copy = { id: copyId, createdAt: deps.now(), newId };
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.chatChanges.duplicate(chat.id, copy))) throw missingChat();
    return { id: copyId };
  });
  return getChat(deps, caller, copyId);
}

/**
 * Deletes all messages of a chat of the caller, with its files and its summary. Its id, agent, name, pin and user inputs stay.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN, RUN_ACTIVE while a run answers: cancel it first.
 */
export async function resetChat(deps: Deps, caller: Caller, id: string): Promise<Chat> {
  const chat = await getOwnChat(deps, caller, id);
  const blobKeys = await deps.audit.change(caller, async () => {
    const result = await deps.storage.conversations.chatChanges.reset(chat.id);
    if (result.kind === 'missing') throw missingChat();
    if (result.kind === 'run-active') throw runActive(result.runId);
    return result.blobKeys;
  });
  await removeBlobs(deps, blobKeys);
  return getChat(deps, caller, id);
}

/**
 * Lets the chat's model summarize its messages, and stores the summary with the chat.
 *
 * @throws DomainError NOT_FOUND (also when its agent is gone), FORBIDDEN, CONFLICT for a chat without messages, and refusals of the model.
 *
 * Cost: one model call, charged in the ledger.
 */
export async function summarizeChat(
  deps: Deps,
  caller: Caller,
  id: string,
  signal: AbortSignal,
): Promise<{ readonly summary: string }> {
  const chat = await getOwnChat(deps, caller, id);
  const [messages = []] = await readTranscripts(deps, [chat.id]);
  if (!messages.some(({ content, role, runId }) => (role === 'user' || runId !== null) && content.trim() !== '')) {
    throw new DomainError('CONFLICT', 'Nothing was said in this chat yet');
  }
  const compression = await deps.storage.conversations.chatChanges.compressionOf(chat.id);
  const isWhole = compression === undefined || messages[0]?.ordinal === 0;
  const earlier = isWhole ? undefined : compression.summary;
  const summary = await askForSummary(deps, caller, chat, messages, earlier, signal);
  await deps.audit.change(caller, () => deps.storage.conversations.chatChanges.setSummary(chat.id, summary));
  return { summary };
}

/** The last summaries of chats; null for chats without one. Cost: one statement. */
export function listSummaries(deps: Deps, chatIds: readonly string[]): Promise<readonly (string | null)[]> {
  return deps.storage.conversations.chatChanges.summariesOf(chatIds);
}

/**
 * From now on, models get a summary instead of all but the last two turns of the chat. The transcript stays. A chat without older
 * turns, or whose older turns were compressed before, stays unchanged, without a model call.
 *
 * @throws DomainError like `summarizeChat`.
 *
 * Cost: at most one model call, charged in the ledger.
 */
export async function compressChat(deps: Deps, caller: Caller, id: string, signal: AbortSignal): Promise<Compression> {
  const chat = await getOwnChat(deps, caller, id);
  const { chatChanges } = deps.storage.conversations;
  const [messages = []] = await readTranscripts(deps, [chat.id]);
  const before = await chatChanges.compressionOf(chat.id);
  const fresh = messages.filter(({ ordinal }) => before === undefined || ordinal > before.ordinal);
  const firstKept = fresh.filter(({ role }) => role === 'user').at(-keptTurns);
  const older = fresh.filter(({ ordinal }) => firstKept !== undefined && ordinal < firstKept.ordinal);
  if (firstKept === undefined || older.length === 0) {
    const summary = before === undefined || before.summary === '' ? null : before.summary;
    return { summary, compressedCount: messages.length - fresh.length, keptCount: fresh.length };
  }
  const summary = await askForSummary(deps, caller, chat, older, before?.summary, signal);
  await deps.audit.change(caller, async () => {
    if (!(await chatChanges.compress(chat.id, firstKept.id, summary))) throw missingChat();
  });
  const keptCount = fresh.length - older.length;
  return { summary, compressedCount: messages.length - keptCount, keptCount };
}

/**
 * A chat that the caller may read, as a file: its newest MESSAGES_MAX messages, without content for models only.
 *
 * @throws DomainError NOT_FOUND.
 */
export async function exportChat(deps: Deps, caller: Caller, id: string, format: ChatExportFormat): Promise<ChatExport> {
  const chat = await getChat(deps, caller, id);
  deps.audit.export(caller, chat);
  const write = format === 'json' ? toJson : toMarkdown;
  return {
    filename: `${fileStem(chat.name)}.${format === 'json' ? 'json' : 'md'}`,
    contentType: format === 'json' ? 'application/json; charset=utf-8' : 'text/markdown; charset=utf-8',
    async content() {
      const [transcript = []] = await readTranscripts(deps, [chat.id]);
      const messages = await closeMessages(deps, caller, transcript);
      const failures = await listFailures(deps, messages);
      const [agent = chat.agent] = await agentsOfChats(deps, [chat]);
      return write(
        { ...chat, agent },
        messages.map((message, index) => ({ ...message, failure: failures[index] ?? null })),
      );
    },
  };
}

/**
 * A chat that the caller may read with all its branches, as a JSON file that `importChats` reads: without content for models only.
 *
 * @throws DomainError NOT_FOUND; REPLY_TOO_LARGE when it does not fit a reply.
 */
export async function exportChatTree(deps: Deps, caller: Caller, id: string): Promise<ChatExport> {
  const chat = await getChat(deps, caller, id);
  deps.audit.export(caller, chat);
  return {
    filename: `${fileStem(chat.name)}.chat.json`,
    contentType: 'application/json; charset=utf-8',
    content: async () => {
      const messages = await deps.storage.conversations.branches.treeOf(chat.id);
      return toTree(chat, await closeMessages(deps, caller, messages));
    },
  };
}

/** The same as bytes. */
export async function openChatExport(deps: Deps, caller: Caller, id: string, format: ChatExportFormat) {
  const { filename, contentType, content } = await exportChat(deps, caller, id, format);
  const bytes = Buffer.from(await content());
  return { filename, contentType, sizeBytes: bytes.length, open: async () => Readable.from([bytes], { objectMode: false }) };
}

async function askForSummary(
  deps: Deps,
  caller: Caller,
  chat: Chat,
  messages: readonly ChatMessage[],
  earlierSummary: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const modelId = await modelOfChat(deps, caller, chat);
  const events = deps.runs.runStateless(
    {
      kind: 'compaction',
      modelId,
      // A chat whose context was emptied has an empty one.
      messages: summaryMessages(messages, earlierSummary === '' ? undefined : earlierSummary),
      tools: [],
      parameters: { maxTokens: summaryTokensMax },
      isStreaming: false,
      generateCitations: false,
      hidesSteps: true,
      charge: chargeTo(caller, { agentId: chat.agentId, runId: null }),
    },
    signal,
  );
  const summary = storableText(readAnswerText((await finishedRun(events)).output)).trim();
  if (summary === '') throw new DomainError('UPSTREAM_ERROR', 'The model gave no summary');
  return summary;
}

async function modelOfChat(deps: Deps, caller: Caller, chat: Chat): Promise<string> {
  const ofThread = 'modelId' in chat && typeof chat.modelId === 'string' ? chat.modelId : undefined;
  if (typeof chat.agentId !== 'string') return ofThread ?? deps.models.defaultModelId();
  const agent = await agentForRun(deps, caller, chat.agentId);
  const model = await deps.models.find(findModelId(deps, agent));
  if (model === undefined) throw new DomainError('MODEL_NOT_FOUND', 'The model of this AI is not available');
  return model.id;
}

function fileStem(name: string): string {
  const stem = name
    .replaceAll(/[\p{Cc}\\/:*?"<>|]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^\.+/, '');
  return stem === '' ? 'chat' : stem.slice(0, 100).toWellFormed();
}
