import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { OrganizationLimits, UsageKind } from '../../entities/operations/usage.ts';
import type { UsageRow } from '../../storage/ground/ledger/ledger.ts';
import type { UsageLimitStore } from '../../storage/operations/usage/limits.ts';
import type { ModelRouter } from '../models/router.ts';
import type { ProviderRouting } from '../models/routing.ts';
import type { Charge } from '../plan/plan.ts';
import { BudgetSpans } from './budget-spans.ts';
import {
  type BudgetInForce,
  type Meter,
  meterBudget,
  meterTokens,
  moneyRate,
  type Rate,
  type TokenNeed,
  tokenRate,
} from './meters.ts';
import { refuseCall, refuseUnpriced } from './refusals.ts';
import { BlockTable, type TokenBlock } from './token-blocks.ts';

export interface TokenHold {
  /** Most tokens of the answer, when fewer are left than asked for. */
  readonly outputMax: number | undefined;
  /** Call it once, when the call is over and charged. */
  release(): void;
}

/** Whom a call is charged to. */
export type Payer = Pick<Charge, 'orgId' | 'userId' | 'keyId'> & Partial<Pick<Charge, 'agentId'>>;

/** A call that asks whether it may be made. */
export interface MeteredCall {
  readonly charge: Payer;
  readonly kind: UsageKind;
  /** A full id, or that of a route; undefined: of any model. */
  readonly modelId: string | undefined;
  readonly routing?: ProviderRouting | undefined;
}

export interface UsageLimitDeps {
  readonly store: UsageLimitStore;
  /** The prices of models, for budgets in money. */
  readonly models: Pick<ModelRouter, 'priceOf' | 'chainOf'>;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly blockTokens: number;
  /** Of COST_CURRENCY. */
  readonly currency: string;
  now(): Date;
}

/** A budget in force, and what is left of it. */
export interface BudgetLeft extends BudgetInForce {
  readonly left: number;
}

interface RatedMeter {
  readonly meter: Meter;
  readonly rate: Rate;
}

/** A call that may answer fewer tokens than this is refused. */
const outputTokensMin = 16;

/** The ledger stores what calls cost well within this time. */
const storedMaxMs = 1_000;

const noBudgets: readonly BudgetLeft[] = [];
const unlimitedHold: TokenHold = { outputMax: undefined, release: () => undefined };

/**
 * Enforces the token limits of organizations, and budgets of tokens and money. Each model or embedding call asks before it is sent, and releases what it
 * held when it is over; its cost reaches the limits through the ledger. A call that several budgets count must be admitted by all of them.
 *
 * Takes tokens from the limit in blocks, so that most calls of a limited organization need no statement. A block is a small part of
 * what is left: near the limit it shrinks to one call's need, and instances share the rest fairly.
 */
export class UsageLimits {
  /** Identifies this process in the database: the ledger settles its reservations. */
  readonly owner: string = randomUUID();
  readonly #deps: UsageLimitDeps;
  readonly #blocks: BlockTable;
  readonly #spans = new BudgetSpans();
  readonly #stopListening: () => void;

  constructor(deps: UsageLimitDeps) {
    this.#deps = deps;
    this.#blocks = new BlockTable({ ...deps, owner: this.owner });
    // A lowered limit applies at once: blocks from before are given back.
    this.#stopListening = deps.store.onChange((orgId) => this.#blocks.giveUp(orgId));
  }

