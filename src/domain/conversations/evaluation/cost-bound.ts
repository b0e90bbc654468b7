import { costOfDearestToken } from '../../../engine/usage/cost.ts';
import type { TokenAllowance } from '../../../engine/usage/token-allowance.ts';
import type { Experiment } from '../../../entities/conversations/evaluation/experiment.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { findModelId } from '../../agents/agents.ts';
import type { Deps } from '../../deps.ts';
import { findVariantAgent } from './variants.ts';

/** The models that an experiment asks, judges too. @throws DomainError NOT_FOUND; DraftChangedError. Cost: nothing while the versions are cached. */
export async function listModelIds(
  deps: Deps,
  caller: Caller,
  { agentId, variants, scorers }: Pick<Experiment, 'agentId' | 'variants' | 'scorers'>,
): Promise<readonly string[]> {
  const ofVariants = variants.map(
    async (variant) => variant.modelId ?? findModelId(deps, await findVariantAgent(deps, caller, agentId, variant)),
  );
  return [...new Set([...(await Promise.all(ofVariants)), ...scorers.flatMap(({ modelId }) => modelId ?? [])])];
}

/**
 * Holds the bound in money of an experiment by its bound in tokens: what is left of the money reaches for so many of the dearest tokens. It is counted anew
 * with each answer whose cost is known, so that cheap tokens leave room for more.
 */
export class CostBound {
  readonly #allowance: TokenAllowance;
  readonly #tokensMax: number;
  readonly #costMax: number;
  readonly #perToken: number;
  /** Of answers whose cost is known. Tokens of answers under way count as the dearest ones. */
  #tokens: number;
  #cost: number;

  constructor(allowance: TokenAllowance, experiment: Experiment & { readonly costMax: number }, perToken: number) {
    this.#allowance = allowance;
    this.#tokensMax = experiment.tokensMax;
    this.#costMax = experiment.costMax;
    this.#perToken = perToken;
    this.#tokens = experiment.tokens;
    this.#cost = experiment.cost;
    this.note({ tokens: 0, cost: 0 });
  }

  /** Whether the money ends before the tokens. */
  get isTighter(): boolean {
    return this.#reach < this.#tokensMax;
  }

  note({ tokens, cost }: { readonly tokens: number; readonly cost: number }): void {
    this.#tokens += tokens;
    this.#cost += cost;
    this.#allowance.limitTo(Math.min(this.#tokensMax, this.#reach));
  }

  get #reach(): number {
    const left = Math.max(0, this.#costMax - this.#cost);
    return this.#perToken === 0 ? Number.POSITIVE_INFINITY : this.#tokens + Math.floor(left / this.#perToken);
  }
}

/** Undefined for an experiment without a bound in money. */
export async function createBound(
  deps: Deps,
  caller: Caller,
  allowance: TokenAllowance,
  experiment: Experiment,
): Promise<CostBound | undefined> {
  const { costMax } = experiment;
  if (costMax === null) return undefined;
  const prices = (await listModelIds(deps, caller, experiment)).map((id) => deps.models.priceOf(id));
  // A model that lost its price since: nothing is asked.
  const perTokens = prices.map((price) => (price === null ? Number.POSITIVE_INFINITY : costOfDearestToken(price)));
  return new CostBound(allowance, { ...experiment, costMax }, Math.max(...perTokens));
}
