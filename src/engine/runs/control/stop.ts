/** What is said of a run that ended with its process. */
export const shutdownMessage = 'The service was stopped';

/**
 * Why a run was told to stop; the reason of its signal. `shutdown`: this process ends. `lost`: another process took the run over,
 * so this one may write nothing. `revoked`: the key that began it was revoked.
 */
export class RunStop extends Error {
  override readonly name = 'RunStop';
  readonly kind: 'cancelled' | 'timeout' | 'shutdown' | 'lost' | 'paused' | 'revoked';

  constructor(kind: RunStop['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The life of one run in this process: its signal fires with the caller's signal, a cancel, or the time limit. */
export class RunScope {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout;
  readonly #timeoutMs: number;
  readonly #outer: AbortSignal | undefined;
  readonly #onOuterAbort = () => this.stop(clientStop);

  constructor(timeoutMs: number, outer?: AbortSignal) {
    this.#timeoutMs = timeoutMs;
    this.#timer = this.#stopAfter(timeoutMs);
    this.#outer = outer;
    if (outer?.aborted === true) this.#onOuterAbort();
    else outer?.addEventListener('abort', this.#onOuterAbort, { once: true });
  }

  /** Subtracts the time that earlier processes worked on the run. */
  countWorked(workedMs: number): void {
    clearTimeout(this.#timer);
    const leftMs = this.#timeoutMs - workedMs;
    if (leftMs > 0) this.#timer = this.#stopAfter(leftMs);
    else this.stop(this.#timeout());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(reason: RunStop): void {
    this.#controller.abort(reason);
  }

  /** @param isOver  whether the run ended by itself; otherwise its reader left, and work may be under way. */
  close(isOver: boolean): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#onOuterAbort);
    if (!isOver) this.stop(closingStop);
  }

  #stopAfter(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.stop(this.#timeout()), ms).unref();
  }

  #timeout(): RunStop {
    return new RunStop('timeout', `The run took longer than ${this.#timeoutMs} ms`);
  }
}

// Made once: an error with its stack costs as much as all other work when a reader leaves.
const clientStop = new RunStop('cancelled', 'The client left');
const closingStop = new RunStop('cancelled', 'The run is over');

/** What asking a run to stop wrote: it was not at work and is settled at once, its worker was asked, or nothing. */
export type StopOutcome = 'settled' | 'requested' | 'not-active';
/** Runs the writes that ask a run to stop, for example with an entry of the audit log. What it throws ends the call. */
export type StopChange = (write: () => Promise<StopOutcome>) => Promise<StopOutcome>;
