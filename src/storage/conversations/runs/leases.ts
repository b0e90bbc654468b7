// Raw SQL: leases. One statement checks the run's row and takes, extends or stops the run, by the time of the database.
import type { NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import type { NewRun, Run } from '../../../entities/conversations/runs/run.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Transaction } from '../../ground/database.ts';
import { leaseSql, milliseconds } from '../../ground/leases.ts';
import { Store } from '../../ground/store.ts';
import { type RunRow, toRun } from './rows.ts';

/** A run that this process works on. Its writes count until another process takes a later lease. */
export interface LeasedRun extends Run {
  readonly tenantId: string;
  readonly request: unknown;
  readonly fence: number;
  /** How often the run was started, including this time. */
  readonly attempt: number;
  /** How long other processes had the run: from its first start to the end of the last lease, in milliseconds; 0 at the first attempt. */
  readonly heldMs: number;
  readonly isCancelRequested: boolean;
  readonly isPauseRequested: boolean;
  /** For a response: whether it continues without a reader. */
  readonly isBackground: boolean;
  /** The key that started the run was revoked, or its user left the organization. */
  readonly isKeyRevoked: boolean;
  /** It answers this message beside another run, on a branch that is not the active one; null for others. */
  readonly besideMessageId: string | null;
}

/**
 * How a lease is taken. `free`: no process holds the run. `forced`: from the process that holds it. `ending`: like `forced`, only to write the end of
 * the run, which is not restarted: a process that takes it over before the end is written cancels it.
 */
export type LeaseManner = 'free' | 'forced' | 'ending';

export interface LeaseState {
  readonly id: string;
  readonly fence: number;
  readonly isCancelRequested: boolean;
  readonly isPauseRequested: boolean;
  /** How many times messages were added to the run. */
  readonly steerCount: number;
}

/**
 * SQL: whether the key or the session of a run is revoked, or its schedule deleted. An expired key is not revoked, nor is a session whose user signed
 * out: a run that it started may finish.
 */
const isKeyRevoked = `not exists (select 1 from api_keys k join memberships m on m."orgId" = k."orgId" and m."userId" = k."userId"
  where k.id = runs."keyId" and k."revokedAt" is null)
  and not exists (select 1 from sessions s join memberships m on m."orgId" = s."orgId" and m."userId" = s."userId"
  where s.id = runs."keyId" and s."endedBy" is distinct from 'REVOKED')
  and not exists (select 1 from schedules s join memberships m on m."orgId" = s."orgId" and m."userId" = s."userId"
  where s.id = runs."keyId" and s."userId" = runs."userId")`;

export class RunLeases extends Store {
  /** Takes the run. @returns undefined when the run is over, waits, or cannot be taken in this manner. */
  async lease(id: string, owner: string, leaseMs: number, manner: LeaseManner): Promise<LeasedRun | undefined> {
    const rows = await this.db.query<LeasedRow>(
      `with before as (select id, "startedAt", least("leaseUntil", now()) as "heldUntil" from runs where id = $1 for no key update)
         update runs set ${leaseSql.taken('run', '$2', '$3')},
           attempt = attempt + case when $4 = 'ending' then 0 else 1 end,
           "cancelRequestedAt" = case when $4 = 'ending' then coalesce("cancelRequestedAt", now()) else "cancelRequestedAt" end,
           "startedAt" = coalesce(runs."startedAt", now()), "updatedAt" = now()
         from before where runs.id = before.id and status = 'in_progress' and not "isWaiting"
           and ($4 <> 'free' or ${leaseSql.isFree('run', '$2')})
         returning runs.*, ${isKeyRevoked} as "isKeyRevoked",
           greatest(0, coalesce(extract(epoch from before."heldUntil" - before."startedAt") * 1000, 0))::float8 as "heldMs",
           coalesce((select o."tenantId" from organizations o where o.id = runs."orgId"), '') as "tenantId"`,
      [id, owner, leaseMs, manner],
    );
    return rows[0] === undefined ? undefined : toLeasedRun(rows[0]);
  }

  /** Runs whose lease ran out. With `allBefore`: every run made before then that has not ended, without limit. */
  async findAbandoned(limit: number, allBefore?: Date): Promise<readonly string[]> {
    const rows = await this.db.query<{ readonly id: string }>(
      `select id from runs
         where status = 'in_progress' and not "isWaiting" and ("leaseUntil" < now() or "createdAt" < $1)
         order by "leaseUntil" limit $2`,
      [allBefore ?? null, allBefore === undefined ? limit : null],
    );
    return rows.map(({ id }) => id);
  }

  /** Extends the leases that `owner` still holds. @returns their runs. */
  async extend(owner: string, ids: readonly string[], leaseMs: number): Promise<readonly LeaseState[]> {
    const rows = await this.db.query<LeaseState>(
      `update runs set ${leaseSql.until('run', '$3')}
         where id = any($2::text[]) and "leaseOwner" = $1 and status = 'in_progress'
         returning id, fence, "cancelRequestedAt" is not null as "isCancelRequested",
           "pauseRequestedAt" is not null as "isPauseRequested", jsonb_array_length(steers) as "steerCount"`,
      [owner, ids, leaseMs],
    );
    return rows;
  }

  /** Extends the reservations of `owner` on runs that only it may start, because it has their secrets. @returns the runs that are still reserved. */
  async reserve(
    owner: string,
    ids: readonly string[],
    leaseMs: number,
  ): Promise<readonly { readonly id: string; readonly isWaiting: boolean }[]> {
    // Skips a row that another transaction holds; the next call extends it. Waiting for it with other rows locked could deadlock.
    const rows = await this.db.query<{ id: string; isWaiting: boolean }>(
      `with mine as (
           select id, "isWaiting" from runs where id = any($2::text[]) and "leaseOwner" = $1 and status = 'in_progress'),
         free as (
           select id from runs where id = any($2::text[]) and "leaseOwner" = $1 and status = 'in_progress'
           for no key update skip locked),
         extended as (update runs set ${leaseSql.until('run', '$3')} where id in (select id from free))
         select id, "isWaiting" from mine`,
      [owner, ids, leaseMs],
    );
    return rows;
  }

  /** @returns false when the run is over or unknown. */
  async requestCancel(id: string): Promise<boolean> {
    const where = { id, status: 'in_progress' };
    return (await this.db.prisma.run.updateMany({ where, data: { cancelRequestedAt: new Date() } })).count === 1;
  }

  /** @returns false when the run is over, waits or is unknown. */
  async requestPause(id: string): Promise<boolean> {
    const where = { id, status: 'in_progress', isWaiting: false };
    return (await this.db.prisma.run.updateMany({ where, data: { pauseRequestedAt: new Date() } })).count === 1;
  }

  /** From now on no messages can be added to the run. @returns false when messages were added after the first `taken` times. */
  async closeSteers(id: string, fence: number, taken: number): Promise<boolean> {
    const rows = await this.db.query<{ isClosed: boolean }>(
      `update runs set "isSteerClosed" = jsonb_array_length(steers) <= $3 where id = $1 and fence = $2
         returning "isSteerClosed" as "isClosed"`,
      [id, fence, taken],
    );
    return rows[0]?.isClosed ?? true;
  }
}

/** A run that has not started. */
export interface RunStart {
  readonly run: NewRun;
  /** The time that the requesting process has to start the run. */
  readonly leaseMs: number;
  /** The first events of its log. */
  readonly events?: readonly RunEvent[];
  readonly previousId?: string | null;
  readonly isBackground?: boolean;
  /** The only process that may start the run; null: any process. */
  readonly holder?: string | null;
  /** The message that it answers beside another run: it does not hold its chat. */
  readonly besideMessageId?: string;
  /** Its place among the runs that wait for the chat. Absent: the run holds the chat from now on. */
  readonly waiting?: { readonly batchKey: string; readonly position: number; readonly messages: readonly NewMessage[] };
}

/** Adds a run with its first events, and makes it the active run of its chat unless it waits or stands beside another one. The chat must be locked. */
export async function addRun(tx: Transaction, start: RunStart): Promise<void> {
  const {
    run,
    leaseMs,
    events = [],
    previousId = null,
    isBackground = false,
    holder = null,
    besideMessageId = null,
    waiting,
  } = start;
  const { id, createdAt, orgId, userId, keyId, agentId, agentVersion, chatId, modelId, request } = run;
  const leaseMsOrNone = waiting === undefined || holder !== null ? leaseMs : null;
  await tx.execute(
    `with added as (
       insert into runs (id, "createdAt", "updatedAt", "orgId", "userId", "keyId", "agentId", "chatId", "modelId", request, "leaseUntil",
         "previousId", "isBackground", "leaseOwner", "isWaiting", likeness, "queuePosition", "pendingMessages", kind, "besideMessageId", "agentVersion")
       values ($1, $2, $2, $3, $4, $5, $6, $7, $8, $9::json, now() + ${milliseconds('$10')}, $11, $12, $13, $14, $15, $16, $17::json, $21, $22, $23)),
     log as (
       insert into run_event_batches ("runId", "firstSequence", "lastSequence", events)
       select $1, $18::int, $19::int, $20::json where $18::int is not null)
     update chats set "activeRunId" = $1, "lastRunId" = $1, "updatedAt" = now() where id = $7 and not $14 and $22::text is null`,
    [
      ...[id, createdAt, orgId, userId, keyId, agentId, chatId, modelId, JSON.stringify(request), leaseMsOrNone],
      ...[previousId, isBackground, holder, waiting !== undefined, waiting?.batchKey ?? null, waiting?.position ?? 0],
      ...[waiting === undefined ? null : JSON.stringify(waiting.messages)],
      ...[events[0]?.sequence ?? null, events.at(-1)?.sequence ?? null, JSON.stringify(events)],
      ...[isId('response', id) ? 'response' : 'chat', besideMessageId, agentVersion],
    ],
  );
}

/** The columns that a lease reads besides the row's own. */
interface LeasedRow extends RunRow {
  readonly request: unknown;
  readonly fence: number;
  readonly attempt: number;
  readonly cancelRequestedAt: Date | null;
  readonly pauseRequestedAt: Date | null;
  readonly isBackground: boolean;
  readonly tenantId: string;
  readonly isKeyRevoked: boolean;
  readonly heldMs: number;
  readonly besideMessageId: string | null;
}

function toLeasedRun(row: LeasedRow): LeasedRun {
  const {
    request,
    fence,
    attempt,
    heldMs,
    cancelRequestedAt,
    pauseRequestedAt,
    isBackground,
    isKeyRevoked,
    tenantId,
    besideMessageId,
  } = row;
  const requestFlags = { isCancelRequested: cancelRequestedAt !== null, isPauseRequested: pauseRequestedAt !== null };
  return {
    ...toRun(row),
    tenantId,
    request,
    fence,
    attempt,
    heldMs,
    isBackground,
    isKeyRevoked,
    besideMessageId,
    ...requestFlags,
  };
}
