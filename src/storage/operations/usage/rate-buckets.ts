// Raw SQL: counters. One statement changes many buckets, by the time of the database.
import type { Database } from '../../ground/database.ts';
import { isAhead } from '../../ground/sql/clock.ts';

/** What one process admitted for one subject since its last report. */
export interface RateReport {
  /** `key` or `org`, and an id. */
  readonly id: string;
  /** Requests a minute; also the most requests that may be saved up. */
  readonly perMinute: number;
  readonly used: number;
}

/** Buckets of requests that all instances share. */
export interface RateBucketStore {
  /**
   * Subtracts the admitted requests from the buckets. @returns what is left in each bucket for all instances; below zero when the instances admitted
   * too many.
   */
  report(reports: readonly RateReport[]): Promise<ReadonlyMap<string, number>>;
  /** Deletes buckets that are full again. */
  sweep(): Promise<void>;
}

/** A bucket is full again after a minute, or after two when instances admitted too many. */
const sweptAfterMs = 10 * 60_000;

const elapsedMinutes = `greatest(extract(epoch from now() - b."updatedAt"), 0) / 60`;

/**
 * A missing bucket is full: the inserted value is the limit less the admitted requests. For an existing bucket, the inserted value less the limit is
 * the change. A bucket refills again at once after the clock was set back.
 */
const reportSql = `
insert into rate_buckets as b (id, tokens, "perMinute", "updatedAt")
select id, per_minute - used, per_minute, now() from unnest($1::text[], $2::float8[], $3::float8[]) as reported (id, per_minute, used)
on conflict (id) do update set
  tokens = greatest(
    least(b.tokens + ${elapsedMinutes} * excluded."perMinute", excluded."perMinute") + excluded.tokens - excluded."perMinute",
    - excluded."perMinute"),
  "perMinute" = excluded."perMinute",
  "updatedAt" = case when ${isAhead('b."updatedAt"')} then now() else greatest(b."updatedAt", now()) end
returning id, tokens`;

export function createRateBucketStore(db: Database): RateBucketStore {
  return {
    async report(reports) {
      // In one order, so that two instances that report the same buckets do not deadlock.
      const sortedReports = [...reports].sort((a, b) => (a.id < b.id ? -1 : 1));
      const columns = [
        sortedReports.map(({ id }) => id),
        sortedReports.map(({ perMinute }) => perMinute),
        sortedReports.map(({ used: usedCount }) => usedCount),
      ];
      const rows = await db.runForAll(() => db.query<{ id: string; tokens: number }>(reportSql, columns));
      return new Map(rows.map(({ id, tokens }) => [id, tokens]));
    },
    async sweep() {
      await db.prisma.rateBucket.deleteMany({ where: { updatedAt: { lt: new Date(Date.now() - sweptAfterMs) } } });
    },
  };
}
