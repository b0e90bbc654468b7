import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { DomainError } from '../../entities/ground/errors.ts';
import type { UsageKind } from '../../entities/operations/usage.ts';
import type { TokenGrant, UsageLimitStore } from '../../storage/operations/usage/limits.ts';
import { BlockTable, type TokenBlock } from './token-blocks.ts';

/** An upper bound of a call's tokens. */
export interface TokenNeed {
  readonly input: number;
  /** Most tokens of its answer; the hold may grant fewer. */
  readonly outputMax: number;
}

export interface TokenHold {
  /** Most tokens of the answer, when fewer are left than asked for. */
  readonly outputMax: number | undefined;
  /** Call it once, when the call is over and charged. */
  release(): void;
}

export interface UsageLimitDeps {
  readonly store: UsageLimitStore;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly blockTokens: number;
  now(): Date;
}

/** A call that may answer fewer tokens than this is refused. */
const outputTokensMin = 16;
/** How soon to retry: tokens that other calls hold may be released shortly, used tokens are not. */
const retrySoonSeconds = 1;
const retryLateSeconds = 3_600;

/** The ledger stores what calls cost well within this time. */
const storedMaxMs = 1_000;

const unlimitedHold: TokenHold = { outputMax: undefined, release: () => undefined };

/**
 * Enforces the token limits of organizations. Each model or embedding call asks before it is sent, and releases what it held when
 * it is over; its cost reaches the limits through the ledger.
 *
 * Takes tokens from the limit in blocks, so that most calls of a limited organization need no statement. A block is a small part of
 * what is left: near the limit it shrinks to one call's need, and instances share the rest fairly.
 */
export class UsageLimits {
  /** Identifies this process in the database: the ledger settles its reservations. */
  readonly owner: string = randomUUID();
  readonly #deps: UsageLimitDeps;
  readonly #blocks: BlockTable;
  readonly #stopListening: () => void;

  constructor(deps: UsageLimitDeps) {
    this.#deps = deps;
    this.#blocks = new BlockTable({ ...deps, owner: this.owner });
    // A lowered limit applies at once: blocks from before are given back.
    this.#stopListening = deps.store.onChange((orgId) => this.#blocks.giveUp(orgId));
  }

  /**
   * Holds tokens for one call. Without a limit it returns at once, without a statement. With a limit it takes from the block of
   * this process, else one transaction reserves a new block.
   *
   * @param need  called only when there is a limit.
   * @throws DomainError INSUFFICIENT_QUOTA, thrown or rejected, before anything is sent.
   */
  reserve(orgId: string, kind: UsageKind, need: () => TokenNeed): TokenHold | Promise<TokenHold> {
    const limits = this.#deps.store.find(orgId, this.#deps.now().getTime());
    if (limits instanceof Promise) {
      return limits.then((limitsByKind) => (hasLimit(limitsByKind, kind) ? this.#hold(orgId, kind, need()) : unlimitedHold));
    }
    return hasLimit(limits, kind) ? this.#hold(orgId, kind, need()) : unlimitedHold;
  }

  /** Checks that the smallest call would be allowed, without holding anything. */
  requireLeft(orgId: string, kind: UsageKind): undefined | Promise<undefined> {
    const tokenHold = this.reserve(orgId, kind, () => ({ input: 0, outputMax: outputTokensMin }));
    const giveBack = (hold: TokenHold) => hold.release() as undefined;
    return tokenHold instanceof Promise ? tokenHold.then(giveBack) : giveBack(tokenHold);
  }

  /** Called by the ledger: a call cost so many tokens (negative: another process is charged for it). `written`: that is stored. */
  noted(orgId: string, kind: UsageKind, tokens: number): void {
    const block = this.#blocks.find(orgId, kind);
    if (block !== undefined) block.spent = Math.max(0, block.spent + tokens);
  }

  written(orgId: string, kind: UsageKind, tokens: number): void {
    const block = this.#blocks.find(orgId, kind);
    if (block === undefined) return;
    block.spent = Math.max(0, block.spent - tokens);
    block.granted = Math.max(0, block.granted - tokens);
    block.stored.resolve();
    block.stored = Promise.withResolvers();
  }

  /** Releases all reservations. */
  async stop(): Promise<void> {
    this.#stopListening();
    await this.#blocks.close();
  }

  #hold(orgId: string, kind: UsageKind, need: TokenNeed): TokenHold | Promise<TokenHold> {
    const block = this.#blocks.make(orgId, kind);
    const whole = need.input + need.outputMax;
    return this.#blocks.left(block) >= whole ? take(block, need, whole) : this.#refill(block, need);
  }

  /** Calls that wait for a block take turns, so that they do not all ask for one. */
  async #refill(block: TokenBlock, need: TokenNeed): Promise<TokenHold> {
    const turn = block.turn.catch(() => undefined).then(() => this.#ask(block, need));
    block.turn = turn;
    return turn;
  }

  async #ask(block: TokenBlock, need: TokenNeed): Promise<TokenHold> {
    const whole = need.input + need.outputMax;
    const least = need.input + Math.min(need.outputMax, outputTokensMin);
    let mayWait = true;
    for (;;) {
      const here = this.#blocks.left(block);
      if (here >= whole) return take(block, need, whole);
      const isOverspent = here < 0 && block.spent > 0;
      const storePromise = block.stored.promise;
      const grant = await this.#blocks.refill(block, Math.max(1, least - here), whole - here);
      if (grant.kind === 'unlimited') return unlimitedHold;
      const remainder = this.#blocks.left(block);
      if (remainder >= least) return take(block, need, Math.min(whole, remainder));
      // The granted tokens may be gone already: other calls take from the block while this one waits.
      if (grant.kind !== 'refused') continue;
      // Calls cost more than they held, and the database may count their tokens already: once this process knows, it asks again.
      if (!isOverspent || !mayWait) throw refusal(block.kind, grant, least);
      mayWait = false;
      await Promise.race([storePromise, setTimeout(storedMaxMs, undefined, { ref: false })]);
    }
  }
}

function hasLimit(limits: Readonly<Record<UsageKind, number | null>> | undefined, kind: UsageKind): boolean {
  return limits !== undefined && limits[kind] !== null;
}

function refusal(
  kind: UsageKind,
  { used: usedTokens, limit }: Extract<TokenGrant, { kind: 'refused' }>,
  least: number,
): DomainError {
  const what = kind === 'api' ? 'runs' : 'embedding and indexing';
  const isUsedUp = limit - usedTokens < least;
  const state = isUsedUp ? `${usedTokens} are used` : 'what is left is held by calls that run now';
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
