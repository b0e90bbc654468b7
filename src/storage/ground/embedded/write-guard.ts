import { statfsSync } from 'node:fs';
import type { ReserveFile } from './reserve-file.ts';

export interface WriteGuardOptions {
  /** Of the file system that is watched. */
  readonly folder: string;
  readonly freeMinBytes: number;
  readonly reserveBytes: number;
  readonly reserveFile: ReserveFile;
  readonly onChange: (isReadOnly: boolean) => void;
}

const checkEveryMs = 1_000;

/**
 * Says when the embedded database may not write: while its disk has less than `freeMinBytes`, and from a write that found no room until there
 * is room for the ballast again. A database that stops writing before its disk is full never has to stop in the middle of a commit.
 */
export class WriteGuard {
  readonly #options: WriteGuardOptions;
  readonly #timer: NodeJS.Timeout;
  #isReadOnly = false;

  constructor(options: WriteGuardOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.check(), checkEveryMs).unref();
  }

  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /** A write found no room. */
  noteFull(): void {
    this.#set(true);
  }

  /** Looks at the disk, and takes the room of the ballast when there is enough. */
  check(): void {
    const { folder, freeMinBytes, reserveBytes, reserveFile } = this.#options;
    const { bavail, bsize } = statfsSync(folder);
    const freeBytes = bavail * bsize;
    if (freeBytes - reserveBytes >= freeMinBytes) reserveFile.restore();
    this.#set(freeBytes < freeMinBytes || reserveFile.isSpent);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #set(isReadOnly: boolean): void {
    if (isReadOnly === this.#isReadOnly) return;
    this.#isReadOnly = isReadOnly;
    this.#options.onChange(isReadOnly);
  }
}
