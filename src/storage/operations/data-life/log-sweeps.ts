// Raw SQL: the statement that deletes rows also decides whether they are old and whether a hold keeps them.

import { lowerBoundOfIds } from '../../../entities/ground/ids.ts';
import { retentionMembers } from '../../../entities/operations/data-life/retention.ts';
import type { Database } from '../../ground/database.ts';
import { notHeld } from '../../ground/holds.ts';
import { type LogKind, type LogMonth, LogMonths, logTables } from './log-months.ts';
import type { SweepPlace, SweptBatch, SweptRows } from './sweeps.ts';

/** What an installation keeps, and the moment of a sweep. */
export interface LogRetention {
  readonly now: Date;
  /** Of organizations that chose none; undefined: for good. */
  readonly days: number | undefined;
}

export interface LogBatch extends SweptBatch {
  /** The last row that was looked at; undefined when there was none. */
  readonly last: SweepPlace | undefined;
}
export interface KeptPlace extends SweepPlace {
  /** When the sweep began at the oldest row. */
  readonly startedAt: Date;
}

const rowsPerBatch = 2_000;
/** About 100,000 entries of the audit log. */
const bytesOfLargeMonth = 32 * 1024 * 1024;
const dayMs = 86_400_000;
const wholePassEveryMs = 7 * dayMs;
const isUnsent = (row: string) => `(${row}."sinkPosition" is null or ${row}."sinkPosition" > (select sent from audit_sinks))`;
/** SQL: whose entries a hold on a person keeps. */
const persons = {
  usage: 'hold."userId" = row."userId"',
  audit: 'hold."userId" = row."actorUserId" or hold."userId" = any(row."targetIds")',
} as const;

export interface LogSweepOptions {
  /** Whether there is a receiver of audit entries. */
  readonly keepsUnsent: boolean;
  /** Months of this size are dropped whole. Smaller ones are emptied day by day, which costs little. */
  readonly droppedFromBytes?: number;
}

/** Deletes what is old of the ledger and the audit log: months that nobody keeps are dropped whole, other rows in small statements. Sums of the ledger stay. */
export class LogSweeps {
  readonly #db: Database;
  readonly #months: LogMonths;
  readonly #keepsUnsent: boolean;
  readonly #droppedFromBytes: number;

  constructor(db: Database, { keepsUnsent, droppedFromBytes = bytesOfLargeMonth }: LogSweepOptions) {
    this.#db = db;
    this.#months = new LogMonths(db);
    this.#keepsUnsent = keepsUnsent;
    this.#droppedFromBytes = droppedFromBytes;
  }

  /** As LogMonths. */
  makeAhead(now: Date): Promise<void> {
    return this.#months.makeAhead(now);
  }

  /** As LogMonths. */
  drop(month: LogMonth): Promise<number> {
    return this.#months.drop(month);
  }

