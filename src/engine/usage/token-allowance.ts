import type { TokenNeed } from './limits.ts';

/** A call that may answer fewer tokens than this is not made. */
const outputTokensMin = 16;

/** Tokens held of an allowance until a model call is over. */
export interface AllowanceHold {
  /** Most tokens of the answer, when fewer are left than asked for. */
  readonly outputMax: number | undefined;
  /** Call it once, with the tokens that the call cost. */
  release(used: number): void;
}

/** Tokens that the subagents of a run may use together. A part of an allowance is bounded by the whole. */
export class TokenAllowance {
  /** Whether a call was not made because of it. */
  hasRefused = false;
  readonly #max: number;
  readonly #whole: TokenAllowance | undefined;
  #used: number;
  #held = 0;

  /** @param used  in earlier processes. */
  constructor(max: number, whole?: TokenAllowance, used = 0) {
    this.#max = max;
    this.#whole = whole;
    this.#used = used;
  }

  get used(): number {
    return this.#used;
  }

  get left(): number {
    const own = this.#max - this.#used - this.#held;
    return Math.max(0, this.#whole === undefined ? own : Math.min(own, this.#whole.left));
  }

  /** @param used  of the part, before; the whole knows of it. */
  part(tokensMax = Number.POSITIVE_INFINITY, used = 0): TokenAllowance {
    return new TokenAllowance(tokensMax, this, used);
  }

  /** Holds tokens for one model call. @returns undefined when too few are left. */
  take({ input, outputMax }: TokenNeed): AllowanceHold | undefined {
    const { left } = this;
    if (left < input + Math.min(outputMax, outputTokensMin)) {
      this.hasRefused = true;
      return undefined;
    }
    const tokens = Math.min(left, input + outputMax);
    this.#hold(tokens);
    let isOpen = true;
    return {
      outputMax: tokens < input + outputMax ? tokens - input : undefined,
      release: (used) => {
        if (!isOpen) return;
        isOpen = false;
        this.#hold(-tokens);
        this.#use(used);
      },
    };
  }

  #hold(tokens: number): void {
    this.#held += tokens;
    if (this.#whole !== undefined) this.#whole.#hold(tokens);
  }

  #use(tokens: number): void {
    this.#used += tokens;
    if (this.#whole !== undefined) this.#whole.#use(tokens);
  }
}
