// Raw SQL: schedules that are due are locked by `for update skip locked`, and runs that have ended are found by a join, which Prisma has no words for.
import type { UserInputValues } from '../../entities/agents/part.ts';
import {
  type Schedule,
  type ScheduleChat,
  type ScheduleRun,
  type ScheduleRunStatus,
  scheduleObstacles,
} from '../../entities/conversations/schedule.ts';
import { type Page, type PageRequest, timeKey, toPage } from '../../entities/ground/page.ts';
import type { ScheduleModel as ScheduleRow } from '../generated/models/Schedule.ts';
import type { Database } from '../ground/database.ts';
import { notHeld } from '../ground/holds.ts';
import { readChildPages } from '../ground/lists/child-pages.ts';
import { newestFirst } from '../ground/lists/paging.ts';
import { lockRow } from '../ground/sql/locks.ts';
import { PublishingStore } from '../ground/store.ts';

/** Which schedules a caller may see: its own, those of an organization, or all. */
export interface ScheduleFilter {
  readonly orgId?: string;
  readonly userId?: string;
  readonly agentId?: string;
}
export interface ScheduleOwner {
  readonly orgId: string;
  readonly userId: string;
}
export type ScheduleChanges = Partial<Omit<Schedule, 'id' | 'createdAt' | 'updatedAt' | 'orgId'>>;

/** A time that has come and has not begun. */
export interface PendingRun {
  readonly scheduleRun: ScheduleRun;
  readonly schedule: Schedule;
  readonly tenantId: string;
}
/** How a run began, for its time. */
export type Beginning = Pick<ScheduleRun, 'runId' | 'chatId' | 'startedAt'>;
/** How a time ended. */
export interface ScheduleRunEnd {
  readonly status: ScheduleRunStatus;
  readonly errorMessage: string | null;
  readonly endedAt: Date;
}
/** A time whose run is over. */
export interface EndedRun {
  readonly scheduleRun: ScheduleRun;
  readonly schedule: Schedule;
  readonly tenantId: string;
  /** Null: the run is gone. */
  readonly run: {
    readonly status: string;
    readonly incompleteReason: string | null;
    readonly errorMessage: string | null;
  } | null;
}

export class ScheduleStore extends PublishingStore {
  /** @returns undefined when the person has `countMax`. */
  create(
    schedule: Omit<Schedule, 'updatedAt' | 'failures' | 'chatId' | 'pausedReason'>,
    countMax: number,
  ): Promise<Schedule | undefined> {
    return this.db.transaction(async (tx) => {
      const { orgId, userId, agentId, ...members } = schedule;
      await lockRow(tx, 'users', userId);
      if ((await tx.prisma.schedule.count({ where: { orgId, userId } })) >= countMax) return undefined;
      return toSchedule(await tx.prisma.schedule.create({ data: { ...members, orgId, userId, agentId } }));
    });
  }

  findMany(ids: readonly string[], filter: ScheduleFilter): Promise<readonly Schedule[]> {
    return this.#schedulesBy(ids, filter);
  }

  /** Newest first. */
  async list(filter: ScheduleFilter, page: PageRequest): Promise<Page<Schedule>> {
    const where = { ...filter };
    const rows = await this.db.prisma.schedule.findMany(newestFirst(where, page));
    return toPage(rows.map(toSchedule), page, timeKey, (take) => this.db.prisma.schedule.count({ where, take }));
  }

  /** A page of the schedules of a person with each of several agents, newest first. */
  pagesOfAgents(
    { orgId, userId }: ScheduleOwner,
    agentIds: readonly string[],
    page: PageRequest,
  ): Promise<ReadonlyMap<string, Page<Schedule>>> {
    const db = this.db;

    const ofAgents = { in: [...agentIds] };
    return readChildPages<Schedule>(this.db, page, {
      async findPlaces() {
        const schedules = { ...newestFirst({ orgId, userId }, page), select: { id: true } };
        const agents = await db.prisma.agent.findMany({ where: { id: ofAgents }, select: { id: true, schedules } });
        return agents.map(({ id, schedules: places }) => ({ id, places }));
      },
      read: (ids) => this.#schedulesBy(ids),
      keyOf: timeKey,
      async countAll() {
        const where = { orgId, userId, agentId: ofAgents };
        const groups = await db.prisma.schedule.groupBy({ by: ['agentId'], where, _count: true });
        return new Map(groups.flatMap(({ agentId, _count }) => (agentId === null ? [] : [[agentId, _count]])));
      },
    });
  }

