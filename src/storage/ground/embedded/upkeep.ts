import type { PGlite } from '@electric-sql/pglite';

export interface UpkeepOptions {
  readonly db: PGlite;
  readonly log: { readonly logBytes: number; resetLogBytes(): void };
  readonly guard: { readonly isReadOnly: boolean };
}

/** A start after a crash repeats the log since the last checkpoint: this much takes about a second. */
const logBytesMax = 48 * 1024 * 1024;
/** Work that waits is done before a checkpoint, up to here. */
const logBytesUrgent = 2 * logBytesMax;
const checkpointEveryMs = 300_000;

/**
 * What PostgreSQL does in processes of its own, and the embedded one, which has a single process, does not do: checkpoints, without which its
 * log grows for ever. Also makes the database read-only while the disk is full.
 */
export class Upkeep {
  readonly #options: UpkeepOptions;
  #isReadOnly = false;
  #checkpointMs = performance.now();

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  /** Whether the database refuses writes at this moment. */
  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /** Needs the database for itself: no transaction may be open. */
  async run(isIdle: boolean): Promise<void> {
    const { guard } = this.#options;
    if (guard.isReadOnly !== this.#isReadOnly) await this.#setReadOnly(guard.isReadOnly);
    if (this.#isCheckpointDue(isIdle)) await this.#checkpoint();
  }

  #isCheckpointDue(isIdle: boolean): boolean {
    const { logBytes } = this.#options.log;
    if (logBytes >= (isIdle ? logBytesMax : logBytesUrgent)) return true;
    return isIdle && logBytes > 0 && performance.now() - this.#checkpointMs >= checkpointEveryMs;
  }

  async #setReadOnly(isReadOnly: boolean): Promise<void> {
    await this.#options.db.exec(`SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`);
    this.#isReadOnly = isReadOnly;
    // Frees the log that is not needed any more.
    if (isReadOnly) await this.#checkpoint();
  }

  async #checkpoint(): Promise<void> {
    this.#checkpointMs = performance.now();
    this.#options.log.resetLogBytes();
    // Fails on a full disk, and leaves everything as it was: the next one is tried when there is more log.
    await this.#options.db.exec('CHECKPOINT').catch(() => undefined);
  }
}
