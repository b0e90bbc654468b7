// Raw SQL: counters of many kinds are added to in one statement.
import type { Guard, GuardCount, MaskedKind } from '../../entities/agents/guard.ts';
import type { Prisma } from '../generated/client.ts';
import type { Database } from '../ground/database.ts';
import { InvalidatedCache } from '../ground/invalidated-cache.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { PublishingStore } from '../ground/store.ts';

/** Whose guard: of an organization, or of an agent. */
export interface GuardPlace {
  readonly orgId: string;
  readonly agentId: string | null;
}

export interface CountedMasks {
  readonly orgId: string;
  /** '' for none. */
  readonly agentId: string;
  /** `2026-11-29` */
  readonly day: string;
  readonly kind: MaskedKind;
  readonly count: number;
}

const guardsMax = 50_000;

export class GuardStore extends PublishingStore {
  readonly #cache: InvalidatedCache<Guard>;
  readonly #load = async (ownerId: string): Promise<Guard | undefined> => {
    const row = await this.db.prisma.guard.findUnique({ where: { ownerId } });
    return row === null ? undefined : (row as unknown as Guard);
  };

  constructor(db: Database, signals: Signals) {
    super(db, signals);
    this.#cache = new InvalidatedCache<Guard>(signals, guardsMax);
    signals.subscribe('guard-changed', (ownerId) => this.#cache.forget((_guard, key) => key === ownerId));
  }

  /** @param ownerId  of an organization or an agent. A value when it is known: no statement. */
  find(ownerId: string, nowMs: number): Guard | undefined | Promise<Guard | undefined> {
    return this.#cache.find(ownerId, nowMs, this.#load);
  }

  /** As it is stored. */
  read({ orgId, agentId }: GuardPlace): Promise<Guard | undefined> {
    return this.#load(agentId ?? orgId);
  }

  async set({ orgId, agentId, kinds, patterns, putsBack, modelId, updatedAt }: Guard): Promise<void> {
    const ownerId = agentId ?? orgId;
    const own = { orgId, agentId, putsBack, modelId, updatedAt, patterns: patterns as unknown as Prisma.InputJsonArray };
    const data = { ...own, kinds: [...kinds] };
    await this.db.prisma.guard.upsert({ where: { ownerId }, create: { ownerId, ...data }, update: data });
    this.signals.publish('guard-changed', ownerId);
  }

  async addCounts(counts: readonly CountedMasks[]): Promise<void> {
    await this.db.query(
      `insert into guard_counts ("orgId", "agentId", day, kind, count)
         select * from unnest($1::text[], $2::text[], $3::date[], $4::text[], $5::bigint[])
       on conflict ("orgId", day, "agentId", kind) do update set count = guard_counts.count + excluded.count`,
      [
        counts.map(({ orgId }) => orgId),
        counts.map(({ agentId }) => agentId),
        counts.map(({ day }) => day),
        counts.map(({ kind }) => kind),
        counts.map(({ count }) => count),
      ],
    );
  }

  /** By kind, of the days from `since` to `until`. @param agentId  null: of all agents, and of none. */
  async listCounts({ orgId, agentId }: GuardPlace, since: Date, until: Date): Promise<readonly GuardCount[]> {
    const groups = await this.db.prisma.guardCount.groupBy({
      by: ['kind'],
      where: { orgId, day: { gte: since, lte: until }, ...(agentId === null ? {} : { agentId }) },
      _sum: { count: true },
      orderBy: { kind: 'asc' },
    });
    return groups.map(({ kind, _sum }) => ({ kind: kind as MaskedKind, count: Number(_sum.count ?? 0) }));
  }
}
