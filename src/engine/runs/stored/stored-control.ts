import type { NewMessage } from '../../../entities/chats/chat.ts';
import type { RunStore } from '../../../storage/runs/runs.ts';
import type { RunControl } from '../control.ts';
import { RunStop } from '../stop.ts';

/** Lets others reach a stored run: what they ask for is in its row, so that it survives this process. */
export class StoredControl implements RunControl {
  readonly #runs: Pick<RunStore, 'readSteers' | 'closeSteers'>;
  readonly #runId: string;
  readonly #fence: number;
  readonly #pausing = new AbortController();
  #taken = 0;
  #isNewsThere = false;

  /** @param taken  how often the log shows that something was put into the run and taken. */
  constructor(runs: Pick<RunStore, 'readSteers' | 'closeSteers'>, runId: string, fence: number, taken: number) {
    this.#runs = runs;
    this.#runId = runId;
    this.#fence = fence;
    this.#taken = taken;
  }

  get pause(): AbortSignal {
    return this.#pausing.signal;
  }

  get hasNews(): boolean {
    return this.#isNewsThere;
  }

  askToPause(): void {
    if (!this.#pausing.signal.aborted) this.#pausing.abort(new RunStop('paused', 'The run was paused'));
  }

  /** @param count  how often something was put into the run, as far as that is known. */
  heardOf(count: number): void {
    if (count > this.#taken) this.#isNewsThere = true;
  }

  async take(): Promise<readonly (readonly NewMessage[])[]> {
    this.#isNewsThere = false;
    const given = await this.#runs.readSteers(this.#runId, this.#taken);
    this.#taken += given.length;
    return given;
  }

  async mayEnd(): Promise<boolean> {
    const isClosed = await this.#runs.closeSteers(this.#runId, this.#fence, this.#taken);
    if (!isClosed) this.#isNewsThere = true;
    return isClosed;
  }
}
