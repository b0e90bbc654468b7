// Raw SQL: one statement asks by the ids of things of several kinds whether a hold keeps one of them.
import type { LegalHold } from '../../entities/data-life/hold.ts';
import { type IdKind, idAs, kindOfId } from '../../entities/ids.ts';
import { type Page, type PageRequest, pageOf, timeKey } from '../../entities/page.ts';
import type { Database } from '../database/database.ts';
import { newestFirst } from '../database/paging.ts';

export interface LegalHoldStore {
  create(hold: Omit<LegalHold, 'endedAt' | 'endedByUserId'>): Promise<void>;
  findMany(ids: readonly string[]): Promise<readonly LegalHold[]>;
  /** Newest first. */
  list(filter: HoldFilter, page: PageRequest): Promise<Page<LegalHold>>;
  /** @returns false when it had ended before. */
  end(id: string, by: { readonly userId: string; readonly at: Date }): Promise<boolean>;
  /** The oldest hold that keeps what a person has in an organization, or the whole organization. */
  find(place: { readonly orgId: string; readonly userId: string }): Promise<LegalHold | undefined>;
  /** The oldest hold that keeps anything of a person, in any organization. */
  findForPerson(userId: string): Promise<LegalHold | undefined>;
  /**
   * When the oldest hold began that keeps what a person has in an organization, or one of the things that a deletion names: agents, sources and schedules by their owners, users,
   * organizations. Undefined when nothing is held. Cost: one statement.
   */
  keeps(place: HeldPlace, ids: readonly string[]): Promise<Date | undefined>;
}
export interface HeldPlace {
  readonly orgId: string;
  readonly userId: string;
  /** Whether the caller reaches other organizations. Nobody else is told of what they hold. */
  readonly isAbove: boolean;
}
export interface HoldFilter {
  readonly orgId: string;
  readonly userId?: string | undefined;
  readonly isLasting?: boolean | undefined;
}

/** SQL: no hold keeps a row. @param person  SQL that says whose row it is, of `hold."userId"`. */
export function notHeld(orgId: string, person: string): string {
  return `not exists (select from legal_holds hold where hold."orgId" = ${orgId} and hold."endedAt" is null and (hold."userId" is null or ${person}))`;
}

/** The same for Prisma's `where` of rows with the column `orgId`: what to put into `NOT`. Cost: one statement. */
export async function heldRows<Column extends string>({ prisma }: Database, person: Column) {
  const lasting = await prisma.legalHold.findMany({ where: { endedAt: null }, select: { orgId: true, userId: true } });
  return lasting.map(({ orgId, userId }) => (userId === null ? { orgId } : { orgId, [person]: userId }));
}

export function createLegalHoldStore(db: Database): LegalHoldStore {
  const oldest = { orderBy: { createdAt: 'asc' } } as const;
  return {
    async create(hold) {
      await db.prisma.legalHold.create({ data: hold });
    },
    findMany: (ids) => db.prisma.legalHold.findMany({ where: { id: { in: [...ids] } } }),
    async list({ orgId, userId, isLasting }, page) {
      const of = userId === undefined ? {} : { userId };
      const lasts = isLasting === undefined ? {} : { endedAt: isLasting ? null : { not: null } };
      const where = { orgId, ...of, ...lasts };
      const rows = await db.prisma.legalHold.findMany(newestFirst(where, page));
      return pageOf(rows, page, timeKey, (take) => db.prisma.legalHold.count({ where, take }));
    },
    async end(id, { userId, at }) {
      const data = { endedAt: at, endedByUserId: userId };
      return (await db.prisma.legalHold.updateMany({ where: { id, endedAt: null }, data })).count === 1;
    },
    async find({ orgId, userId }) {
      const where = { orgId, endedAt: null, OR: [{ userId: null }, { userId }] };
      return (await db.prisma.legalHold.findFirst({ where, ...oldest })) ?? undefined;
    },
    async findForPerson(userId) {
      const memberships = await db.prisma.membership.findMany({ where: { userId }, select: { orgId: true } });
      const whole = { userId: null, orgId: { in: memberships.map(({ orgId }) => orgId) } };
      const where = { endedAt: null, OR: [{ userId }, whole] };
      return (await db.prisma.legalHold.findFirst({ where, ...oldest })) ?? undefined;
    },
    async keeps({ orgId, userId, isAbove }, ids) {
      const byKind = Map.groupBy(ids, (id): IdKind | undefined => kindOfId(id));
      const of = (kind: IdKind) => byKind.get(kind) ?? [];
      const sources = [...of('dataSource'), ...of('vectorStore').map((id) => idAs('dataSource', id))];
      const [row] = await db.query<{ readonly since: Date | null }>(
        `select min(hold."createdAt") as since from legal_holds hold where hold."endedAt" is null and (hold."orgId" = $1 or $7) and (
           (hold."orgId" = $1 and (hold."userId" is null or hold."userId" = $2))
           or hold."userId" = any($3::text[]) or hold."orgId" = any($4::text[])
           or (hold."userId" is null and hold."orgId" in (select "orgId" from memberships where "userId" = any($3::text[])))
           or exists (select from agents thing where thing.id = any($5::text[]) and thing."orgId" = hold."orgId"
             and (hold."userId" is null or hold."userId" = thing."userId"))
           or exists (select from data_sources thing where thing.id = any($6::text[]) and thing."orgId" = hold."orgId"
             and (hold."userId" is null or hold."userId" = thing."ownerUserId"))
           or exists (select from schedules thing where thing.id = any($8::text[]) and thing."orgId" = hold."orgId"
             and (hold."userId" is null or hold."userId" = thing."userId")))`,
        [orgId, userId, of('user'), of('organization'), of('agent'), sources, isAbove, of('schedule')],
      );
      return row?.since === null || row === undefined ? undefined : new Date(row.since);
    },
  };
}
