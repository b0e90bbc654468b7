// Raw SQL: arithmetic on many rows. Tags stand in arrays, and are counted over the newest runs that have any.
import type { RunTag, SavedRunFilter } from '../../../entities/conversations/runs/saved-filter.ts';
import { unlessMissing } from '../../ground/conflicts.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import { Conditions, type RunReach } from './history-conditions.ts';

export interface FilterOwner {
  readonly orgId: string;
  readonly userId: string;
}

const countedRunsMax = 10_000;
const tagsMax = 200;
const shownColumns = { id: true, createdAt: true, name: true, query: true } as const;

/** How people sort runs: tags of runs, and filters that a person saved. */
export class RunTagStore extends PublishingStore {
  /** Gives a run other tags. @returns false when it is gone. */
  async setTags(id: string, tags: readonly string[]): Promise<boolean> {
    const { count } = await this.db.prisma.run.updateMany({ where: { id }, data: { tags: [...tags] } });
    if (count === 1) this.signals.publish('run-changed', id);
    return count === 1;
  }

  /** The tags of the newest 10,000 runs that have any, the ones of the most runs first; at most 200. Cost: one statement. */
  tagsOf(reach: RunReach): Promise<readonly RunTag[]> {
    const conditions = new Conditions(reach, {});
    return this.db.query<RunTag>(
      `select tag as name, count(*)::int as "runCount" from (
         select tags from runs where ${conditions.together()} and tags <> '{}'
         order by "createdAt" desc, id desc limit ${countedRunsMax}) tagged cross join unnest(tags) tag
       group by tag order by count(*) desc, tag limit ${tagsMax}`,
      conditions.values,
    );
  }

  /** A person's filters by name. */
  filtersOf({ orgId, userId }: FilterOwner): Promise<readonly SavedRunFilter[]> {
    return this.db.prisma.savedRunFilter.findMany({
      where: { orgId, userId },
      orderBy: { name: 'asc' },
      select: shownColumns,
    });
  }

  /** Saves a filter; one with the same name is replaced. @returns undefined when the person has as many as one may have. */
  saveFilter(owner: FilterOwner, filter: SavedRunFilter, filtersMax: number): Promise<SavedRunFilter | undefined> {
    const { orgId, userId } = owner;
    const { id, createdAt, name, query } = filter;
    return this.db.transaction(async (tx) => {
      // Writes of one person take turns, so that they cannot pass the limit together.
      await lockRow(tx, 'users', userId);
      const { prisma } = tx;
      const where = { orgId, userId, name };
      const before = await prisma.savedRunFilter.findUnique({ where: { orgId_userId_name: where }, select: { id: true } });
      if (before === null && (await prisma.savedRunFilter.count({ where: { orgId, userId } })) >= filtersMax) return undefined;
      return prisma.savedRunFilter.upsert({
        where: { orgId_userId_name: where },
        create: { ...where, id, createdAt, query },
        update: { query },
        select: shownColumns,
      });
    });
  }

  /** @returns what it was; undefined when the person has no such filter. */
  deleteFilter(id: string, { orgId, userId }: FilterOwner): Promise<SavedRunFilter | undefined> {
    const { savedRunFilter } = this.db.prisma;
    return unlessMissing(savedRunFilter.delete({ where: { id, orgId, userId }, select: shownColumns }));
  }
}
