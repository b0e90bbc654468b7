import type { LaterNote, UsageLedger } from '../usage/ledger.ts';

/**
 * Holds back what the calls of a run cost until what the run did next is in the database: then this process still had it. Once something it said is
 * there, whoever takes the run over ends it, and charges for the calls that its log tells of. So a process that was stopped and wakes up
 * late charges for nothing that another one was charged for, nor for a call of which the run does not tell. Limits count a call meanwhile:
 * the run's own next one must not get what is spent.
 */
export class HeldCharges {
  readonly ledger: UsageLedger;
  readonly #held: LaterNote[] = [];
  #isDropped = false;

  constructor(ledger: UsageLedger) {
    this.ledger = {
      ...ledger,
      note: (...entry) => {
        if (!this.#isDropped) this.#held.push(ledger.noteLater(...entry));
      },
    };
  }

  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  release(): void {
    for (const note of this.#held.splice(0)) note.write();
  }

  /** Forgets what is still held, and what comes. */
  drop(): void {
    this.#isDropped = true;
    for (const note of this.#held.splice(0)) note.forget();
  }
}
