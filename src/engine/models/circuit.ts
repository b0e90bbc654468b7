interface Record {
  failures: number;
  openUntilMs: number;
}

const failuresMax = 3;
const openMs = 10_000;
const openMsMax = 60_000;

/** Remembers failing providers, so that a route with alternatives does not wait for them again. */
export class Circuit {
  readonly #records = new Map<string, Record>();
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  isOpen(key: string): boolean {
    const record = this.#records.get(key);
    return record !== undefined && record.openUntilMs > this.#now().getTime();
  }

  succeeded(key: string): void {
    if (this.#records.size > 0) this.#records.delete(key);
  }

  failed(key: string, retryAfterSeconds: number | undefined): void {
    const record = this.#records.get(key) ?? { failures: 0, openUntilMs: 0 };
    record.failures += 1;
    const nowMs = this.#now().getTime();
    if (retryAfterSeconds !== undefined) record.openUntilMs = nowMs + Math.min(retryAfterSeconds * 1000, openMsMax);
    else if (record.failures >= failuresMax) record.openUntilMs = nowMs + openMs;
    this.#records.set(key, record);
  }
}