  /**
   * Holds tokens and money for one call. Without a limit it returns at once, without a statement. With one it takes from the block of
   * this process, else one transaction reserves a new block.
   *
   * @param need  called only when there is a limit.
   * @throws DomainError INSUFFICIENT_QUOTA, or FORBIDDEN for a model without a price that a budget does not allow, thrown or rejected, before
   * anything is sent.
   */
  reserve(call: MeteredCall, need: () => TokenNeed): TokenHold | Promise<TokenHold> {
    const limits = this.#deps.store.find(call.charge.orgId, this.#deps.now().getTime());
    if (limits instanceof Promise) return limits.then((loadedLimits) => this.#holdWithin(loadedLimits, call, need));
    return this.#holdWithin(limits, call, need);
  }

  /** Checks that the smallest call would be allowed, without holding anything. */
  requireLeft(charge: Payer, kind: UsageKind): undefined | Promise<undefined> {
    const tokenHold = this.reserve({ charge, kind, modelId: undefined }, () => ({ input: 0, outputMax: outputTokensMin }));
    const giveBack = (hold: TokenHold) => hold.release() as undefined;
    return tokenHold instanceof Promise ? tokenHold.then(giveBack) : giveBack(tokenHold);
  }

  /** Called by the ledger: a call is to be charged (`sign` -1: another process is charged for it). */
  noted(row: UsageRow, sign: 1 | -1 = 1): void {
    for (const block of this.#blocks.listOf(row.orgId)) block.spent = Math.max(0, block.spent + sign * block.meter.count(row));
  }

  /** Called by the ledger: calls of these organizations are stored. @param readRows  called only where one of them has a limit. */
  written(orgIds: ReadonlySet<string>, readRows: () => readonly UsageRow[]): void {
    if (![...orgIds].some((orgId) => this.#blocks.has(orgId))) return;
    for (const row of readRows()) this.#settle(row);
  }

  #settle(row: UsageRow): void {
    for (const block of this.#blocks.listOf(row.orgId)) {
      const tokens = block.meter.count(row);
      if (tokens === 0) continue;
      block.spent = Math.max(0, block.spent - tokens);
      block.granted = Math.max(0, block.granted - tokens);
      block.used += tokens;
      block.stored.resolve();
      block.stored = Promise.withResolvers();
    }
  }

  /** What this process knows is left of budgets, without a statement: those that a call of it needed lately. */
  left(payer: Payer): readonly BudgetLeft[] {
    const limits = this.#deps.store.peek(payer.orgId);
    if (limits?.budgets === undefined) return noBudgets;
    return this.#listMeters(limits, payer).flatMap((meter) => {
      const block = this.#blocks.find(meter);
      if (block === undefined || meter.budget === undefined) return [];
      const { amount } = meter.budget.budget;
      return [{ ...meter.budget, left: Math.max(0, amount - block.used - block.spent) }];
    });
  }

  /** Releases all reservations. */
  async stop(): Promise<void> {
    this.#stopListening();
    await this.#blocks.close();
  }

  #holdWithin(limits: OrganizationLimits | undefined, call: MeteredCall, need: () => TokenNeed): TokenHold | Promise<TokenHold> {
    if (limits === undefined) return unlimitedHold;
    const { orgId } = call.charge;
    const limit = limits[call.kind];
    if (limits.budgets === undefined) {
      return limit === null ? unlimitedHold : this.#hold({ meter: meterTokens(orgId, call.kind), rate: tokenRate }, need());
    }
    const budgetMeters = this.#listMeters(limits, call.charge);
    if (limit === null && budgetMeters.length === 0) return unlimitedHold;
    const wholeNeed = need();
    const meters = budgetMeters.map((meter) => ({ meter, rate: this.#findRate(meter, call, wholeNeed) }));
    if (limit !== null) meters.unshift({ meter: meterTokens(orgId, call.kind), rate: tokenRate });
    return this.#holdAll(meters, wholeNeed);
  }

  /** The meters of the budgets that count the calls of a payer, in one order. */
  #listMeters({ budgets, timeZone }: OrganizationLimits, { orgId, userId, keyId, agentId }: Payer): readonly Meter[] {
    const now = this.#deps.now();
    return [orgId, userId, keyId, agentId].flatMap((id) =>
      (id == null ? [] : (budgets?.get(id) ?? [])).map((budget) =>
        meterBudget(budget, this.#spans.find(budget, timeZone, now), (row) =>
          [row.orgId, row.userId, row.keyId, row.agentId].some((own) => own !== null && budgets?.get(own)?.includes(budget)),
        ),
      ),
    );
  }

  /** @throws DomainError FORBIDDEN. */
  #findRate({ budget }: Meter, { modelId, routing }: MeteredCall, need: TokenNeed): Rate {
    if (budget?.budget.unit !== 'MONEY') return tokenRate;
    if (modelId === undefined) return { call: 1, input: 0, output: 0 };
    const { models } = this.#deps;
    const prices = models.chainOf(modelId, routing).map((id) => {
      const price = models.priceOf(id);
      if (price === null && !budget.budget.allowsUnpricedModels) throw refuseUnpriced(id, budget.budget);
      return price;
    });
    return moneyRate(prices, need);
  }

  #holdAll(meters: readonly RatedMeter[], need: TokenNeed): TokenHold | Promise<TokenHold> {
    const [first, ...others] = meters;
    if (first === undefined) return unlimitedHold;
    if (others.length === 0) return this.#hold(first, need);
    return this.#holdEach(meters, need);
  }

