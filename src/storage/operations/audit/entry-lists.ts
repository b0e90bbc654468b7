import { countUnlessWhole, type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { AuditEntry, AuditFilter } from '../../../entities/operations/audit.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { mergeLatest, newestFirst, readPage } from '../../ground/lists/paging.ts';
import { literal } from '../../ground/lists/where.ts';

type Where = Prisma.AuditEntryWhereInput;

/** In any order. */
export async function readEntries({ prisma }: Database, ids: readonly string[]): Promise<readonly AuditEntry[]> {
  return (await prisma.auditEntry.findMany({ where: { id: { in: [...ids] } } })) as unknown as readonly AuditEntry[];
}

/**
 * Newest first. An action and a target are found in two ways each, every one by an index of its own: each finds its first entries, and the page is merged
 * from those. No entry is found in two ways, so that counts add up.
 *
 * Cost: one statement, two for an action or a target, four for both; one more for the entries.
 */
export async function listEntries(db: Database, filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>> {
  const { auditEntry } = db.prisma;
  const ways = listBranches(filter);
  const select = { id: true, createdAt: true, rowBytes: true } as const;
  const lists = await Promise.all(ways.map((where) => auditEntry.findMany({ ...newestFirst(where, page), select })));
  const places = mergeLatest(lists, ({ createdAt }) => createdAt, page);
  const { rows, foundCount } = await readPage(db, places, (ids) => readEntries(db, ids));
  const countAll = countUnlessWhole(page, foundCount, (most) => countEntries(db, ways, most));
  return toPage(rows, page, timeKey, countAll, foundCount);
}

async function countEntries({ prisma }: Database, ways: readonly Where[], most: number): Promise<number> {
  let count = 0;
  for (const where of ways) if (count < most) count += await prisma.auditEntry.count({ where, take: most - count });
  return count;
}

function listBranches({ orgId, actorUserId, targetId, action, kind, from, to }: AuditFilter): readonly Where[] {
  const equal = Object.fromEntries(Object.entries({ actorUserId, kind }).filter(([, value]) => value !== undefined));
  const within = [
    equal,
    from === undefined ? {} : { createdAt: { gte: from } },
    to === undefined ? {} : { createdAt: { lt: to } },
  ];
  const actions = action === undefined ? [{}] : actionWays(action);
  const targets = targetId === undefined ? [{}] : targetWays(targetId);
  return actions.flatMap((ofAction) => targets.map((ofTarget) => ({ orgId, AND: [...within, ofAction, ofTarget] })));
}

/** The action of a request with several root fields joins their names: `agents, chats`. Those have a partial index. */
function actionWays(action: string): readonly Where[] {
  const name = literal(action);
  const parts = [{ startsWith: `${name}, ` }, { contains: `, ${name}, ` }, { endsWith: `, ${name}` }];
  return [{ action }, { AND: [{ action: { contains: ', ' } }, { OR: parts.map((part) => ({ action: part })) }] }];
}

/** Entries of older versions have no list of targets. */
function targetWays(targetId: string): readonly Where[] {
  const isOther = { OR: [{ targetId: null }, { targetId: { not: targetId } }] };
  return [{ targetId }, { AND: [{ targetIds: { has: targetId } }, isOther] }];
}
