import type { LaterNote, UsageLedger } from '../../usage/ledger.ts';

/**
 * Holds back the charges for a run's model calls until a later event of the run is stored, which proves that this process still had
 * the run. After its first output is stored, a takeover ends the run and charges for the calls in its log. So a process that wakes
 * up late never charges for a call that another process charged for, nor for a call that the log does not show. Limits count a held
 * call at once: the run's next call must not get those tokens.
 */
export class HeldCharges {
  readonly ledger: Pick<UsageLedger, 'note'>;
  readonly #held: LaterNote[] = [];
  readonly #ledger: Pick<UsageLedger, 'holdForEnd'>;
  /** Takes them out of the journal, where they wait for the end of the run. */
  #unhold: () => void = () => {};
  #isDropped = false;

  constructor(ledger: Pick<UsageLedger, 'noteLater' | 'holdForEnd'>) {
    this.#ledger = ledger;
    this.ledger = {
      note: (...entry) => {
        if (!this.#isDropped) this.#held.push(ledger.noteLater(...entry));
      },
    };
  }

  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** The end of the run is stored next, under this fence. */
  holdForEnd(runId: string, fence: number): void {
    if (this.isHolding) this.#unhold = this.#ledger.holdForEnd({ runId, fence, rows: this.#held.map(({ row }) => row) });
  }

  release(): void {
    for (const note of this.#held.splice(0)) note.write();
    this.#unhold();
  }

  /** Drops held charges and all later ones. */
  drop(): void {
    this.#isDropped = true;
    for (const note of this.#held.splice(0)) note.forget();
    this.#unhold();
  }
}
