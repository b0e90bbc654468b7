/** The part of a limit that a process may use before the database has told it what is left. */
const unknownPart = 1 / 4;

/**
 * The requests that one subject may still make: refills with its limit each minute and holds no more. If instances share it, it is
 * their common rest at the last report, less what this process has allowed since.
 */
export class RateBucket {
  readonly perMinute: number;
  /** Requests allowed since the last report. */
  unreported = 0;
  isReporting = false;
  /** When it was last moved to the end of the kept buckets. */
  touchedAtMs: number;
  #tokens: number;
  #atMs: number;
  /** What the report under way contains. */
  #told = 0;
  #isKnown: boolean;
  /** The part of the limit that is this process's alone, while it hears nothing of the others. */
  #share = 1;

  constructor(perMinute: number, nowMs: number, isShared: boolean) {
    this.perMinute = perMinute;
    this.#isKnown = !isShared;
    this.#tokens = perMinute;
    this.#atMs = nowMs;
    this.touchedAtMs = nowMs;
  }

  /** Requests left now; may be a fraction. */
  left(nowMs: number): number {
    const mostNow = this.perMinute * this.#share;
    const refill = ((nowMs - this.#atMs) / 60_000) * mostNow;
    if (refill > 0) {
      this.#tokens = Math.min(mostNow, this.#tokens + refill);
      this.#atMs = nowMs;
    }
    return this.#tokens;
  }

  /** Whether so many requests are allowed together; more than the limit are as many as the limit. */
  has(count: number, nowMs: number): boolean {
    if (this.left(nowMs) < Math.min(count, this.perMinute)) return false;
    return this.#isKnown || this.unreported < Math.ceil(this.perMinute * unknownPart);
  }

  take(count: number): void {
    const takenCount = Math.min(count, this.perMinute);
    this.#tokens -= takenCount;
    this.unreported += takenCount;
  }

  /**
   * After this many unreported requests a report is due: a fraction of a second's limit. So a bucket makes a few reports a second,
   * and instances differ little.
   */
  get reportsAt(): number {
    return Math.max(1, Math.floor(this.perMinute / 60));
  }

  /** @returns the count to report. */
  beginReport(): number {
    this.isReporting = true;
    this.#told = this.unreported;
    this.unreported = 0;
    return this.#told;
  }

  /** @param left  the common rest of all instances. */
  endReport(remainder: number, nowMs: number): void {
    this.isReporting = false;
    this.#isKnown = true;
    this.#share = 1;
    this.#tokens = Math.min(this.perMinute, remainder - this.unreported);
    this.#atMs = nowMs;
  }

  /** The report failed: continues with its share of what this process knows, and reports later. @param instances  that have a share. */
  failReport(instances: number): void {
    this.isReporting = false;
    this.unreported += this.#told;
    const share = 1 / Math.max(1, instances);
    if (!this.#isKnown) this.#tokens = this.perMinute * share - this.unreported;
    else if (this.#share !== share && this.#tokens > 0) this.#tokens *= share / this.#share;
    this.#isKnown = true;
    this.#share = share;
  }
}
