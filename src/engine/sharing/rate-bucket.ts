/** Until it has heard of the others, a process lets in no more than this part of a limit. */
const unknownPart = 1 / 4;

/**
 * Requests that one subject may still make: grows by its limit of a minute each minute, and holds no more than that. Where several instances
 * share it, it is what they had together when this process last asked, less what this process let in since.
 */
export class RateBucket {
  readonly perMinute: number;
  /** Let in since this process last told. */
  unreported = 0;
  isReporting = false;
  /** When it was last put to the end of what is remembered. */
  touchedAtMs: number;
  #tokens: number;
  #atMs: number;
  /** Of the report under way: what it told. */
  #told = 0;
  #isKnown: boolean;

  constructor(perMinute: number, nowMs: number, isShared: boolean) {
    this.perMinute = perMinute;
    this.#isKnown = !isShared;
    this.#tokens = perMinute;
    this.#atMs = nowMs;
    this.touchedAtMs = nowMs;
  }

  /** What there is now, which may be less than one. */
  left(nowMs: number): number {
    const grown = ((nowMs - this.#atMs) / 60_000) * this.perMinute;
    if (grown > 0) {
      this.#tokens = Math.min(this.perMinute, this.#tokens + grown);
      this.#atMs = nowMs;
    }
    return this.#tokens;
  }

  /** Whether one request may be let in. */
  hasOne(nowMs: number): boolean {
    if (this.left(nowMs) < 1) return false;
    return this.#isKnown || this.unreported < Math.ceil(this.perMinute * unknownPart);
  }

  take(): void {
    this.#tokens -= 1;
    this.unreported += 1;
  }

  /** A part of a second's worth: so a report is never more than a few a second, and what instances do not know of each other is little. */
  get reportsAt(): number {
    return Math.max(1, Math.floor(this.perMinute / 60));
  }

  /** @returns what to tell. */
  beginReport(): number {
    this.isReporting = true;
    this.#told = this.unreported;
    this.unreported = 0;
    return this.#told;
  }

  /** @param left  what all instances have together. */
  endReport(left: number, nowMs: number): void {
    this.isReporting = false;
    this.#isKnown = true;
    this.#tokens = Math.min(this.perMinute, left - this.unreported);
    this.#atMs = nowMs;
  }

  /** The others were not asked: goes on with what this process knows, and tells later. */
  failReport(): void {
    this.isReporting = false;
    this.unreported += this.#told;
    if (this.#isKnown) return;
    this.#isKnown = true;
    this.#tokens = this.perMinute - this.unreported;
  }
}
