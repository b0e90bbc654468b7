// Raw SQL: who of an organization is not known at a source.
import { type Page, type PageRequest, toPage } from '../../../entities/ground/page.ts';
import type { IdentityService } from '../../../entities/knowledge/permissions.ts';
import type { User } from '../../../entities/people/account.ts';
import type { Database } from '../../ground/database.ts';
import { readingOrder } from '../../ground/lists/paging.ts';

/** A source, and how people are known there. */
export interface ReportedSource {
  readonly id: string;
  /** Whose accounts count; null: none do. */
  readonly service: IdentityService | null;
  readonly tellsEmails: boolean;
}

/** How many persons are not known at sources; a source where everybody is known is absent. Cost: one statement. */
export async function countUnidentified(db: Database, sources: readonly ReportedSource[]): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ readonly id: string; readonly count: number }>(
    `select place.id, count(*)::int as count ${fromUnidentified} group by place.id`,
    toPlaces(sources),
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** Who they are at one source, in the order of their ids. Cost: two statements. */
export async function listUnidentified(db: Database, source: ReportedSource, page: PageRequest): Promise<Page<User>> {
  const [after] = page.after ?? [];
  const [order, behind] = readingOrder('asc', page) === 'asc' ? ['asc', '>'] : ['desc', '<'];
  const rows = await db.query<{ readonly id: string }>(
    `select member."userId" as id ${fromUnidentified} and ($4::text is null or member."userId" ${behind} $4)
     order by member."userId" ${order} limit $5`,
    [...toPlaces([source]), after === undefined ? null : String(after), page.limit + 1],
  );
  const ids = rows.map(({ id }) => id);
  const users = await db.prisma.user.findMany({ where: { id: { in: ids } } });
  const usersById = new Map(users.map((user) => [user.id, user]));
  const people = ids.flatMap((id) => usersById.get(id) ?? []);
  const countAll = async (most: number) => Math.min((await countUnidentified(db, [source])).get(source.id) ?? 0, most);
  return toPage(people, page, ({ id }) => [id], countAll, ids.length);
}

function toPlaces(sources: readonly ReportedSource[]) {
  return [
    sources.map(({ id }) => id),
    sources.map(({ service }) => service),
    sources.map(({ tellsEmails }) => tellsEmails),
  ] as const;
}

const fromUnidentified = `
from unnest($1::text[], $2::text[], $3::bool[]) as place(id, service, "tellsEmails")
join data_sources as source on source.id = place.id
join memberships as member on member."orgId" = source."orgId"
join users on users.id = member."userId"
where not (place."tellsEmails" and (users."emailVerifiedAt" is not null or exists (
    select from scim_users as known where known."userId" = users.id and known."orgId" = source."orgId" and known."isActive")))
  and not exists (
    select from person_accounts as account join connections as own on own.id = account."connectionId" and own."ownerUserId" = users.id
    where account."userId" = users.id and account."orgId" = source."orgId"
      and (account.service = place.service or place."tellsEmails" and account."verifiedEmail" is not null))`;
