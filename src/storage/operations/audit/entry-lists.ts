// Raw SQL: a list by an index of an expression, which Prisma has not.
import { countUnlessWhole, type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { AuditEntry, AuditFilter } from '../../../entities/operations/audit.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { mergeLatest, newestFirst, type Place, readPage } from '../../ground/lists/paging.ts';
import { literal } from '../../ground/lists/where.ts';
import { Parameters } from '../../ground/sql/where.ts';

type TargetFilter = AuditFilter & { readonly targetId: string };

/** In any order. */
export async function readEntries({ prisma }: Database, ids: readonly string[]): Promise<readonly AuditEntry[]> {
  return (await prisma.auditEntry.findMany({ where: { id: { in: [...ids] } } })) as unknown as readonly AuditEntry[];
}

/**
 * Newest first. An action and a target are found in two ways each, every one by an index of its own: each finds its first entries, and the page is merged
 * from those. No entry is found in two ways, so that counts add up.
 *
 * Cost: one statement, two for an action, three for a target with or without an action; one more for the entries.
 */
export async function listEntries(db: Database, filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>> {
  const ways = listWays(db, filter);
  const lists = await Promise.all(ways.map((way) => way.findPlaces(page)));
  const places = mergeLatest(lists, ({ createdAt }) => createdAt, page);
  const { rows, foundCount } = await readPage(db, places, (ids) => readEntries(db, ids));
  const countAll = countUnlessWhole(page, foundCount, (most) => countEntries(ways, most));
  return toPage(rows, page, timeKey, countAll, foundCount);
}

async function countEntries(ways: readonly Way[], most: number): Promise<number> {
  let count = 0;
  for (const way of ways) if (count < most) count += await way.count(most - count);
  return count;
}

interface EntryPlace extends Place {
  readonly createdAt: Date;
}

/** Some of the entries of a filter, which have an index. */
interface Way {
  /** Of one page and one more, in the order of reading. */
  findPlaces(page: PageRequest): Promise<readonly EntryPlace[]>;
  count(most: number): Promise<number>;
}

function listWays(db: Database, filter: AuditFilter): readonly Way[] {
  const { orgId, actorUserId, targetId, action, kind, from, to } = filter;
  const equal = Object.fromEntries(Object.entries({ actorUserId, targetId, kind }).filter(([, value]) => value !== undefined));
  const within = [
    equal,
    from === undefined ? {} : { createdAt: { gte: from } },
    to === undefined ? {} : { createdAt: { lt: to } },
  ];
  const actions = action === undefined ? [{}] : actionWays(action);
  const ways = actions.map((ofAction) => columnWay(db, { orgId, AND: [...within, ofAction] }));
  return targetId === undefined ? ways : [...ways, otherTargetWay(db, { ...filter, targetId })];
}

function columnWay({ prisma: { auditEntry } }: Database, where: Prisma.AuditEntryWhereInput): Way {
  const select = { id: true, createdAt: true, rowBytes: true } as const;
  return {
    findPlaces: (page) => auditEntry.findMany({ ...newestFirst(where, page), select }),
    // In the order of the index, so that counting ends at the last one that counts.
    count: (most) => auditEntry.count({ where, take: most, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] }),
  };
}

/** The action of a request with several root fields joins their names: `agents, chats`. Those have a partial index. */
function actionWays(action: string): readonly Prisma.AuditEntryWhereInput[] {
  const name = literal(action);
  const parts = [{ startsWith: `${name}, ` }, { contains: `, ${name}, ` }, { endsWith: `, ${name}` }];
  return [{ action }, { AND: [{ action: { contains: ', ' } }, { OR: parts.map((part) => ({ action: part })) }] }];
}

/**
 * The entries that name a thing beside their target. They are read by `audit_entries_by_other_targets` in any case (`offset 0`): where there are fewer than
 * PostgreSQL expects, it would walk through the log of the organization to look for a page of them.
 */
function otherTargetWay(db: Database, { orgId, actorUserId, targetId, action, kind, from, to }: TargetFilter): Way {
  const parameters = new Parameters();
  const equal = Object.entries({ actorUserId, kind }).flatMap(([column, value]) =>
    value === undefined ? [] : [`"${column}" = ${parameters.add(value)}`],
  );
  const conditions = [
    `"orgId" = ${parameters.add(orgId)}`,
    ...equal,
    ...(action === undefined ? [] : [`', ' || action || ', ' like ${parameters.add(`%, ${literal(action)}, %`)}`]),
    ...(from === undefined ? [] : [`"createdAt" >= ${parameters.add(from)}`]),
    ...(to === undefined ? [] : [`"createdAt" < ${parameters.add(to)}`]),
  ].join(' and ');
  const naming = `(select * from audit_entries where array_remove("targetIds", "targetId") @> array[${parameters.add(targetId)}::text] offset 0) as entry`;
  return {
    findPlaces(page) {
      const more = new Parameters(parameters.values);
      const [time, id] = page.after ?? [];
      const [further, order] = page.isBackward === true ? ['>', 'asc'] : ['<', 'desc'];
      const rest =
        time === undefined ? '' : ` and ("createdAt", id) ${further} (${more.add(time)}::timestamptz, ${more.add(id)}::text)`;
      return db.queryPlanned<EntryPlace>(
        `select id, "createdAt", "rowBytes" from ${naming} where ${conditions}${rest}
         order by "createdAt" ${order}, id ${order} limit ${more.add(page.limit + 1)}`,
        more.values,
      );
    },
    async count(most) {
      const more = new Parameters(parameters.values);
      const text = `select count(*)::int as count from (select from ${naming} where ${conditions} limit ${more.add(most)}) as counted`;
      const [row] = await db.queryPlanned<{ readonly count: number }>(text, more.values);
      return row?.count ?? 0;
    },
  };
}
