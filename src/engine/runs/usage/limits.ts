import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { DomainError } from '../../../entities/errors.ts';
import type { UsageKind } from '../../../entities/usage.ts';
import type { TokenGrant, UsageLimitStore } from '../../../storage/usage/limits.ts';
import { BlockTable, type TokenBlock } from './token-blocks.ts';

/**
 * What stands between an organization and its limits. Every call of a model or an embedding asks here before anything is sent, and gives
 * back what it held when it is over; what it cost reaches the limits through the ledger.
 */
export interface UsageLimits {
  /** This process, as the database knows it: the ledger settles against its reservations. */
  readonly owner: string;
  /**
   * Holds tokens for one call. Without a limit: at once, no database. With one: at once from the block this process holds, else one
   * transaction for a new block.
   *
   * @param need  asked only when there is a limit.
   * @throws DomainError INSUFFICIENT_QUOTA, thrown or rejected, before anything is sent.
   */
  reserve(orgId: string, kind: UsageKind, need: () => TokenNeed): TokenHold | Promise<TokenHold>;
  /** The same question without holding anything: whether the smallest call would be let in. */
  requireLeft(orgId: string, kind: UsageKind): undefined | Promise<undefined>;
  /** Told by the ledger: a call cost so much (below zero: somebody else is charged for it), and later: that is written. */
  noted(orgId: string, kind: UsageKind, tokens: number): void;
  written(orgId: string, kind: UsageKind, tokens: number): void;
  /** Gives everything back. */
  stop(): Promise<void>;
}

/** What a call may cost. */
export interface TokenNeed {
  readonly input: number;
  /** The most it may answer; the hold may grant less, down to a few tokens. */
  readonly outputMax: number;
}

export interface TokenHold {
  /** The most the call may answer, when less than it asked for is left. */
  readonly outputMax: number | undefined;
  /** Once, when the call is over and the ledger knows what it cost. */
  release(): void;
}

export interface UsageLimitDeps {
  readonly store: UsageLimitStore;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly blockTokens: number;
  now(): Date;
}

/** An answer of fewer tokens is no answer. */
const outputTokensMin = 16;
/** When others hold what is missing, some of it comes back shortly; what is used up does not. */
const retrySoonSeconds = 1;
const retryLateSeconds = 3_600;

const unlimited: TokenHold = { outputMax: undefined, release: () => undefined };

export function createUsageLimits(deps: UsageLimitDeps): UsageLimits {
  return new BlockedUsageLimits(deps);
}

/**
 * Tokens are taken from the limit in blocks, so that most calls of a limited organization cost no database round trip either. A block is a
 * small part of what is left: near the limit it shrinks to what one call needs, and instances share what is left fairly.
 */
class BlockedUsageLimits implements UsageLimits {
  readonly owner = randomUUID();
  readonly #deps: UsageLimitDeps;
  readonly #blocks: BlockTable;
  readonly #stopListening: () => void;

  constructor(deps: UsageLimitDeps) {
    this.#deps = deps;
    this.#blocks = new BlockTable({ ...deps, owner: this.owner });
    // A limit that was lowered must not be outlived by a block from before.
    this.#stopListening = deps.store.onChange((orgId) => this.#blocks.giveUp(orgId));
  }

  reserve(orgId: string, kind: UsageKind, need: () => TokenNeed): TokenHold | Promise<TokenHold> {
    const limits = this.#deps.store.find(orgId, this.#deps.now().getTime());
    if (limits instanceof Promise) {
      return limits.then((found) => (hasLimit(found, kind) ? this.#hold(orgId, kind, need()) : unlimited));
    }
    return hasLimit(limits, kind) ? this.#hold(orgId, kind, need()) : unlimited;
  }

  requireLeft(orgId: string, kind: UsageKind): undefined | Promise<undefined> {
    const held = this.reserve(orgId, kind, () => ({ input: 0, outputMax: outputTokensMin }));
    const giveBack = (hold: TokenHold) => hold.release() as undefined;
    return held instanceof Promise ? held.then(giveBack) : giveBack(held);
  }

  noted(orgId: string, kind: UsageKind, tokens: number): void {
    const block = this.#blocks.find(orgId, kind);
    if (block !== undefined) block.spent = Math.max(0, block.spent + tokens);
  }

  written(orgId: string, kind: UsageKind, tokens: number): void {
    const block = this.#blocks.find(orgId, kind);
    if (block === undefined) return;
    block.spent = Math.max(0, block.spent - tokens);
    block.granted = Math.max(0, block.granted - tokens);
  }

  async stop(): Promise<void> {
    this.#stopListening();
    await this.#blocks.close();
  }

  #hold(orgId: string, kind: UsageKind, need: TokenNeed): TokenHold | Promise<TokenHold> {
    const block = this.#blocks.make(orgId, kind);
    const whole = need.input + need.outputMax;
    return this.#blocks.left(block) >= whole ? take(block, need, whole) : this.#refill(block, need);
  }

  /** Calls that wait for one block take turns, so that they do not all ask for one. */
  async #refill(block: TokenBlock, need: TokenNeed): Promise<TokenHold> {
    const turn = block.turn.catch(() => undefined).then(() => this.#ask(block, need));
    block.turn = turn;
    return turn;
  }

  async #ask(block: TokenBlock, need: TokenNeed): Promise<TokenHold> {
    const whole = need.input + need.outputMax;
    const least = need.input + Math.min(need.outputMax, outputTokensMin);
    for (;;) {
      const here = this.#blocks.left(block);
      if (here >= whole) return take(block, need, whole);
      const grant = await this.#blocks.refill(block, Math.max(1, least - here), whole - here);
      if (grant.kind === 'unlimited') return unlimited;
      const left = this.#blocks.left(block);
      if (left >= least) return take(block, need, Math.min(whole, left));
      // What was granted may be gone already: other calls take from the block while this one waits.
      if (grant.kind === 'refused') throw refusal(block.kind, grant, least);
    }
  }
}

function hasLimit(limits: Readonly<Record<UsageKind, number | null>> | undefined, kind: UsageKind): boolean {
  return limits !== undefined && limits[kind] !== null;
}

function refusal(kind: UsageKind, { used, limit }: Extract<TokenGrant, { kind: 'refused' }>, least: number): DomainError {
  const what = kind === 'api' ? 'runs' : 'embedding and indexing';
  const isUsedUp = limit - used < least;
  const state = isUsedUp ? `${used} are used` : 'what is left is held by calls that run now';
  return new DomainError('INSUFFICIENT_QUOTA', `The organization may use ${limit} tokens for ${what}, and ${state}`, {
    retryAfterSeconds: isUsedUp ? retryLateSeconds : retrySoonSeconds,
  });
}

function take(block: TokenBlock, need: TokenNeed, tokens: number): TokenHold {
  block.held += tokens;
  block.isIdle = false;
  let isOpen = true;
  return {
    outputMax: tokens < need.input + need.outputMax ? tokens - need.input : undefined,
    release() {
      if (isOpen) block.held -= tokens;
      isOpen = false;
    },
  };
}
