import { DomainError } from '../../entities/errors.ts';
import type { ModelRequest } from '../models/port.ts';
import type { AllowanceHold, TokenAllowance } from './token-allowance.ts';
import { needOf } from './token-need.ts';

/**
 * Holds a request's tokens of what subagents may use together.
 *
 * @returns undefined for a run that is no subagent.
 * @throws DomainError INSUFFICIENT_QUOTA when too few are left.
 */
export function shareOf(request: ModelRequest, tokens: TokenAllowance | undefined): AllowanceHold | undefined {
  if (tokens === undefined) return undefined;
  const share = tokens.take(needOf(request));
  if (share !== undefined) return share;
  throw new DomainError('INSUFFICIENT_QUOTA', 'The tokens that subagents of this answer may use are used up');
}

/** A short answer. */
const answerTokens = 512;

/** Whether a subagent can afford a further request of this size. If not, this one has to answer. */
export function leavesAnother(request: ModelRequest, tokens: TokenAllowance | undefined): boolean {
  if (tokens === undefined || request.tools.length === 0) return true;
  const { input, outputMax } = needOf(request);
  return tokens.left >= 2 * input + Math.min(outputMax, answerTokens);
}

/** What `reserve` returns; gives the share back when it throws. */
export function reserved<Hold>(reserve: () => Hold, share: AllowanceHold | undefined): Hold {
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
