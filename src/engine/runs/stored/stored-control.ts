import type { NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunStore } from '../../../storage/conversations/runs/runs.ts';
import type { RunControl } from '../control/control.ts';
import { RunStop } from '../control/stop.ts';

/** How others reach a stored run: requests to pause and added messages are in its row, so they survive this process. */
export class StoredControl implements RunControl {
  readonly #runs: Pick<RunStore, 'readSteers' | 'closeSteers'>;
  readonly #runId: string;
  readonly #fence: number;
  readonly #pausing = new AbortController();
  #taken = 0;
  #isNewsThere = false;

  /** @param taken  how many times added messages were taken, according to the log. */
  constructor(runs: Pick<RunStore, 'readSteers' | 'closeSteers'>, runId: string, fence: number, takenCount: number) {
    this.#runs = runs;
    this.#runId = runId;
    this.#fence = fence;
    this.#taken = takenCount;
  }

  get pause(): AbortSignal {
    return this.#pausing.signal;
  }

  get hasInput(): boolean {
    return this.#isNewsThere;
  }

  askToPause(): void {
    if (!this.#pausing.signal.aborted) this.#pausing.abort(new RunStop('paused', 'The run was paused'));
  }

  /** @param count  how many times messages were added to the run, as far as known. */
  noteInputs(count: number): void {
    if (count > this.#taken) this.#isNewsThere = true;
  }

  async take(): Promise<readonly (readonly NewMessage[])[]> {
    this.#isNewsThere = false;
    const steers = await this.#runs.readSteers(this.#runId, this.#taken);
    this.#taken += steers.length;
    return steers;
  }

  async mayEnd(): Promise<boolean> {
    const isClosed = await this.#runs.closeSteers(this.#runId, this.#fence, this.#taken);
    if (!isClosed) this.#isNewsThere = true;
    return isClosed;
  }
}
