// Raw SQL: counters. Tokens are reserved under the lock of a counter, with leases by the time of the database.
import type { Budget } from '../../../entities/operations/budget.ts';
import type { CounterKind, OrganizationLimits } from '../../../entities/operations/usage.ts';
import type { Database } from '../../ground/database.ts';
import { InvalidatedCache } from '../../ground/invalidated-cache.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { PublishingStore } from '../../ground/store.ts';
import { toBudget } from './budgets.ts';

export interface TokenRequest {
  /** The process that reserves the tokens for its calls. */
  readonly owner: string;
  readonly orgId: string;
  readonly kind: CounterKind;
  /** The smallest grant: with fewer tokens left, nothing is granted. */
  readonly tokensMin: number;
  /** How many tokens to reserve at most, given how many are left. */
  want(remainder: number): number;
  readonly leaseMs: number;
}

export type TokenGrant =
  | { readonly kind: 'granted'; readonly tokens: number; readonly used: number }
  | { readonly kind: 'unlimited' }
  /** `used` counts spent tokens only; `left` also subtracts what other processes have reserved. */
  | { readonly kind: 'refused'; readonly left: number; readonly used: number; readonly limit: number };

export interface Holding {
  readonly orgId: string;
  readonly kind: CounterKind;
}

const organizationsMax = 20_000;
const lease = (parameter: string) => `now() + ${parameter}::double precision * interval '1 millisecond'`;

interface LoadedLimits extends OrganizationLimits {
  /** The groups that have budgets. */
  readonly groupIds: ReadonlySet<string>;
}

/** Limits of organizations with their budgets, and what processes have reserved of them: tokens, or billionths of the currency. */
export class UsageLimitStore extends PublishingStore {
  readonly #cache: InvalidatedCache<LoadedLimits>;
  readonly #load = async (orgId: string): Promise<LoadedLimits | undefined> => {
    const { organization } = this.db.prisma;
    const select = { apiUsageTokenLimit: true, dataUsageTokenLimit: true, timeZone: true, budgets: true };
    const row = await organization.findUnique({ where: { id: orgId }, select });
    if (row === null) return undefined;
    const budgets = row.budgets.map(toBudget);
    const groupIds = new Set(budgets.filter(({ subject }) => subject === 'GROUP').map(({ subjectId }) => subjectId));
    return {
      api: toNumber(row.apiUsageTokenLimit),
      data: toNumber(row.dataUsageTokenLimit),
      timeZone: row.timeZone,
      budgets: budgets.length === 0 ? undefined : indexBudgets(budgets, await this.#loadMembers(groupIds)),
      groupIds,
    };
  };

