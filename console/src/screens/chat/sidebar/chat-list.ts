import type { ParleyError } from '@parley/client';
import { useSyncExternalStore } from 'react';
import { readableError, run } from '../../../graphql/client.ts';
import { live } from '../../../graphql/live/live.ts';
import { Readings } from '../../../graphql/readings.ts';
import { type Chat_EntryFragment, ChatListChangesDocument, ChatListDocument, ChatListPinnedDocument } from '../documents.ts';

export interface ChatListView {
  /** Pinned ones first, then the one changed last first. */
  readonly chats: readonly Chat_EntryFragment[];
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: ParleyError | undefined;
}

const pageSize = 30;

/** The caller's chats, kept fresh while somebody listens. It stays when its screen is left. */
class ChatList {
  readonly #listeners = new Set<() => void>();
  readonly #chats = new Map<string, Chat_EntryFragment>();
  readonly #readings = new Readings();
  #view: ChatListView = { chats: [], hasMore: false, isLoading: true, error: undefined };
  #endCursor: string | null = null;
  #leave: (() => void) | undefined;
  #isLoadingMore = false;

  readonly getSnapshot = (): ChatListView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#leave ??= live.subscribe(ChatListChangesDocument, () => ({}), {
      // What changed before the stream began is not told.
      begin: () => void this.reload(),
      next: ({ chatsChanged: { kind, id, node } }) => {
        if (kind === 'DELETED' || node === null) this.remove(id);
        else this.take(node);
      },
      error: (error) => this.#show({ error }),
    });
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#leave?.();
      this.#leave = undefined;
    };
  };

  async reload(): Promise<void> {
    const reading = this.#readings.begin();
    try {
      const [{ chats }, pinned] = await Promise.all([
        run(ChatListDocument, { first: pageSize, after: null, search: null }),
        run(ChatListPinnedDocument, {}),
      ]);
      if (!reading.isNewest()) return;
      // Chats of the loaded pages may have been deleted meanwhile; what the stream told since the query was sent is newer than its reply.
      for (const id of [...this.#chats.keys()]) if (!reading.isOvertaken(id)) this.#chats.delete(id);
      for (const chat of [...chats.nodes, ...pinned.chats.nodes])
        if (!reading.isOvertaken(chat.id)) this.#chats.set(chat.id, chat);
      this.#endCursor = chats.pageInfo.endCursor;
      this.#show({ hasMore: chats.pageInfo.hasNextPage, isLoading: false, error: undefined });
    } catch (cause) {
      this.#show({ isLoading: false, error: readableError(cause) });
    }
  }

  readonly loadMore = async (): Promise<void> => {
    if (this.#isLoadingMore || !this.#view.hasMore) return;
    this.#isLoadingMore = true;
    const reading = this.#readings.begin();
    try {
      const { chats } = await run(ChatListDocument, { first: pageSize, after: this.#endCursor, search: null });
      for (const chat of chats.nodes) {
        if (!this.#chats.has(chat.id) && !reading.isOvertaken(chat.id)) this.#chats.set(chat.id, chat);
      }
      this.#endCursor = chats.pageInfo.endCursor;
      this.#show({ hasMore: chats.pageInfo.hasNextPage, error: undefined });
    } catch (cause) {
      this.#show({ error: readableError(cause) });
    } finally {
      this.#isLoadingMore = false;
    }
  };

  /** What the stream told, or a mutation answered before the stream tells it. */
  take(chat: Chat_EntryFragment): void {
    this.#readings.note(chat.id);
    // An archived chat is out of the list.
    if (chat.isArchived) this.#chats.delete(chat.id);
    else this.#chats.set(chat.id, chat);
    this.#show({});
  }

  remove(id: string): void {
    this.#readings.note(id);
    this.#chats.delete(id);
    this.#show({});
  }

  #show(changes: Partial<ChatListView>): void {
    this.#view = { ...this.#view, ...changes, chats: [...this.#chats.values()].sort(byPlace) };
    for (const listener of [...this.#listeners]) listener();
  }
}

function byPlace(one: Chat_EntryFragment, other: Chat_EntryFragment): number {
  const pins = (one.pinPosition ?? Number.POSITIVE_INFINITY) - (other.pinPosition ?? Number.POSITIVE_INFINITY);
  if (!Number.isNaN(pins) && pins !== 0) return pins;
  return other.updatedAt.localeCompare(one.updatedAt);
}

export const chatList = new ChatList();

export function useChatList(): ChatListView {
  return useSyncExternalStore(chatList.subscribe, chatList.getSnapshot);
}
