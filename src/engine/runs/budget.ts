import type { RunSpent } from '../../entities/runs/event.ts';

export interface BudgetLimits {
  /** Model calls. */
  readonly roundsMax: number;
  /** Calls of tools of the service; undefined: as many as the rounds allow. */
  readonly toolCallsMax?: number | undefined;
}

const nothing: RunSpent = { rounds: 0, toolCalls: 0, workedMs: 0 };

/**
 * Counts what a run may still do, whatever its model wants: model calls, and calls of tools of the service. What a subagent does counts for its run
 * as well, and leaves the run one model call for its own answer.
 */
export class RunBudget {
  readonly #limits: BudgetLimits;
  readonly #run: RunBudget | undefined;
  readonly #roundsLost: number;
  #rounds: number;
  #toolCalls: number;

  /**
   * @param before  what the run used before this process had it.
   * @param roundsLost  model calls of processes that died before their answers were in the log; they count, and are not told of.
   */
  constructor(limits: BudgetLimits, before: RunSpent = nothing, roundsLost = 0, run?: RunBudget) {
    this.#limits = limits;
    this.#run = run;
    this.#roundsLost = roundsLost;
    this.#rounds = before.rounds;
    this.#toolCalls = before.toolCalls;
  }

  /** Takes one model call. */
  beginRound(): void {
    this.#rounds += 1;
    this.#run?.beginRound();
  }

  /** Takes one call of a tool. @returns false when none is left. */
  takeCall(): boolean {
    if (this.#callsLeft <= 0) return false;
    this.#countCall();
    return true;
  }

  get roundsLeft(): number {
    const own = this.#limits.roundsMax - this.#rounds - this.#roundsLost;
    return this.#run === undefined ? own : Math.min(own, this.#run.roundsLeft - 1);
  }

  /** Whether the model may call nothing any more: it has to answer, or the run ends. */
  get mustAnswer(): boolean {
    return this.roundsLeft <= 0 || this.#callsLeft <= 0;
  }

  get spent(): Omit<RunSpent, 'workedMs'> {
    return { rounds: this.#rounds, toolCalls: this.#toolCalls };
  }

  /** For a subagent of this run. */
  share(roundsMax: number): RunBudget {
    return new RunBudget({ roundsMax }, nothing, 0, this);
  }

  get #callsLeft(): number {
    const own = (this.#limits.toolCallsMax ?? Number.POSITIVE_INFINITY) - this.#toolCalls;
    return this.#run === undefined ? own : Math.min(own, this.#run.#callsLeft);
  }

  #countCall(): void {
    this.#toolCalls += 1;
    if (this.#run !== undefined) this.#run.#countCall();
  }
}