  constructor(db: Database, signals: Signals) {
    super(db, signals);
    this.#cache = new InvalidatedCache<LoadedLimits>(signals, organizationsMax);
    signals.subscribe('organization-changed', (orgId) => this.#cache.forget((_limits, key) => key === orgId));
    signals.subscribe('group-changed', (groupId) => this.#cache.forget(({ groupIds }) => groupIds.has(groupId)));
  }

  /** What is in memory. Undefined: nothing, or no such organization. */
  peek(orgId: string): OrganizationLimits | undefined {
    return this.#cache.peek(orgId);
  }

  /** A value when cached: no database round trip. Undefined for a deleted organization. */
  find(orgId: string, nowMs: number): OrganizationLimits | undefined | Promise<OrganizationLimits | undefined> {
    return this.#cache.find(orgId, nowMs, this.#load);
  }

  /** Called when limits of an organization may have changed. */
  onChange(listener: (orgId: string) => void): () => void {
    return this.signals.subscribe('organization-changed', listener);
  }

  /**
   * Reserves tokens of what is left: the limit, less the used tokens, less the reservations of living processes. One transaction; a lock serializes
   * instances.
   */
  reserve({ owner, orgId, kind, tokensMin, want, leaseMs }: TokenRequest): Promise<TokenGrant> {
    return this.db.transaction<TokenGrant>(async (tx) => {
      // Lock the counter's row: its holder sees all reservations of others. A deleted organization has no row.
      await tx.execute(
        `insert into usage_counters as c ("orgId", kind) select id, $2 from organizations where id = $1 for key share
           on conflict ("orgId", kind) do update set used = c.used where false`,
        [orgId, kind],
      );
      // A second statement: the first one may have waited for the lock, and its snapshot would be too old.
      const budgetId = toBudgetId(kind);
      const limitSql =
        budgetId === undefined
          ? `o."${kind}UsageTokenLimit"`
          : '(select b.amount from budgets b where b.id = $3 and b."orgId" = o.id)';
      const rows = await tx.query<{ limit: string | null; used: string; held: string }>(
        `select ${limitSql} as limit,
             (select coalesce(sum(c.used), 0) from usage_counters c where c."orgId" = o.id and c.kind = $2) as used,
             (select coalesce(sum(r.tokens), 0) from usage_reservations r
              where r."orgId" = o.id and r.kind = $2 and r."leaseUntil" > now()) as held
           from organizations o where o.id = $1`,
        budgetId === undefined ? [orgId, kind] : [orgId, kind, budgetId],
      );
      const limit = toNumber(rows[0]?.limit ?? null);
      if (limit === null) return { kind: 'unlimited' };
      const usedTokens = Number(rows[0]?.used ?? 0);
      const remainingTokens = limit - usedTokens - Number(rows[0]?.held ?? 0);
      if (remainingTokens < tokensMin) {
        // Webhooks are told once that too little is left, also when the last part of a budget is never used.
        if (budgetId !== undefined && limit - usedTokens < tokensMin)
          await tx.execute(
            'update usage_counters set "percentTold" = 100 where "orgId" = $1 and kind = $2 and "percentTold" < 100',
            [orgId, kind],
          );
        return { kind: 'refused', left: remainingTokens, used: usedTokens, limit };
      }
      const tokens = Math.min(remainingTokens, Math.max(tokensMin, want(remainingTokens)));
      // Tokens of an expired reservation counted as free, so they are not added to the new ones.
      await tx.execute(
        `with gone as (delete from usage_reservations where "orgId" = $2 and kind = $3 and "leaseUntil" < now() and owner <> $1)
           insert into usage_reservations as r (owner, "orgId", kind, tokens, "leaseUntil") values ($1, $2, $3, $4, ${lease('$5')})
           on conflict (owner, "orgId", kind) do update set "leaseUntil" = excluded."leaseUntil",
             tokens = excluded.tokens + case when r."leaseUntil" > now() then r.tokens else 0 end`,
        [owner, orgId, kind, tokens, leaseMs],
      );
      return { kind: 'granted', tokens, used: usedTokens };
    });
  }

  /** Returns reserved tokens. */
  async release(owner: string, orgId: string, kind: CounterKind, tokens: number): Promise<void> {
    await this.db.execute(
      'update usage_reservations set tokens = greatest(tokens - $4, 0) where owner = $1 and "orgId" = $2 and kind = $3',
      [owner, orgId, kind, tokens],
    );
  }

  /** Extends these leases of a process and ends its other ones. @returns the leases that it still has. */
  async extend(owner: string, holdings: readonly Holding[], leaseMs: number): Promise<readonly Holding[]> {
    if (holdings.length === 0) return [];
    const extendAll = () =>
      this.db.query<Holding>(
        `update usage_reservations set "leaseUntil" = ${lease('$2')} where owner = $1 and "leaseUntil" > now()
             and ("orgId", kind) in (select * from unnest($3::text[], $4::text[]))
           returning "orgId", kind`,
        [owner, leaseMs, holdings.map(({ orgId }) => orgId), holdings.map(({ kind }) => kind)],
      );
    return this.db.runForAll(extendAll);
  }

  async #loadMembers(groupIds: ReadonlySet<string>): Promise<readonly GroupPlace[]> {
    if (groupIds.size === 0) return [];
    const where = { groupId: { in: [...groupIds] }, userId: { not: null } };
    return this.db.prisma.groupMember.findMany({ where, select: { groupId: true, userId: true } });
  }

  /** Deletes all reservations of a process. */
  async releaseAll(owner: string): Promise<void> {
    await this.db.prisma.usageReservation.deleteMany({ where: { owner } });
  }
}

interface GroupPlace {
  readonly groupId: string;
  readonly userId: string | null;
}

function indexBudgets(budgets: readonly Budget[], places: readonly GroupPlace[]): ReadonlyMap<string, readonly Budget[]> {
  const bySubject = Map.groupBy(budgets, ({ subjectId }) => subjectId);
  const index = new Map([...bySubject].filter(([, [first]]) => first?.subject !== 'GROUP'));
  for (const { groupId, userId } of places)
    if (userId !== null) index.set(userId, [...(index.get(userId) ?? []), ...(bySubject.get(groupId) ?? [])]);
  return index;
}

/** The id of the budget that a counter belongs to. */
function toBudgetId(kind: CounterKind): string | undefined {
  return kind === 'api' || kind === 'data' ? undefined : kind.split(' ', 1)[0];
}

function toNumber(value: string | bigint | null): number | null {
  return value === null ? null : Number(value);
}
