import { DomainError } from '../../entities/ground/errors.ts';
import type { ModelRequest } from '../models/port.ts';
import type { TokenNeed } from './meters.ts';
import { estimateNeed } from './token-need.ts';

/** A call that may answer fewer tokens than this is not made. */
const outputTokensMin = 16;

/** Tokens held of an allowance until a model call is over. */
export interface AllowanceHold {
  /** Most tokens of the answer, when fewer are left than asked for. */
  readonly outputMax: number | undefined;
  /** Call it once, with the tokens that the call cost. */
  release(usedTokens: number): void;
}

/** Tokens that the subagents of a run may use together. A part of an allowance is bounded by the whole. */
export class TokenAllowance {
  /** Whether a call was not made because of it. */
  hasRefused = false;
  #max: number;
  readonly #whole: TokenAllowance | undefined;
  #used: number;
  #held = 0;

  /** @param used  in earlier processes. */
  constructor(max: number, whole?: TokenAllowance, usedTokens = 0) {
    this.#max = max;
    this.#whole = whole;
    this.#used = usedTokens;
  }

  get used(): number {
    return this.#used;
  }

  /** Another bound from now on. What is held already may be above it. */
  limitTo(max: number): void {
    this.#max = max;
  }

  get left(): number {
    const own = this.#max - this.#used - this.#held;
    return Math.max(0, this.#whole === undefined ? own : Math.min(own, this.#whole.left));
  }

  /** @param used  of the part, before; the whole knows of it. */
  part(tokensMax = Number.POSITIVE_INFINITY, usedTokens = 0): TokenAllowance {
    return new TokenAllowance(tokensMax, this, usedTokens);
  }

  /** Holds tokens for one model call. @returns undefined when too few are left. */
  take({ input, outputMax }: TokenNeed): AllowanceHold | undefined {
    const { left: remainingTokens } = this;
    if (remainingTokens < input + Math.min(outputMax, outputTokensMin)) {
      this.hasRefused = true;
      return undefined;
    }
    const tokens = Math.min(remainingTokens, input + outputMax);
    this.#hold(tokens);
    let isOpen = true;
    return {
      outputMax: tokens < input + outputMax ? tokens - input : undefined,
      release: (usedTokens) => {
        if (!isOpen) return;
        isOpen = false;
        this.#hold(-tokens);
        this.#use(usedTokens);
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

/**
 * Holds a request's tokens of what subagents may use together.
 *
 * @returns undefined for a run that is no subagent.
 * @throws DomainError INSUFFICIENT_QUOTA when too few are left.
 */
export function takeShare(request: ModelRequest, tokens: TokenAllowance | undefined): AllowanceHold | undefined {
  if (tokens === undefined) return undefined;
  const share = tokens.take(estimateNeed(request));
  if (share !== undefined) return share;
  throw new DomainError('INSUFFICIENT_QUOTA', 'The tokens that subagents of this answer may use are used up');
}

/** A short answer. */
const answerTokens = 512;

/** Whether a subagent can afford a further request of this size. If not, this one has to answer. */
export function leavesAnother(request: ModelRequest, tokens: TokenAllowance | undefined): boolean {
  if (tokens === undefined || request.tools.length === 0) return true;
  const { input, outputMax } = estimateNeed(request);
  return tokens.left >= 2 * input + Math.min(outputMax, answerTokens);
}

/** What `reserve` returns; gives the share back when it throws. */
export function reserveBeside<Hold>(reserve: () => Hold, share: AllowanceHold | undefined): Hold {
  try {
    return reserve();
  } catch (error) {
    share?.release(0);
    throw error;
  }
}

export function least(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
