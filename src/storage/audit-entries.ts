import type { AuditEntry, AuditFilter } from '../entities/audit.ts';
import { type Page, type PageRequest, pageOf, timeKey } from '../entities/page.ts';
import { readPage } from './bounded-rows.ts';
import type { Database } from './database.ts';
import { Parameters } from './where.ts';

/** An entry before the database added what it knows of the actor. */
export type NewAuditEntry = Omit<AuditEntry, 'actorEmail'>;

export interface AuditEntryStore {
  /** One that is there already stays as it is, so a write may be repeated. */
  add(entries: readonly NewAuditEntry[]): Promise<void>;
  /** Newest first. */
  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>;
  /** Deletes entries older than so many days, at most 5,000 at a time. @returns how many. */
  sweep(days: number): Promise<number>;
}

export function createAuditEntryStore(db: Database): AuditEntryStore {
  const { pool } = db;
  return {
    async add(entries) {
      await pool.query(
        `insert into audit_entries (id, "createdAt", "orgId", "actorUserId", "actorEmail", "actorKeyId", action, "targetKind", "targetId",
           changes, "requestId")
         select e.id, e."createdAt", e."orgId", e."actorUserId", coalesce((select u.email from users u where u.id = e."actorUserId"), ''),
           e."actorKeyId", e.action, e."targetKind", e."targetId", e.changes, e."requestId"
         from jsonb_populate_recordset(null::audit_entries, $1::jsonb) e
         on conflict (id) do nothing`,
        [JSON.stringify(entries)],
      );
    },
    async list(filter, page) {
      const parameters = new Parameters();
      const where = conditionOf(filter, parameters);
      const countValues = [...parameters.values];
      const [time, id] = page.after ?? [];
      const after =
        time === undefined ? 'true' : `("createdAt", id) < (${parameters.add(time)}::timestamptz, ${parameters.add(id)}::text)`;
      const text = `select * from audit_entries where ${where} and ${after}
        order by "createdAt" desc, id desc limit ${parameters.add(page.limit + 1)}`;
      const { rows, foundCount } = await readPage<AuditEntry>(db, { text, values: parameters.values }, ['changes']);
      const countAll = async () => {
        const counted = await pool.query<{ count: number }>(
          `select count(*)::int as count from audit_entries where ${where}`,
          countValues,
        );
        return counted.rows[0]?.count ?? 0;
      };
      return pageOf(rows, page, timeKey, countAll, foundCount);
    },
    async sweep(days) {
      const { rowCount } = await pool.query(
        `delete from audit_entries where ctid = any(array(
           select ctid from audit_entries where "createdAt" < now() - $1::double precision * interval '1 day' limit 5000))`,
        [days],
      );
      return rowCount ?? 0;
    },
  };
}

function conditionOf({ orgId, actorUserId, targetId, action, from, to }: AuditFilter, parameters: Parameters): string {
  const equal = (column: string, value: string | undefined) =>
    value === undefined ? [] : [`"${column}" = ${parameters.add(value)}`];
  return [
    ...equal('orgId', orgId),
    ...equal('actorUserId', actorUserId),
    ...equal('targetId', targetId),
    ...equal('action', action),
    ...(from === undefined ? [] : [`"createdAt" >= ${parameters.add(from)}`]),
    ...(to === undefined ? [] : [`"createdAt" < ${parameters.add(to)}`]),
  ].join(' and ');
}
