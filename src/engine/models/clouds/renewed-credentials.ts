export interface TimedCredentials<T> {
  readonly value: T;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** Clouds give new credentials from about this time before the end of the old ones. */
const renewBeforeMs = 5 * 60_000;
/** A call that begins now must still be able to use them. */
const usableForMs = 10_000;
/** After an attempt nobody asks again for so long: every run would wait for a service that is down. */
const pauseMs = 1_000;

/** Credentials that end: fetched by the first who needs them, and fetched again, once for all, before they end. */
export class RenewedCredentials<T> {
  readonly #fetch: () => Promise<TimedCredentials<T>>;
  readonly #now: () => Date;
  #current: (TimedCredentials<T> & { readonly renewAtMs: number }) | undefined;
  #fetching: Promise<T> | undefined;
  #failure: { readonly error: unknown; readonly atMs: number } | undefined;

  constructor(fetch: () => Promise<TimedCredentials<T>>, now: () => Date) {
    this.#fetch = fetch;
    this.#now = now;
  }

  /** @throws what the fetch throws, while no earlier credentials are usable. */
  get(): T | Promise<T> {
    const nowMs = this.#now().getTime();
    const current = this.#current;
    if (current === undefined || nowMs >= current.expiresAtMs - usableForMs) return this.#renew(nowMs);
    // The old ones serve until the new ones are here, also when a renewal fails.
    if (nowMs >= current.renewAtMs) this.#renew(nowMs).catch(() => {});
    return current.value;
  }

  #renew(nowMs: number): Promise<T> {
    if (this.#fetching !== undefined) return this.#fetching;
    if (this.#failure !== undefined && nowMs - this.#failure.atMs < pauseMs) return Promise.reject(this.#failure.error);
    this.#fetching = this.#fetchOnce().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetchOnce(): Promise<T> {
    try {
      const fetched = await this.#fetch();
      const nowMs = this.#now().getTime();
      const leftMs = fetched.expiresAtMs - nowMs;
      // What lives shorter is renewed in the middle of its life.
      this.#current = { ...fetched, renewAtMs: nowMs + Math.max(leftMs - renewBeforeMs, leftMs / 2) };
      this.#failure = undefined;
      return fetched.value;
    } catch (error) {
      this.#failure = { error, atMs: this.#now().getTime() };
      throw error;
    }
  }
}
