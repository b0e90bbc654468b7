// Raw SQL: in which organizations a person has anything is asked of a function of the database.

import { type Page, type PageRequest, timeKey, toPage } from '../../entities/ground/page.ts';
import type { LegalHold } from '../../entities/operations/data-life/hold.ts';
import type { Database } from './database.ts';
import { newestFirst } from './lists/paging.ts';
import { Store } from './store.ts';

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

export class LegalHoldStore extends Store {
  readonly #oldest = { orderBy: { createdAt: 'asc' } } as const;

  async create(hold: Omit<LegalHold, 'endedAt' | 'endedByUserId'>): Promise<void> {
    await this.db.prisma.legalHold.create({ data: hold });
  }

  findMany(ids: readonly string[]): Promise<readonly LegalHold[]> {
    return this.db.prisma.legalHold.findMany({ where: { id: { in: [...ids] } } });
  }

  /** Newest first. */
  async list({ orgId, userId, isLasting }: HoldFilter, page: PageRequest): Promise<Page<LegalHold>> {
    const of = userId === undefined ? {} : { userId };
    const lasts = isLasting === undefined ? {} : { endedAt: isLasting ? null : { not: null } };
    const where = { orgId, ...of, ...lasts };
    const rows = await this.db.prisma.legalHold.findMany(newestFirst(where, page));
    return toPage(rows, page, timeKey, (take) => this.db.prisma.legalHold.count({ where, take }));
  }

  /** @returns false when it had ended before. */
  async end(id: string, { userId, at }: { readonly userId: string; readonly at: Date }): Promise<boolean> {
    const data = { endedAt: at, endedByUserId: userId };
    return (await this.db.prisma.legalHold.updateMany({ where: { id, endedAt: null }, data })).count === 1;
  }

  /** The oldest hold that keeps what a person has in an organization, or the whole organization. */
  async find({ orgId, userId }: { readonly orgId: string; readonly userId: string }): Promise<LegalHold | undefined> {
    const where = { orgId, endedAt: null, OR: [{ userId: null }, { userId }] };
    return (await this.db.prisma.legalHold.findFirst({ where, ...this.#oldest })) ?? undefined;
  }

  /** When the oldest hold began that keeps anything of a person, in any organization: also where the person is no member any more. */
  async ofPerson(userId: string): Promise<Date | undefined> {
    const [row] = await this.db.query<{ readonly since: Date | null }>(
      `select min("createdAt") as since from legal_holds where "endedAt" is null and
           ("userId" = $1 or "userId" is null and "orgId" in (select place.id from parley_organizations_of($1) place))`,
      [userId],
    );
    return row?.since === null || row === undefined ? undefined : new Date(row.since);
  }

  /** When the oldest hold began that keeps anything in an organization. */
  async ofOrganization(orgId: string): Promise<Date | undefined> {
    const held = await this.db.prisma.legalHold.findFirst({
      where: { orgId, endedAt: null },
      select: { createdAt: true },
      ...this.#oldest,
    });
    return held?.createdAt;
  }
}
