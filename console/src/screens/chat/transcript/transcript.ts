import type { ParleyError } from '@parley/client';
import { readableError, run } from '../../../graphql/client.ts';
import { live } from '../../../graphql/live/live.ts';
import { Readings } from '../../../graphql/readings.ts';
import {
  type Chat_HeadFragment,
  type Chat_MessageFragment,
  type Chat_QueuedFragment,
  ChatHeadDocument,
  ChatMessagesDocument,
  type ChatSendMutation,
  ChatTranscriptDocument,
} from '../documents.ts';
import { followedRun, runStore } from '../run/run-store.ts';
import { listMessages } from '../run/run-view.ts';

/** A message that is on its way to the service. */
export interface PendingMessage {
  readonly id: string;
  readonly text: string;
  readonly filenames: readonly string[];
}

export interface TranscriptView {
  /** Undefined until the first reply; null when there is none, or the caller may not read it. */
  readonly chat: Chat_HeadFragment | null | undefined;
  /** Of the branch that people read, in order: the newest, and what was loaded before them. */
  readonly messages: readonly Chat_MessageFragment[];
  readonly hasEarlier: boolean;
  readonly isLoadingEarlier: boolean;
  /** Runs that go on, in the order in which they began. */
  readonly runIds: readonly string[];
  readonly pending: readonly PendingMessage[];
  readonly error: ParleyError | undefined;
}

export const pageSize = 50;
/** What `Readings` calls the chat itself, beside the ids of its messages. */
const headKey = 'head';

/**
 * A chat as this browser knows it, for `useSyncExternalStore`: its messages, kept fresh by subscriptions while somebody listens, and the runs that go
 * on in it, whoever began them. Stays after its screen is left, so that going back shows it at once.
 */
export class Transcript {
  readonly chatId: string;
  readonly #listeners = new Set<() => void>();
  readonly #watchedRuns = new Map<string, () => void>();
  readonly #readings = new Readings();
  #view: TranscriptView;
  #startCursor: string | null = null;
  #leave: (() => void)[] = [];

