import type { RunSpent } from '../../entities/conversations/runs/event.ts';
import { TokenAllowance } from './token-allowance.ts';

export interface BudgetLimits {
  /** Model calls. */
  readonly roundsMax: number;
  /** Calls of the service's tools; undefined: limited by the rounds only. */
  readonly toolCallsMax?: number | undefined;
  /** Tokens of all subagents together; undefined: no limit. */
  readonly subagentTokensMax?: number | undefined;
}

const nothing: RunSpent = { rounds: 0, toolCalls: 0, workedMs: 0 };

/**
 * Counts what a run may still do: model calls, calls of the service's tools, and tokens of its subagents. What a subagent does counts for its run
 * too, and leaves the run one model call for its own answer.
 */
export class RunBudget {
  readonly #limits: BudgetLimits;
  readonly #run: RunBudget | undefined;
  /** Tokens of its subagents, of all levels. A subagent shares its own with those that it starts. */
  readonly subagentTokens: TokenAllowance;
  /** Those of them that its own `deep_research` uses. */
  readonly researchTokens: TokenAllowance;
  /** Tokens of its own model calls; undefined for a run that is no subagent: no limit. */
  readonly tokens: TokenAllowance | undefined;
  readonly #roundsLost: number;
  #rounds: number;
  #toolCalls: number;

  /**
   * @param before  what the run used in earlier processes.
   * @param roundsLost  model calls of dead processes whose answers are not in the log; they count, but no event shows them.
   */
  constructor(limits: BudgetLimits, before: RunSpent = nothing, roundsLost = 0, run?: RunBudget, tokens?: TokenAllowance) {
    this.#limits = limits;
    this.#run = run;
    this.tokens = tokens;
    const { subagentTokensMax = Number.POSITIVE_INFINITY } = limits;
    this.subagentTokens = tokens ?? new TokenAllowance(subagentTokensMax, undefined, before.subagentTokens);
    this.researchTokens = this.subagentTokens.part(undefined, before.researchTokens);
    this.#roundsLost = roundsLost;
    this.#rounds = before.rounds;
    this.#toolCalls = before.toolCalls;
  }

  /** Takes one model call. */
  beginRound(): void {
    this.#rounds += 1;
    this.#run?.beginRound();
  }

  /** Takes one tool call. @returns false when none is left. */
  takeCall(): boolean {
    if (this.#callsLeft <= 0) return false;
    this.#countCall();
    return true;
  }

  get roundsLeft(): number {
    const own = this.#limits.roundsMax - this.#rounds - this.#roundsLost;
    return this.#run === undefined ? own : Math.min(own, this.#run.roundsLeft - 1);
  }

  /** Whether the model may call no tool: it answers, or the run ends. */
  get mustAnswer(): boolean {
    return this.roundsLeft <= 0 || this.#callsLeft <= 0;
  }

  get spent(): Omit<RunSpent, 'workedMs'> {
    const { used: subagentTokens } = this.subagentTokens;
    const { used: researchTokens } = this.researchTokens;
    return {
      ...{ rounds: this.#rounds, toolCalls: this.#toolCalls },
      ...(subagentTokens === 0 ? {} : { subagentTokens }),
      ...(researchTokens === 0 ? {} : { researchTokens }),
    };
  }

  /** The budget of a subagent of this run. @param tokens  a part of `subagentTokens`. */
  share(roundsMax: number, tokens = this.subagentTokens.part()): RunBudget {
    return new RunBudget({ roundsMax }, nothing, 0, this, tokens);
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