  /** One after the other, each for as long an answer as those before it admit. What was held is released when one refuses. */
  async #holdEach(meters: readonly RatedMeter[], need: TokenNeed): Promise<TokenHold> {
    const holds: TokenHold[] = [];
    const release = () => {
      for (const hold of holds.splice(0)) hold.release();
    };
    let { outputMax } = need;
    try {
      for (const each of meters) {
        const hold = await this.#hold(each, { ...need, outputMax });
        holds.push(hold);
        outputMax = hold.outputMax ?? outputMax;
      }
    } catch (error) {
      release();
      throw error;
    }
    return { outputMax: outputMax < need.outputMax ? outputMax : undefined, release };
  }

  #hold({ meter, rate }: RatedMeter, need: TokenNeed): TokenHold | Promise<TokenHold> {
    const bounds = measureNeed(rate, need);
    if (bounds.whole === 0) return unlimitedHold;
    const block = this.#blocks.make(meter);
    return this.#blocks.left(block) >= bounds.whole ? take(block, bounds, bounds.whole) : this.#refill(block, bounds);
  }

  /** Calls that wait for a block take turns, so that they do not all ask for one. */
  async #refill(block: TokenBlock, bounds: Bounds): Promise<TokenHold> {
    block.waiting += 1;
    const turn = block.turn
      .catch(() => undefined)
      .then(() => this.#ask(block, bounds))
      .finally(() => {
        block.waiting -= 1;
      });
    block.turn = turn;
    return turn;
  }

  async #ask(block: TokenBlock, bounds: Bounds): Promise<TokenHold> {
    const { whole, least } = bounds;
    let mayWait = true;
    for (;;) {
      const here = this.#blocks.left(block);
      if (here >= whole) return take(block, bounds, whole);
      const isOverspent = here < 0 && block.spent > 0;
      const storePromise = block.stored.promise;
      const grant = await this.#blocks.refill(block, Math.max(1, least - here), whole - here);
      if (grant.kind === 'unlimited') return unlimitedHold;
      const remainder = this.#blocks.left(block);
      if (remainder >= least) return take(block, bounds, Math.min(whole, remainder));
      // The granted tokens may be gone already: other calls take from the block while this one waits.
      if (grant.kind !== 'refused') continue;
      // Calls cost more than they held, and the database may count their tokens already: once this process knows, it asks again.
      if (!isOverspent || !mayWait) throw refuseCall(block.meter, grant, least, this.#deps.currency, this.#deps.now());
      mayWait = false;
      await Promise.race([storePromise, setTimeout(storedMaxMs, undefined, { ref: false })]);
    }
  }
}

/** What a call takes of a meter. */
interface Bounds {
  /** With the answer that it asks for. */
  readonly whole: number;
  /** With the shortest answer that is worth the call. */
  readonly least: number;
  /** The most tokens of an answer for which so much is held. */
  answerFor(amount: number): number | undefined;
}

function measureNeed({ call, input, output }: Rate, need: TokenNeed): Bounds {
  const base = call + input * need.input;
  const whole = Math.ceil(base + output * need.outputMax);
  return {
    whole,
    least: Math.ceil(base + output * Math.min(need.outputMax, outputTokensMin)),
    answerFor: (amount) => (amount < whole ? Math.floor((amount - base) / output) : undefined),
  };
}

function take(block: TokenBlock, bounds: Bounds, amount: number): TokenHold {
  block.held += amount;
  block.isIdle = false;
  let isOpen = true;
  return {
    outputMax: bounds.answerFor(amount),
    release() {
      if (isOpen) block.held -= amount;
      isOpen = false;
    },
  };
}