  /** The months in which no row must stay: not for an organization that keeps it longer, a legal hold, or the receiver of AUDIT_SINK_URL. */
  async findDroppable(kind: LogKind, retention: LogRetention): Promise<readonly LogMonth[]> {
    const shortest = Math.min(retention.days ?? Number.POSITIVE_INFINITY, await shortestChoice(this.#db, kind));
    if (shortest === Number.POSITIVE_INFINITY) return [];
    const before = new Date(retention.now.getTime() - shortest * dayMs);
    const droppable: LogMonth[] = [];
    for (const month of await this.#months.list(kind)) {
      if (month.to <= before && !(await hasRowToKeep(this.#db, kind, month, retention, this.#keepsUnsent))) droppable.push(month);
    }
    return droppable;
  }

  /** Up to when rows are deleted one by one: `before`, or the begin of its month where that is large enough to be dropped whole when it is over. */
  async endOfRows(kind: LogKind, before: Date): Promise<Date> {
    const month = (await this.#months.list(kind)).find(({ from, to }) => from !== undefined && from < before && before < to);
    return month?.from !== undefined && month.sizeBytes >= this.#droppedFromBytes ? month.from : before;
  }

  /** Looks at the next rows, and deletes those that are old. */
  async deleteRows(kind: LogKind, rows: SweptRows, after: SweepPlace | undefined): Promise<LogBatch> {
    const before = kind === 'audit' && this.#keepsUnsent ? await beforeUnsent(this.#db, rows) : rows.before;
    const seen = await nextRows(this.#db, kind, { ...rows, before }, after);
    const [first] = seen;
    const last = seen.at(-1);
    if (first === undefined || last === undefined) return { count: 0, next: undefined, last: undefined };
    const count = await deleteOld(
      this.#db,
      kind,
      { ...rows, before },
      seen.map(({ id }) => id),
      first,
      this.#keepsUnsent,
    );
    const place = { at: new Date(last.at), id: last.id };
    return { count, next: seen.length < rowsPerBatch ? undefined : place, last: place };
  }

  /** Where the sweep of rows without a choice goes on. Undefined: at the oldest row, after a hold ended or an organization chose other days, and weekly. */
  async findPlace(kind: LogKind, now: Date): Promise<KeptPlace | undefined> {
    const [place] = await this.#db.query<KeptPlace>(
      `select "startedAt", at, id from sweep_places place where kind = $1 and "startedAt" > $2
         and not exists (select from legal_holds where "endedAt" > place."startedAt")
         and not exists (select from data_retentions where "updatedAt" > place."startedAt")`,
      [kind, new Date(now.getTime() - wholePassEveryMs).toISOString()],
    );
    return place === undefined ? undefined : { id: place.id, at: new Date(place.at), startedAt: new Date(place.startedAt) };
  }

  async keepPlace(kind: LogKind, { id, at, startedAt }: KeptPlace): Promise<void> {
    const place = { id, at, startedAt };
    await this.#db.prisma.sweepPlace.upsert({ where: { kind }, create: { kind, ...place }, update: place });
  }
}

async function shortestChoice(db: Database, kind: LogKind): Promise<number> {
  const member = retentionMembers[kind];
  const { _min } = await db.prisma.dataRetention.aggregate({ _min: { usageDays: true, auditDays: true } });
  return _min[member] ?? Number.POSITIVE_INFINITY;
}

/** The questions that are answered by an index come first. */
async function hasRowToKeep(
  db: Database,
  kind: LogKind,
  { name }: LogMonth,
  { now, days }: LogRetention,
  keepsUnsent: boolean,
): Promise<boolean> {
  const own = `own."${retentionMembers[kind]}"`;
  const at = now.toISOString();
  const before = days === undefined ? '-infinity' : new Date(now.getTime() - days * dayMs).toISOString();
  const questions: (readonly [string, readonly unknown[]])[] = [
    // A hold on a person keeps the month for the whole organization: what else is old in it is deleted row by row.
    [
      `from legal_holds hold where hold."endedAt" is null and exists (select from ${name} row where row."orgId" = hold."orgId")`,
      [],
    ],
    [
      `from data_retentions own where ${own} is not null and exists (select from ${name} row where row."orgId" = own."orgId"
         and row."createdAt" >= $1::timestamptz - ${own} * interval '24 hours')`,
      [at],
    ],
    ...(kind === 'audit' && keepsUnsent ? [[`from ${name} row where ${isUnsent('row')}`, []] as const] : []),
    [`from ${name} row where row."createdAt" >= $1::timestamptz and ${choseNone(kind)}`, [before]],
  ];
  for (const [question, values] of questions) {
    const [answer] = await db.query<{ readonly isThere: boolean }>(`select exists (select ${question}) as "isThere"`, values);
    if (answer?.isThere !== false) return true;
  }
  return false;
}

/** SQL: the organization of the row has no days of its own. */
function choseNone(kind: LogKind): string {
  return `not exists (select from data_retentions own where own."orgId" = row."orgId" and own."${retentionMembers[kind]}" is not null)`;
}

/** The sweep of all organizations ends before the oldest entry that waits for its receiver, so that its place passes no entry that has to go later. */
async function beforeUnsent(db: Database, { orgId, before }: SweptRows): Promise<Date> {
  if (orgId !== undefined) return before;
  const [row] = await db.query<{ readonly at: Date | null }>(
    `select least($1::timestamptz,
       (select "createdAt" from audit_entries where "sinkPosition" is null order by "createdAt" limit 1),
       (select min("createdAt") from audit_entries where "sinkPosition" > (select sent from audit_sinks))) as at`,
    [before.toISOString()],
  );
  return row?.at === null || row === undefined ? before : new Date(row.at);
}

interface SeenRow {
  readonly id: string;
  readonly at: Date;
  /** The least and the greatest id of the batch: only the months between them are opened. */
  readonly lower: string;
  readonly upper: string;
}

/** The next old rows, whether they may go or not: so each statement reads a bounded number of rows. */
function nextRows(db: Database, kind: LogKind, { orgId, before }: SweptRows, after: SweepPlace | undefined) {
  const { table, idKind } = logTables[kind];
  const boundedSql = (rows: string) =>
    `select id, at, min(id) over () as lower, max(id) over () as upper from (${rows}) rows order by`;
  // The ledger has no index by time alone: it is read in the order of its ids, which are made with the row or a little before.
  if (kind === 'usage' && orgId === undefined) {
    const rows = `select row.id, row."createdAt" as at from ${table} row where row.id < $1 and row.id > $2 order by row.id limit ${rowsPerBatch}`;
    return db.query<SeenRow>(`${boundedSql(rows)} id`, [lowerBoundOfIds(idKind, before), after?.id ?? '']);
  }
  const holdSql = 'select from legal_holds where "orgId" = $4 and "endedAt" is null and "userId" is null';
  const whose = orgId === undefined ? '' : `row."orgId" = $4 and not exists (${holdSql}) and`;
  const rows = `select row.id, row."createdAt" as at from ${table} row
    where ${whose} row."createdAt" < $1 and (row."createdAt", row.id) > ($2::timestamptz, $3::text)
    order by row."createdAt", row.id limit ${rowsPerBatch}`;
  const values = [before.toISOString(), after?.at.toISOString() ?? '-infinity', after?.id ?? ''];
  return db.query<SeenRow>(`${boundedSql(rows)} at, id`, orgId === undefined ? values : [...values, orgId]);
}

function deleteOld(
  db: Database,
  kind: LogKind,
  { orgId, before }: SweptRows,
  ids: readonly string[],
  { lower, upper }: SeenRow,
  keepsUnsent: boolean,
): Promise<number> {
  const whose = orgId === undefined ? choseNone(kind) : 'row."orgId" = $5';
  const only = kind === 'audit' && keepsUnsent ? `not ${isUnsent('row')}` : 'true';
  const values = [ids, lower, upper, before.toISOString()];
  return db.execute(
    `delete from ${logTables[kind].table} row where row.id = any($1::text[]) and row.id >= $2 and row.id <= $3
       and row."createdAt" < $4 and ${whose} and ${only} and ${notHeld('row."orgId"', persons[kind])}`,
    orgId === undefined ? values : [...values, orgId],
  );
}