  constructor(chatId: string, chat?: Chat_HeadFragment) {
    this.chatId = chatId;
    this.#view = {
      ...{ chat, messages: [], hasEarlier: false, isLoadingEarlier: false },
      ...{ runIds: [], pending: [], error: undefined },
    };
  }

  readonly getSnapshot = (): TranscriptView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#leave.length === 0) this.#follow();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      for (const leave of this.#leave) leave();
      this.#leave = [];
      for (const leave of this.#watchedRuns.values()) leave();
      this.#watchedRuns.clear();
    };
  };

  /**
   * Loads the newest messages anew. Earlier ones that were loaded stay, unless they may be of another branch. What the streams told while the reply
   * was on its way is newer than the reply, and stays.
   */
  async reload(keepsEarlier = true): Promise<void> {
    const reading = this.#readings.begin();
    try {
      const { chat } = await run(ChatTranscriptDocument, { id: this.chatId, last: pageSize, before: null });
      if (!reading.isNewest()) return;
      if (chat === null) {
        this.#set({ chat: null, messages: [], error: undefined });
        return;
      }
      const { messages, ...head } = chat;
      const [first] = messages.nodes;
      const currentMessages = this.#view.messages;
      // What lies between the known messages and a page that does not reach them is not known.
      const isJoined = keepsEarlier && first !== undefined && currentMessages.some(({ id }) => id === first.id);
      const earlier = isJoined ? currentMessages.filter(({ id }) => id < first.id) : [];
      if (!isJoined || earlier.length === 0) this.#startCursor = messages.pageInfo.startCursor;
      const hasEarlier = isJoined && earlier.length > 0 ? this.#view.hasEarlier : messages.pageInfo.hasPreviousPage;
      const currentIds = new Set(currentMessages.map(({ id }) => id));
      // Of a message that was told since, the reply may still know more about its run; one that was deleted since stays away.
      const nodes = messages.nodes.filter(({ id }) => !reading.isOvertaken(id) || currentIds.has(id));
      const newer = currentMessages.filter(({ id }) => reading.isOvertaken(id));
      this.#set({ messages: mergeMessages([...earlier, ...nodes], newer), hasEarlier, error: undefined });
      this.#takeHead(reading.isOvertaken(headKey) ? (this.#view.chat ?? head) : head);
    } catch (cause) {
      this.#set({ error: readableError(cause) });
    }
  }

  /** Loads the page before the earliest message that is known. */
  async loadEarlier(count = pageSize): Promise<void> {
    const before = this.#startCursor;
    if (!this.#view.hasEarlier || this.#view.isLoadingEarlier || before === null) return;
    this.#set({ isLoadingEarlier: true });
    const reading = this.#readings.begin();
    try {
      const { chat } = await run(ChatTranscriptDocument, { id: this.chatId, last: count, before });
      if (chat === null || this.#startCursor !== before) return;
      const { nodes, pageInfo } = chat.messages;
      const messageIds = new Set(this.#view.messages.map(({ id }) => id));
      this.#startCursor = pageInfo.startCursor;
      this.#set({
        messages: [...nodes.filter(({ id }) => !messageIds.has(id) && !reading.isOvertaken(id)), ...this.#view.messages],
        hasEarlier: pageInfo.hasPreviousPage,
      });
    } catch (cause) {
      this.#set({ error: readableError(cause) });
    } finally {
      this.#set({ isLoadingEarlier: false });
    }
  }

  /**
   * A run that began here: its messages stand at once, unless the stream told of them first, which is newer. `isBranch`: it began a branch, which the
   * messages of the old one leave.
   */
  takeBegun(
    { id, messages }: { readonly id: string; readonly messages: readonly Chat_MessageFragment[] },
    isBranch = false,
  ): void {
    const messageIds = new Set(this.#view.messages.map((message) => message.id));
    this.#merge(messages.filter((message) => !messageIds.has(message.id)));
    this.#watchRun(id);
    if (isBranch) void this.reloadBranch();
  }

  /** A message that was sent: its run began, or the message waits, or it joins the run that answers. */
  takeSent(sent: ChatSendMutation['sendMessage']): void {
    const queue = sent.chat?.queue ?? [];
    this.takeQueue(queue);
    // A run that waits has no message in the chat yet. It is told of when it begins.
    if (queue.every(({ runId }) => runId !== sent.id) || sent.messages.length > 0) this.takeBegun(sent);
  }

  takeQueue(queue: readonly Chat_QueuedFragment[]): void {
    const { chat } = this.#view;
    if (chat !== null && chat !== undefined) this.takeHead({ ...chat, queue: [...queue] });
  }

  takeComparison(comparison: Chat_HeadFragment['comparison']): void {
    const { chat } = this.#view;
    if (chat !== null && chat !== undefined) this.takeHead({ ...chat, comparison });
  }

  /** A message that was rated: of the branch that people read, or of an answer beside it. */
  takeRated(message: Chat_MessageFragment): void {
    if (this.#view.messages.some(({ id }) => id === message.id)) this.#merge([message]);
    const comparison = this.#view.chat?.comparison ?? null;
    if (comparison === null) return;
    const replace = (known: Chat_MessageFragment) => (known.id === message.id ? message : known);
    const runs = comparison.runs.map((beside) => ({ ...beside, messages: beside.messages.map(replace) }));
    this.takeComparison({ ...comparison, runs });
  }

  /** The chat as the service has just told it. */
  takeHead(chat: Chat_HeadFragment): void {
    this.#readings.note(headKey);
    this.#takeHead(chat);
  }

  /** Loads the newest messages of another branch: earlier ones may be those of the old branch, so they are loaded again when they are needed. */
  async reloadBranch(): Promise<void> {
    await this.reload(false);
  }

  /** Shows a message before the service has it. @returns a function that takes it away. */
  addPending(message: PendingMessage): () => void {
    this.#set({ pending: [...this.#view.pending, message] });
    return () => this.#set({ pending: this.#view.pending.filter(({ id }) => id !== message.id) });
  }

  takeMessage(message: Chat_MessageFragment): void {
    this.#merge([message]);
  }

  #follow(): void {
    let isFirst = this.#view.messages.length === 0;
    if (isFirst) void this.reload();
    this.#leave = [
      live.subscribe(ChatMessagesDocument, () => ({ chatId: this.chatId }), {
        // What happened before the stream began is not told.
        begin: () => {
          if (!isFirst) void this.reload();
          isFirst = false;
        },
        next: ({ messagesChanged: { kind, id, node } }) => {
          if (kind === 'DELETED' || node === null) this.#remove(id);
          else this.#merge([node]);
        },
        // It may be gone, which loading tells.
        error: () => void this.reload(),
      }),
      live.subscribe(ChatHeadDocument, () => ({ chatId: this.chatId }), {
        next: ({ chatUpdated }) => this.takeHead(chatUpdated),
      }),
    ];
    for (const id of this.#view.runIds) this.#watchRun(id);
  }

  /** A run whose end is known goes on no more, whatever an older reply says. */
  #takeHead(chat: Chat_HeadFragment): void {
    const isOver = chat.activeRunId !== null && followedRun(chat.activeRunId)?.getSnapshot().ended !== undefined;
    const comparison = keepEnds(this.#view.chat?.comparison ?? null, chat.comparison);
    this.#set({ chat: { ...chat, ...(isOver ? { activeRunId: null } : {}), comparison } });
    if (chat.activeRunId !== null) this.#watchRun(chat.activeRunId);
  }

  /** Follows a run until its end, and puts its messages in the place of its stream then. */
  #watchRun(runId: string): void {
    if (this.#watchedRuns.has(runId)) return;
    const store = runStore(runId);
    const take = () => {
      const view = store.getSnapshot();
      if (view.ended === undefined && view.error === undefined) return;
      this.#watchedRuns.get(runId)?.();
      this.#watchedRuns.delete(runId);
      const messages = listMessages(view).filter(({ role }) => role !== 'SYSTEM');
      const { chat } = this.#view;
      if (chat?.activeRunId === runId && view.ended !== undefined) this.#takeHead(chat);
      this.#set({ runIds: this.#view.runIds.filter((id) => id !== runId) });
      this.#merge(messages);
      if (messages.length === 0) void this.reload();
    };
    if (store.getSnapshot().ended !== undefined) return;
    if (!this.#view.runIds.includes(runId)) this.#set({ runIds: [...this.#view.runIds, runId] });
    this.#watchedRuns.set(runId, store.subscribe(take));
  }

  #merge(messages: readonly Chat_MessageFragment[]): void {
    for (const { id } of messages) this.#readings.note(id);
    this.#set({ messages: mergeMessages(this.#view.messages, messages) });
  }

  #remove(messageId: string): void {
    this.#readings.note(messageId);
    this.#set({ messages: this.#view.messages.filter(({ id }) => id !== messageId) });
  }

  #set(changes: Partial<TranscriptView>): void {
    this.#view = { ...this.#view, ...changes };
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Ids sort by time, and so do the messages of a branch. */
function mergeMessages(
  known: readonly Chat_MessageFragment[],
  changed: readonly Chat_MessageFragment[],
): readonly Chat_MessageFragment[] {
  if (changed.length === 0) return known;
  const byId = new Map(known.map((message) => [message.id, message]));
  for (const message of changed) byId.set(message.id, keepEnd(byId.get(message.id), message));
  return [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Of runs beside each other too: one whose end is known goes on no more, whatever an older reply says. */
function keepEnds(
  known: Chat_HeadFragment['comparison'],
  told: Chat_HeadFragment['comparison'],
): Chat_HeadFragment['comparison'] {
  if (told === null) return null;
  const runs = told.runs.map((toldRun) => {
    if (toldRun.status !== 'IN_PROGRESS') return toldRun;
    const ended = followedRun(toldRun.id)?.getSnapshot().ended;
    const knownRun = known?.runs.find(({ id }) => id === toldRun.id) ?? toldRun;
    if (knownRun.status !== 'IN_PROGRESS' || ended === undefined) return knownRun;
    const { status, incompleteReason, durationMs, error, messages } = ended;
    return { ...knownRun, status, incompleteReason, durationMs, error, messages };
  });
  return { ...told, runs };
}

/** A message that is told may have been read before its run ended: a run whose end is known does not go on again. */
function keepEnd(known: Chat_MessageFragment | undefined, told: Chat_MessageFragment): Chat_MessageFragment {
  if (known?.run?.id !== told.run?.id || hasEnded(told) || known === undefined || !hasEnded(known)) return told;
  return { ...told, run: known.run };
}

const endedStatuses: readonly string[] = ['CANCELLED', 'COMPLETED', 'FAILED', 'INCOMPLETE'];
const hasEnded = ({ run: messageRun }: Chat_MessageFragment) => messageRun !== null && endedStatuses.includes(messageRun.status);

const transcriptsMax = 12;
const transcripts = new Map<string, Transcript>();

export function getTranscript(chatId: string, chat?: Chat_HeadFragment): Transcript {
  const existingTranscript = transcripts.get(chatId);
  transcripts.delete(chatId);
  const transcript = existingTranscript ?? new Transcript(chatId, chat);
  transcripts.set(chatId, transcript);
  const [oldest] = transcripts.keys();
  if (transcripts.size > transcriptsMax && oldest !== undefined) transcripts.delete(oldest);
  return transcript;
}
