import { FairShare, keyOfOwner, type ShareOptions, type ShareOwner } from './fair-share.ts';

interface Line<Owner> {
  readonly owner: Owner;
  /** In order of arrival. */
  readonly entries: Set<() => void>;
}

/** Places shared like `FairShare`, for work that waits instead of being refused. */
export class FairQueue {
  readonly share: FairShare;
  readonly #lines = new Map<string, Line<ShareOwner>>();
  #waitingCount = 0;

  constructor(options: ShareOptions) {
    this.share = new FairShare(options);
  }

  get waitingCount(): number {
    return this.#waitingCount;
  }

  waitingCountOf(owner: ShareOwner): number {
    return this.#lines.get(keyOfOwner(owner))?.entries.size ?? 0;
  }

  /** Takes a place if this owner may have one now. @returns false when the owner has to wait. */
  tryTake(owner: ShareOwner): boolean {
    if (this.share.refusal(owner) !== undefined) return false;
    this.share.take(owner);
    return true;
  }

  /** Waits for a place, after others of the same organization. @throws the signal's reason as soon as it fires. */
  async take(owner: ShareOwner, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.tryTake(owner)) return;
    const key = keyOfOwner(owner);
    const line = this.#lines.get(key) ?? { owner, entries: new Set() };
    this.#lines.set(key, line);
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#remove(line, enter);
        reject(signal.reason);
      };
      line.entries.add(enter);
      this.#waitingCount += 1;
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Gives a place back; the next owner in turn gets it. */
  give(owner: ShareOwner): void {
    this.share.give(owner);
    if (this.#waitingCount > 0) this.#admit();
  }

  #admit(): void {
    for (;;) {
      const owner = this.share.choose(this.#owners());
      const line = owner === undefined ? undefined : this.#lines.get(keyOfOwner(owner));
      const [enter] = line?.entries ?? [];
      if (owner === undefined || line === undefined || enter === undefined) return;
      this.#remove(line, enter);
      this.share.take(owner);
      enter();
    }
  }

  *#owners(): Generator<ShareOwner> {
    for (const { owner } of this.#lines.values()) yield owner;
  }

  #remove(line: Line<ShareOwner>, enter: () => void): void {
    if (!line.entries.delete(enter)) return;
    this.#waitingCount -= 1;
    const key = keyOfOwner(line.owner);
    if (line.entries.size === 0 && this.#lines.get(key) === line) this.#lines.delete(key);
  }
}
