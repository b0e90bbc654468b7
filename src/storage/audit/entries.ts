// Raw SQL: one statement writes entries and looks up the e-mail of their actor, also within the transaction of a change.
import type { AuditEntry, AuditFilter } from '../../entities/audit.ts';
import { type Page, type PageRequest, pageOf, timeKey } from '../../entities/page.ts';
import type { Database } from '../database/database.ts';
import { readPage } from '../database/sql/bounded-rows.ts';
import { countRows, Parameters } from '../database/sql/where.ts';

/** An entry without the actor's e-mail, which the database adds. */
export type NewAuditEntry = Omit<AuditEntry, 'actorEmail'>;

export interface AuditEntryStore {
  /** Writes entries. An existing entry gets the new target, outcome and count, so a write may be repeated. */
  write(entries: readonly NewAuditEntry[]): Promise<void>;
  /** Says of an entry that its call failed after its change; nothing when the change was rolled back. */
  fail(id: string): Promise<void>;
  /** Newest first. */
  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>;
  /** Deletes entries older than `days` days, at most 5,000 at a time. @returns how many. */
  sweep(days: number): Promise<number>;
}

export function createAuditEntryStore(db: Database): AuditEntryStore {
  return {
    async write(entries) {
      await db.execute(insertSql, [JSON.stringify(entries)]);
    },
    async fail(id) {
      await db.prisma.auditEntry.updateMany({ where: { id }, data: { outcome: 'FAILED' } });
    },
    async list(filter, page) {
      const parameters = new Parameters();
      const where = conditionOf(filter, parameters);
      const [time, id] = page.after ?? [];
      const after =
        time === undefined ? 'true' : `("createdAt", id) < (${parameters.add(time)}::timestamptz, ${parameters.add(id)}::text)`;
      const text = `select * from audit_entries where ${where} and ${after}
        order by "createdAt" desc, id desc limit ${parameters.add(page.limit + 1)}`;
      const { rows, foundCount } = await readPage<AuditEntry>(db, { text, values: parameters.values }, ['changes']);
      const countAll = () => countRows(db, (counted) => `from audit_entries where ${conditionOf(filter, counted)}`);
      return pageOf(rows, page, timeKey, countAll, foundCount);
    },
    async sweep(days) {
      const before = new Date(Date.now() - days * 86_400_000);
      return (await db.prisma.auditEntry.deleteMany({ where: { createdAt: { lt: before } }, limit: 5_000 })).count;
    },
  };
}

const insertSql = `insert into audit_entries (id, "createdAt", "orgId", "actorUserId", "actorEmail", "actorKeyId", action, kind, outcome, count,
      "targetKind", "targetId", "targetIds", changes, "requestId", address)
    select e.id, e."createdAt", e."orgId", e."actorUserId", coalesce((select u.email from users u where u.id = e."actorUserId"), ''),
      e."actorKeyId", e.action, e.kind, e.outcome, e.count, e."targetKind", e."targetId", e."targetIds", e.changes, e."requestId", e.address
    from jsonb_populate_recordset(null::audit_entries, $1::jsonb) e
    where true
    on conflict (id) do update set "orgId" = excluded."orgId", outcome = excluded.outcome, count = excluded.count,
      "targetKind" = excluded."targetKind", "targetId" = excluded."targetId", "targetIds" = excluded."targetIds"`;

function conditionOf({ orgId, actorUserId, targetId, action, kind, from, to }: AuditFilter, parameters: Parameters): string {
  const equal = (column: string, value: string | undefined) =>
    value === undefined ? [] : [`"${column}" = ${parameters.add(value)}`];
  return [
    ...equal('orgId', orgId),
    ...equal('actorUserId', actorUserId),
    ...(targetId === undefined
      ? []
      : [`("targetId" = ${parameters.add(targetId)} or ${parameters.add(targetId)} = any("targetIds"))`]),
    ...(action === undefined ? [] : [`${parameters.add(action)} = any(string_to_array(action, ', '))`]),
    ...equal('kind', kind),
    ...(from === undefined ? [] : [`"createdAt" >= ${parameters.add(from)}`]),
    ...(to === undefined ? [] : [`"createdAt" < ${parameters.add(to)}`]),
  ].join(' and ');
}
