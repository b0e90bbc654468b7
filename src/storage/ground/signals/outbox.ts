// Raw SQL: Prisma has no NOTIFY.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';

/** Signals of this time go in one statement. */
const gatherMs = 10;
const retryMs = 250;
/** PostgreSQL refuses payloads of 8,000 bytes. */
const payloadBytesMax = 7_900;
/** More signals than this wait for a database that does not answer: the oldest go. The database is looked up by then anyway. */
const linesMax = 20_000;

/**
 * Sends signals by NOTIFY, outside any transaction: the commit of a transaction with a notification waits for all others. The lines of a channel go
 * together, as many as fit one payload. While the server does not answer, they are kept.
 */
export class Outbox {
  readonly #pool: Pool;
  readonly #onError: (error: Error) => void;
  readonly #closing: AbortSignal;
  /** By channel and line; the value says whether the line needs a notification of its own. */
  #lines = new Map<string, readonly [channel: string, line: string, isAlone: boolean]>();
  #sending: Promise<void> | undefined;
  /** Signals of all callers go together, so they wait in the line of none. */
  readonly #forAll = AsyncLocalStorage.snapshot();
  sent = 0;

  constructor(pool: Pool, onError: (error: Error) => void, closing: AbortSignal) {
    this.#pool = pool;
    this.#onError = onError;
    this.#closing = closing;
  }

  /** @param isAlone  the line gets a notification of its own. */
  add(channel: string, line: string, isAlone = false): void {
    this.#lines.set(`${channel} ${line}`, [channel, line, isAlone]);
    if (this.#lines.size > linesMax) {
      const oldest = this.#lines.keys().next();
      if (oldest.done !== true) this.#lines.delete(oldest.value);
    }
    this.#sending ??= this.#forAll(() => this.#send());
  }

  async idle(): Promise<void> {
    await this.#sending;
  }

  async #send(): Promise<void> {
    await wait(gatherMs, undefined, { signal: this.#closing, ref: false }).catch(() => undefined);
    while (this.#lines.size > 0) {
      const lines = this.#lines;
      this.#lines = new Map();
      const notifications = packed([...lines.values()]);
      try {
        await this.#pool.query('SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS n (channel, payload)', [
          notifications.map(([channel]) => channel),
          notifications.map(([, payload]) => payload),
        ]);
        this.sent += notifications.length;
      } catch (error) {
        this.#onError(error instanceof Error ? error : new Error(String(error)));
        if (this.#closing.aborted) break;
        this.#lines = new Map([...lines, ...this.#lines]);
        await wait(retryMs, undefined, { ref: false });
      }
    }
    this.#sending = undefined;
  }
}

/** Lines of a channel in payloads of several lines. */
function packed(
  lines: readonly (readonly [string, string, boolean])[],
): readonly (readonly [channel: string, payload: string])[] {
  const packedEntries: (readonly [string, string])[] = [];
  const open = new Map<string, { text: string; bytes: number }>();
  for (const [channel, line, isAlone] of lines) {
    if (isAlone) {
      packedEntries.push([channel, line]);
      continue;
    }
    const bytes = Buffer.byteLength(line) + 1;
    const payload = open.get(channel);
    if (payload !== undefined && payload.bytes + bytes <= payloadBytesMax) {
      payload.text += `\n${line}`;
      payload.bytes += bytes;
      continue;
    }
    if (payload !== undefined) packedEntries.push([channel, payload.text]);
    open.set(channel, { text: line, bytes });
  }
  return [...packedEntries, ...[...open].map(([channel, { text }]) => [channel, text] as const)];
}
