import type { Change, ChangeKind, LiveRow } from '../../../entities/operations/live.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { getChat } from '../../conversations/chats/chats.ts';
import type { Deps } from '../../deps.ts';
import { visibleChats } from '../../ground/access/access.ts';
import { listChanges } from './watch.ts';

/** The newest messages of a chat, of which changes are told. */
const messagesMax = 1_000;

/**
 * Follows the messages of a chat that people read on its active branch, the newest 1,000: what is added, changed, rated and removed. Ends when the chat is deleted or the
 * caller may not read it any more.
 *
 * @param after  the `until` of a change that was told: messages that were written or changed since then are told first.
 * @throws DomainError NOT_FOUND, before the first change.
 *
 * Cost: two statements for every quarter of a second in which the chat changed.
 */
export async function watchMessages(
  deps: Deps,
  caller: Caller,
  chatId: string,
  { after, signal }: { readonly after: Date | undefined; readonly signal: AbortSignal },
): Promise<AsyncGenerator<Change, void, void>> {
  const chat = await getChat(deps, caller, chatId);
  const watch = new MessageWatch(deps, caller, chat.id, signal);
  try {
    await watch.begin(after);
  } catch (error) {
    watch.close();
    throw error;
  }
  return watch.changes();
}

class MessageWatch {
  readonly #deps: Deps;
  readonly #caller: Caller;
  readonly #chatId: string;
  readonly #signal: AbortSignal;
  readonly #stop: () => void;
  #known: ReadonlyMap<string, LiveRow> = new Map();
  #hasChanged = false;
  #wake: (() => void) | undefined;
  #replay: readonly Change[] = [];

  constructor(deps: Deps, caller: Caller, chatId: string, signal: AbortSignal) {
    this.#deps = deps;
    this.#caller = caller;
    this.#chatId = chatId;
    this.#signal = signal;
    this.#stop = deps.live.listen('chat', {
      onChanges: (places) => {
        if (places.has(chatId)) this.#change();
      },
      onRights: () => undefined,
      onAgents: () => undefined,
      onGap: () => this.#change(),
    });
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  readonly #onAbort = () => {
    this.#stop();
    this.#wake?.();
  };

  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#stop();
  }

  async begin(after: Date | undefined): Promise<void> {
    const now = this.#deps.now();
    const rows = await this.#read();
    this.#known = byId(rows);
    if (after === undefined) return;
    // A message of a run has the time of its beginning, and is written at its end.
    const since = new Date(after.getTime() - this.#deps.settings.RUN_TIMEOUT_MS);
    const changedRows = rows.filter(({ updatedAt }) => updatedAt >= since).toReversed();
    this.#replay = listChanges(
      new Map(changedRows.map(({ id, createdAt }) => [id, createdAt >= since ? 'created' : 'updated'])),
      now,
    );
  }

  async *changes(): AsyncGenerator<Change, void, void> {
    try {
      yield* this.#replay;
      while (!this.#signal.aborted) {
        if (!this.#hasChanged) {
          await this.#nextChange();
          continue;
        }
        this.#hasChanged = false;
        const now = this.#deps.now();
        const rule = { kind: 'chat', filter: visibleChats(this.#caller), agentId: undefined } as const;
        if ((await this.#deps.storage.operations.live.find(rule, [this.#chatId])).length === 0) return;
        yield* listChanges(this.#compare(await this.#read()), now);
      }
    } finally {
      this.close();
    }
  }

  #read(): Promise<readonly LiveRow[]> {
    return this.#deps.storage.operations.live.messages(this.#chatId, messagesMax);
  }

  #change(): void {
    this.#hasChanged = true;
    this.#wake?.();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
      if (this.#hasChanged || this.#signal.aborted) this.#wake();
    });
  }

  /** @param rows  the newest first. */
  #compare(rows: readonly LiveRow[]): ReadonlyMap<string, ChangeKind> {
    const now = byId(rows);
    const changeKinds = new Map<string, ChangeKind>();
    const oldest = rows.length < messagesMax ? undefined : rows.at(-1);
    for (const row of this.#known.values()) {
      // Older ones are out of what is read, not gone.
      const isRead = oldest === undefined || row.createdAt > oldest.createdAt;
      if (isRead && !now.has(row.id)) changeKinds.set(row.id, 'deleted');
    }
    for (const row of rows.toReversed()) {
      const before = this.#known.get(row.id);
      if (before === undefined) changeKinds.set(row.id, 'created');
      else if (before.updatedAt.getTime() !== row.updatedAt.getTime()) changeKinds.set(row.id, 'updated');
    }
    this.#known = now;
    return changeKinds;
  }
}

function byId(rows: readonly LiveRow[]): ReadonlyMap<string, LiveRow> {
  return new Map(rows.map((row) => [row.id, row]));
}