  /** @returns undefined when it is gone. */
  async update(id: string, changes: ScheduleChanges): Promise<Schedule | undefined> {
    const { count } = await this.db.prisma.schedule.updateMany({ where: { id }, data: changes });
    return count === 0 ? undefined : (await this.#schedulesBy([id]))[0];
  }

  /** Pauses the schedules that run an agent, or whose answers go to a webhook, when that is deleted. */
  async pauseThose(where: { readonly agentId: string } | { readonly webhookId: string }): Promise<void> {
    const pausedReason = 'agentId' in where ? scheduleObstacles.agent : scheduleObstacles.webhook;
    const data = { isEnabled: false, pausedReason, nextRunAt: null };
    await this.db.prisma.schedule.updateMany({ where: { ...where, isEnabled: true }, data });
  }

  /** Its runs end with it. @returns false when it was gone. */
  async delete(id: string): Promise<boolean> {
    const { count } = await this.db.prisma.schedule.deleteMany({ where: { id } });
    this.signals.publish('key-changed', id);
    return count > 0;
  }

  /** Locks a schedule until the transaction ends. Whoever writes its runs locks it first. @returns false when it is gone. */
  lock(id: string): Promise<boolean> {
    return this.db.transaction((tx) => lockRow(tx, 'schedules', id));
  }

  /** Locks schedules whose time has come, but not those that another process has. */
  async lockDue(
    at: Date,
    limit: number,
  ): Promise<readonly (Schedule & { readonly tenantId: string; readonly isRunning: boolean })[]> {
    const places = await this.db.query<{ readonly id: string; readonly tenantId: string; readonly isRunning: boolean }>(
      `select s.id, o."tenantId", exists (select from schedule_runs r where r."scheduleId" = s.id and r.status in ('PENDING', 'RUNNING')) as "isRunning"
         from schedules s join organizations o on o.id = s."orgId"
         where s."isEnabled" and s."nextRunAt" <= $1::timestamptz order by s."nextRunAt" limit $2 for update of s skip locked`,
      [at.toISOString(), limit],
    );
    if (places.length === 0) return [];
    const schedules = new Map((await this.#schedulesBy(places.map(({ id }) => id))).map((schedule) => [schedule.id, schedule]));
    return places.flatMap(({ id, tenantId, isRunning }) => {
      const schedule = schedules.get(id);
      return schedule === undefined ? [] : [{ ...schedule, tenantId, isRunning }];
    });
  }

  async isRunning(scheduleId: string): Promise<boolean> {
    return (await this.db.prisma.scheduleRun.count({ where: { scheduleId, status: { in: ['PENDING', 'RUNNING'] } } })) > 0;
  }

  async addRun(run: Omit<ScheduleRun, 'runId' | 'chatId' | 'deliveryId' | 'startedAt'>): Promise<ScheduleRun> {
    return (await this.db.prisma.scheduleRun.create({ data: run })) as ScheduleRun;
  }

  /** In any order. */
  async findRuns(ids: readonly string[], filter: Omit<ScheduleFilter, 'agentId'>): Promise<readonly ScheduleRun[]> {
    return (await this.db.prisma.scheduleRun.findMany({
      where: { id: { in: [...ids] }, schedule: { ...filter } },
    })) as readonly ScheduleRun[];
  }

  /** A page of the runs of each schedule, newest first. */
  pagesOfRuns(scheduleIds: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, Page<ScheduleRun>>> {
    const db = this.db;

    const ofSchedules = { in: [...scheduleIds] };
    return readChildPages<ScheduleRun>(this.db, page, {
      async findPlaces() {
        const runs = { ...newestFirst({}, page), select: { id: true } };
        const schedules = await db.prisma.schedule.findMany({ where: { id: ofSchedules }, select: { id: true, runs } });
        return schedules.map(({ id, runs: places }) => ({ id, places }));
      },
      read: async (ids) => (await this.db.prisma.scheduleRun.findMany({ where: { id: { in: ids } } })) as readonly ScheduleRun[],
      keyOf: timeKey,
      async countAll() {
        const groups = await db.prisma.scheduleRun.groupBy({
          by: ['scheduleId'],
          where: { scheduleId: ofSchedules },
          _count: true,
        });
        return new Map(groups.map(({ scheduleId, _count }) => [scheduleId, _count]));
      },
    });
  }

  async findPending(id: string): Promise<PendingRun | undefined> {
    const row = await this.db.prisma.scheduleRun.findFirst({ where: { id, status: 'PENDING' }, include: { schedule: true } });
    if (row === null) return undefined;
    const { schedule, ...scheduleRun } = row;
    const organization = await this.db.prisma.organization.findUnique({ where: { id: row.orgId }, select: { tenantId: true } });
    if (organization === null) return undefined;
    return { scheduleRun: scheduleRun as ScheduleRun, schedule: toSchedule(schedule), tenantId: organization.tenantId };
  }

  /** @returns false when it has begun, or is gone. */
  async beginRun(id: string, beginning: Beginning): Promise<boolean> {
    const data = { ...beginning, status: 'RUNNING' };
    return (await this.db.prisma.scheduleRun.updateMany({ where: { id, status: 'PENDING' }, data })).count === 1;
  }

  /** @returns false when it has ended, or is gone. */
  async endRun(id: string, status: 'PENDING' | 'RUNNING', end: ScheduleRunEnd): Promise<boolean> {
    return (await this.db.prisma.scheduleRun.updateMany({ where: { id, status }, data: { ...end } })).count === 1;
  }

  /** Notes which delivery tells a webhook of a time. */
  async noteDelivery(id: string, deliveryId: string): Promise<void> {
    await this.db.prisma.scheduleRun.updateMany({ where: { id }, data: { deliveryId } });
  }

  findEnded(limit: number): Promise<readonly EndedRun[]> {
    return findEnded(this.db, limit);
  }

  /** Deletes what ended before. */
  async sweepRuns(before: Date): Promise<void> {
    await this.db.execute(
      `delete from schedule_runs where "createdAt" < $1::timestamptz and status not in ('PENDING', 'RUNNING')
           and ${notHeld('schedule_runs."orgId"', 'hold."userId" = schedule_runs."userId"')}`,
      [before.toISOString()],
    );
  }

  async #schedulesBy(ids: readonly string[], filter: ScheduleFilter = {}) {
    return (await this.db.prisma.schedule.findMany({ where: { id: { in: [...ids] }, ...filter } })).map(toSchedule);
  }
}

interface EndedRow {
  readonly id: string;
  readonly tenantId: string;
  /** Null: the run is gone. */
  readonly status: string | null;
  readonly incompleteReason: string | null;
  readonly errorMessage: string | null;
}

async function findEnded(db: Database, limit: number): Promise<readonly EndedRun[]> {
  const endedRows = await db.query<EndedRow>(
    `select s.id, o."tenantId", r.status, r."incompleteReason", r."errorMessage"
     from schedule_runs s join organizations o on o.id = s."orgId" left join runs r on r.id = s."runId"
     where s.status = 'RUNNING' and (r.id is null or r.status <> 'in_progress') order by s."createdAt" limit $1`,
    [limit],
  );
  if (endedRows.length === 0) return [];
  const runs = new Map(endedRows.map((row) => [row.id, row]));
  const rows = await db.prisma.scheduleRun.findMany({ where: { id: { in: [...runs.keys()] } }, include: { schedule: true } });
  return rows.map(({ schedule, ...scheduleRun }) => {
    const { status = null, incompleteReason = null, errorMessage = null, tenantId = '' } = runs.get(scheduleRun.id) ?? {};
    const run = status === null ? null : { status, incompleteReason, errorMessage };
    return { scheduleRun: scheduleRun as ScheduleRun, schedule: toSchedule(schedule), tenantId, run };
  });
}

function toSchedule({ chatMode, userInputs, ...row }: ScheduleRow): Schedule {
  return { ...row, chatMode: chatMode as ScheduleChat, userInputs: userInputs as UserInputValues };
}
