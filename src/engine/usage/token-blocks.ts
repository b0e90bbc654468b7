import type { Logger } from 'pino';
import type { CounterKind } from '../../entities/operations/usage.ts';
import type { TokenGrant, UsageLimitStore } from '../../storage/operations/usage/limits.ts';
import type { Meter } from './meters.ts';

/** What this process may grant to calls of one limit or budget without a statement, in the unit of its meter. */
export interface TokenBlock {
  readonly orgId: string;
  readonly kind: CounterKind;
  /** That of the last call: its budget is the one in force. */
  meter: Meter;
  /** Reserved in the database and not settled yet. */
  granted: number;
  /** The part of `granted` that running calls hold. */
  held: number;
  /** Granted under a lease that has ended here. The database, where it may have begun later, still counts it. */
  lapsed: number;
  /** The part of `granted` that finished calls cost and the ledger has not stored yet. */
  spent: number;
  /** What was used of the limit in all, as this process last heard, with what the ledger stored since. */
  used: number;
  /** Nothing was taken since the last heartbeat. */
  isIdle: boolean;
  /** `performance.now()` at which the database drops the reservation. */
  validUntilMs: number;
  /** The last refill. */
  turn: Promise<unknown>;
  /** Calls that wait for a refill. */
  waiting: number;
  /** Settles when the ledger next tells that it stored tokens of `spent`. */
  stored: PromiseWithResolvers<void>;
}

export interface BlockTableDeps {
  readonly store: UsageLimitStore;
  readonly logger: Logger;
  readonly owner: string;
  readonly leaseMs: number;
  readonly blockTokens: number;
}

const none: readonly TokenBlock[] = [];

/** A block is at most this fraction of what is left. */
const blockShare = 32;

/** The blocks of this process: renews their leases and gives unused ones back. */
export class BlockTable {
  readonly #deps: BlockTableDeps;
  readonly #blocks = new Map<string, Map<CounterKind, TokenBlock>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: BlockTableDeps) {
    this.#deps = deps;
  }

  find({ orgId, kind }: Pick<Meter, 'orgId' | 'kind'>): TokenBlock | undefined {
    return this.#blocks.get(orgId)?.get(kind);
  }

  has(orgId: string): boolean {
    return this.#blocks.has(orgId);
  }

  /** The blocks of an organization. */
  listOf(orgId: string): Iterable<TokenBlock> {
    return this.#blocks.get(orgId)?.values() ?? none;
  }

  make(meter: Meter): TokenBlock {
    const { orgId, kind } = meter;
    const block = this.find(meter) ?? {
      ...{ orgId, kind, meter, granted: 0, held: 0, lapsed: 0, spent: 0, used: 0, isIdle: false, validUntilMs: 0, waiting: 0 },
      turn: Promise.resolve(),
      stored: Promise.withResolvers<void>(),
    };
    block.meter = meter;
    const blocks = this.#blocks.get(orgId) ?? new Map<CounterKind, TokenBlock>();
    this.#blocks.set(orgId, blocks.set(kind, block));
    this.#timer ??= setInterval(() => void this.#beat(), this.#deps.leaseMs / 3).unref();
    return block;
  }

  /** Tokens that may be granted now; negative when calls cost more than they held. */
  left(block: TokenBlock): number {
    if (!this.#isValid(block)) {
      block.lapsed += block.granted;
      block.granted = 0;
    }
    return block.granted - block.held - block.spent;
  }

  #isValid(block: TokenBlock): boolean {
    return performance.now() <= block.validUntilMs;
  }

  /** Asks for at least `tokensMin`, better `tokens`, best a whole block. */
  async refill(block: TokenBlock, tokensMin: number, tokens: number): Promise<TokenGrant> {
    const { store, owner, leaseMs, blockTokens } = this.#deps;
    const { orgId, kind } = block;
    if (block.lapsed > 0) await this.#giveBack(block, 0);
    const askedMs = performance.now();
    const blockMax = block.meter.budget?.budget.unit === 'MONEY' ? Number.POSITIVE_INFINITY : blockTokens;
    const want = (remainder: number) => Math.max(tokens, Math.min(blockMax, Math.floor(remainder / blockShare)));
    const grant = await store.reserve({ owner, orgId, kind, tokensMin, want, leaseMs });
    if (grant.kind !== 'unlimited') block.used = grant.used;
    if (grant.kind !== 'granted') return grant;
    block.granted += grant.tokens;
    block.validUntilMs = askedMs + leaseMs;
    return grant;
  }

  /** Gives back what no call holds; the next call asks for a new block. */
  giveUp(orgId: string): void {
    for (const block of this.listOf(orgId)) void this.#giveBack(block, this.left(block));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#blocks.size === 0) return;
    this.#blocks.clear();
    await this.#deps.store.releaseAll(this.#deps.owner).catch((error: unknown) => this.#failed(error));
  }

  /** @param unused  of `granted`. What has lapsed goes with it. */
  async #giveBack(block: TokenBlock, unused: number): Promise<void> {
    const tokens = Math.max(0, unused);
    const released = tokens + block.lapsed;
    if (released === 0) return;
    block.granted -= tokens;
    block.lapsed = 0;
    const { store, owner } = this.#deps;
    await store.release(owner, block.orgId, block.kind, released).catch((error: unknown) => this.#failed(error));
  }

  /**
   * Renews all leases in one statement. Blocks that were not used since the last heartbeat are given back, and dropped when nothing
   * of them is left. A reservation without a block is not renewed, so it ends with its lease.
   */
  async #beat(): Promise<void> {
    const { store, owner, leaseMs } = this.#deps;
    const askedMs = performance.now();
    try {
      const blocks = [...this.#blocks.values()].flatMap((each) => [...each.values()]);
      const validBlocks = blocks.filter((block) => this.#isValid(block));
      const extendedKeys = new Set(
        (await store.extend(owner, validBlocks, leaseMs)).map(({ orgId, kind }) => `${kind} ${orgId}`),
      );
      for (const block of blocks) {
        if (extendedKeys.has(`${block.kind} ${block.orgId}`)) block.validUntilMs = askedMs + leaseMs;
        if (block.isIdle) await this.#giveBack(block, this.left(block));
        if (block.isIdle && block.held === 0 && block.spent === 0 && block.waiting === 0) this.#drop(block);
        block.isIdle = true;
      }
    } catch (error) {
      this.#failed(error);
    }
  }

  #drop({ orgId, kind }: TokenBlock): void {
    const blocks = this.#blocks.get(orgId);
    blocks?.delete(kind);
    if (blocks?.size === 0) this.#blocks.delete(orgId);
  }

  /** A reservation that could not be given back ends with its lease. */
  #failed(error: unknown): void {
    this.#deps.logger.warn({ err: error }, 'token reservations could not be renewed or released');
  }
}
