/** Runs `act` for a subject at once, then at most once in a time: what is asked for meanwhile is done once, at the end of that time. */
export class Quiet {
  readonly #timeMs: number;
  readonly #act: (subject: string) => void;
  readonly #subjects = new Map<string, { readonly timer: NodeJS.Timeout; isWanted: boolean }>();

  constructor(timeMs: number, act: (subject: string) => void) {
    this.#timeMs = timeMs;
    this.#act = act;
  }

  ask(subject: string): void {
    const quiet = this.#subjects.get(subject);
    if (quiet === undefined) this.#begin(subject);
    else quiet.isWanted = true;
  }

  /** What was asked for is not done any more. */
  forget(subject: string): void {
    clearTimeout(this.#subjects.get(subject)?.timer);
    this.#subjects.delete(subject);
  }

  close(): void {
    for (const subject of [...this.#subjects.keys()]) this.forget(subject);
  }

  #begin(subject: string): void {
    const timer = setTimeout(() => {
      this.#subjects.delete(subject);
      if (quiet.isWanted) this.#begin(subject);
    }, this.#timeMs);
    const quiet = { timer: timer.unref(), isWanted: false };
    this.#subjects.set(subject, quiet);
    this.#act(subject);
  }
}
