import type { PoolClient } from 'pg';
import type { ChatFilter } from '../../entities/accounts/access.ts';
import { type NewMessage, withTimes } from '../../entities/chats/chat.ts';
import type { ErrorCode } from '../../entities/errors.ts';
import type { RunEvent } from '../../entities/runs/event.ts';
import type { NewRun, Run } from '../../entities/runs/run.ts';
import { chatCondition } from '../chats/filter.ts';
import type { Database } from '../database/database.ts';
import { Parameters } from '../database/sql/where.ts';
import { appendTo, type Finished, finishRun, type RunEnding } from './writes.ts';

/** A run in the hands of this process: what it writes counts as long as nobody has taken a later lease. */
export interface LeasedRun extends Run {
  readonly tenantId: string;
  readonly keyId: string;
  readonly request: unknown;
  readonly fence: number;
  /** How often it was begun, this time included. */
  readonly attempt: number;
  /** Of a run that other processes had: from its first start to the end of the last lease, in milliseconds; 0 at the first attempt. */
  readonly heldMs: number;
  readonly isCancelRequested: boolean;
  readonly isPauseRequested: boolean;
  /** Of a response: it goes on when nobody reads it. */
  readonly isBackground: boolean;
  /** The key that began it was revoked, or its user left the organization. */
  readonly isKeyRevoked: boolean;
}

/**
 * How a lease is taken. `free`: nobody holds the run, or nobody does any more. `forced`: from whoever holds it. `ending`: the same, and only
 * to write the end of the run: it is not begun again.
 */
export type LeaseManner = 'free' | 'forced' | 'ending';

export interface LeaseState {
  readonly id: string;
  readonly fence: number;
  readonly isCancelRequested: boolean;
  readonly isPauseRequested: boolean;
  /** How many times something was put into it. */
  readonly steerCount: number;
}

export interface RunStore {
  find(id: string): Promise<Run | undefined>;
  /** Those runs whose chats match. */
  findInChats(ids: readonly string[], filter: ChatFilter): Promise<readonly Run[]>;
  /** With what a run was begun. */
  findRequest(id: string): Promise<{ readonly modelId: string; readonly request: unknown } | undefined>;
  /** Takes the run. @returns undefined when it is over, waits, or cannot be taken in this manner. */
  lease(id: string, owner: string, leaseMs: number, manner: LeaseManner): Promise<LeasedRun | undefined>;
  /** Whether somebody began the run anew after this attempt. */
  wasBegunAgain(id: string, attempt: number): Promise<boolean>;
  /** Runs that somebody should take: their lease is over. With `allBefore`, every one made before then that has not ended, without limit. */
  findAbandoned(limit: number, allBefore?: Date): Promise<readonly string[]>;
  /** Extends the leases that `owner` still holds, and returns those. */
  extend(owner: string, ids: readonly string[], leaseMs: number): Promise<readonly LeaseState[]>;
  /** Extends what `owner` has on runs that it alone may begin, because it has their secrets, and returns those that are still its own. */
  reserve(
    owner: string,
    ids: readonly string[],
    leaseMs: number,
  ): Promise<readonly { readonly id: string; readonly isWaiting: boolean }[]>;
  /** Gives a lease back, so that another process takes the run at once. */
  release(id: string, fence: number): Promise<void>;
  /** @returns false when the lease was lost: nothing was written. Writing the same batch again is harmless. */
  append(id: string, fence: number, events: readonly RunEvent[]): Promise<boolean>;
  /**
   * Terminal event, status, messages and the freeing of the chat, which goes to the next waiting run at once: in one transaction.
   *
   * @returns undefined when the lease was lost.
   */
  finish(id: string, fence: number, ending: RunEnding): Promise<Finished | undefined>;
  /** Events after a sequence number, in order, about `limit` at a time and about LIST_PAGE_MAX_BYTES. Undefined when there is no such run. */
  readEvents(
    id: string,
    afterSequence: number,
    limit: number,
  ): Promise<{ readonly isOver: boolean; readonly events: readonly RunEvent[] } | undefined>;
  /** Runs that wait for their thread and were begun with this key; none while the key lives. */
  findWaitingOfRevoked(keyId: string): Promise<readonly string[]>;
  /** @returns false when the run is over or unknown. */
  requestCancel(id: string): Promise<boolean>;
  /** @returns false when the run is over, waits or is unknown. */
  requestPause(id: string): Promise<boolean>;
  /** What was put into a run after the first `taken` times; one array for each time. */
  readSteers(id: string, taken: number): Promise<readonly (readonly NewMessage[])[]>;
  /** From here on nothing can be put into the run. @returns false when something was, after the first `taken` times. */
  closeSteers(id: string, fence: number, taken: number): Promise<boolean>;
  /** Runs of an organization, or of one user there, that are not over, the newest first. */
  listActive(orgId: string, userId: string | undefined, limit: number): Promise<readonly Run[]>;
}

export interface RunRow extends Omit<Run, 'error'> {
  readonly keyId: string;
  readonly errorCode: ErrorCode | null;
  readonly errorMessage: string | null;
  readonly request: unknown;
  readonly fence: number;
  readonly attempt: number;
  readonly cancelRequestedAt: Date | null;
  readonly pauseRequestedAt: Date | null;
  readonly isBackground: boolean;
}

/** Of a run. A key that expired is not revoked: what it began in its time may come to its end. */
const isKeyRevoked = `not exists (select 1 from api_keys k join memberships m on m."orgId" = k."orgId" and m."userId" = k."userId"
  where k.id = runs."keyId" and k."revokedAt" is null)`;

export const milliseconds = (parameter: string) => `${parameter}::double precision * interval '1 millisecond'`;
export function createRunStore(db: Database): RunStore {
  const { pool } = db;
  return {
    async find(id) {
      const { rows } = await pool.query<RunRow>('select * from runs where id = $1', [id]);
      return rows[0] === undefined ? undefined : runOf(rows[0]);
    },
    async findInChats(ids, filter) {
      const parameters = new Parameters();
      const text = `select r.* from runs r join chats c on c.id = r."chatId" left join agents a on a.id = c."agentId"
        where r.id = any(${parameters.add(ids)}::text[]) and c."deletedAt" is null and ${chatCondition(filter, parameters)}`;
      const { rows } = await pool.query<RunRow>(text, parameters.values);
      return rows.map(runOf);
    },
    async findRequest(id) {
      const { rows } = await pool.query<{ modelId: string; request: unknown }>(
        'select "modelId", request from runs where id = $1',
        [id],
      );
      return rows[0];
    },
    async lease(id, owner, leaseMs, manner) {
      const { rows } = await pool.query<LeasedRow>(
        `with before as (select id, "startedAt", least("leaseUntil", now()) as "heldUntil" from runs where id = $1 for no key update)
         update runs set "leaseOwner" = $2, "leaseUntil" = now() + ${milliseconds('$3')}, fence = fence + 1,
           attempt = attempt + case when $4 = 'ending' then 0 else 1 end,
           "startedAt" = coalesce(runs."startedAt", now()), "updatedAt" = now()
         from before where runs.id = before.id and status = 'in_progress' and not "isWaiting"
           and ($4 <> 'free' or "leaseOwner" is null or "leaseOwner" = $2 or "leaseUntil" < now())
         returning runs.*, ${isKeyRevoked} as "isKeyRevoked",
           greatest(0, coalesce(extract(epoch from before."heldUntil" - before."startedAt") * 1000, 0))::float8 as "heldMs",
           coalesce((select o."tenantId" from organizations o where o.id = runs."orgId"), '') as "tenantId"`,
        [id, owner, leaseMs, manner],
      );
      return rows[0] === undefined ? undefined : leasedOf(rows[0]);
    },
    async wasBegunAgain(id, attempt) {
      const { rowCount } = await pool.query('select 1 from runs where id = $1 and attempt > $2', [id, attempt]);
      return rowCount === 1;
    },
    async findAbandoned(limit, allBefore) {
      const { rows } = await pool.query<{ id: string }>(
        `select id from runs where status = 'in_progress' and not "isWaiting" and ("createdAt" < $1 or "leaseUntil" < now()) order by "leaseUntil" limit $2`,
        [allBefore, allBefore === undefined ? limit : null],
      );
      return rows.map(({ id }) => id);
    },
    async extend(owner, ids, leaseMs) {
      const { rows } = await pool.query<LeaseState>(
        `update runs set "leaseUntil" = now() + ${milliseconds('$3')}
         where id = any($2::text[]) and "leaseOwner" = $1 and status = 'in_progress'
         returning id, fence, "cancelRequestedAt" is not null as "isCancelRequested",
           "pauseRequestedAt" is not null as "isPauseRequested", jsonb_array_length(steers) as "steerCount"`,
        [owner, ids, leaseMs],
      );
      return rows;
    },
    async reserve(owner, ids, leaseMs) {
      // A row that somebody changes right now is extended the next time: waiting for it, with others locked, could wait for ever.
      const { rows } = await pool.query<{ id: string; isWaiting: boolean }>(
        `with mine as (
           select id, "isWaiting" from runs where id = any($2::text[]) and "leaseOwner" = $1 and status = 'in_progress'),
         free as (
           select id from runs where id = any($2::text[]) and "leaseOwner" = $1 and status = 'in_progress'
           for no key update skip locked),
         extended as (update runs set "leaseUntil" = now() + ${milliseconds('$3')} where id in (select id from free))
         select id, "isWaiting" from mine`,
        [owner, ids, leaseMs],
      );
      return rows;
    },
    async release(id, fence) {
      await pool.query(`update runs set "leaseUntil" = now() - interval '1 second' where id = $1 and fence = $2`, [id, fence]);
    },
    async append(id, fence, events) {
      return appendTo(pool, id, fence, events);
    },
    finish: (id, fence, ending) => finishRun(db, id, fence, ending),
    async readEvents(id, afterSequence, limit) {
      // The status first: a run that is over when it is asked has all its events written.
      const { rows: runs } = await pool.query<{ isOver: boolean }>(
        `select status <> 'in_progress' as "isOver" from runs where id = $1`,
        [id],
      );
      if (runs[0] === undefined) return undefined;
      const { rows } = await pool.query<{ events: readonly RunEvent[] }>(
        `select events from (
           select "firstSequence", events, sum(octet_length(events::text)) over (order by "firstSequence") - octet_length(events::text) as "bytesBefore"
           from (select "firstSequence", events, sum("lastSequence" - "firstSequence" + 1) over (order by "firstSequence") as read
             from run_event_batches where "runId" = $1 and "lastSequence" > $2) batches
           where read - json_array_length(events) < $3) counted
         where "bytesBefore" < $4 order by "firstSequence"`,
        [id, afterSequence, limit, db.pageMaxBytes],
      );
      const events = rows.flatMap((row) => row.events).filter((event) => event.sequence > afterSequence);
      return { isOver: runs[0].isOver, events };
    },
    async findWaitingOfRevoked(keyId) {
      const { rows } = await pool.query<{ id: string }>(
        `select id from runs where "orgId" = (select "orgId" from api_keys where id = $1 and "revokedAt" is not null)
         and status = 'in_progress' and "isWaiting" and "keyId" = $1`,
        [keyId],
      );
      return rows.map(({ id }) => id);
    },
    async requestCancel(id) {
      const { rowCount } = await pool.query(
        `update runs set "cancelRequestedAt" = coalesce("cancelRequestedAt", now()) where id = $1 and status = 'in_progress'`,
        [id],
      );
      return rowCount === 1;
    },
    async requestPause(id) {
      const { rowCount } = await pool.query(
        `update runs set "pauseRequestedAt" = coalesce("pauseRequestedAt", now())
         where id = $1 and status = 'in_progress' and not "isWaiting"`,
        [id],
      );
      return rowCount === 1;
    },
    async readSteers(id, taken) {
      const { rows } = await pool.query<{ steers: readonly (readonly NewMessage[])[] }>('select steers from runs where id = $1', [
        id,
      ]);
      return (rows[0]?.steers ?? []).slice(taken).map((messages) => messages.map(withTimes));
    },
    async closeSteers(id, fence, taken) {
      const { rows } = await pool.query<{ isClosed: boolean }>(
        `update runs set "isSteerClosed" = jsonb_array_length(steers) <= $3 where id = $1 and fence = $2
         returning "isSteerClosed" as "isClosed"`,
        [id, fence, taken],
      );
      return rows[0]?.isClosed ?? true;
    },
    async listActive(orgId, userId, limit) {
      const { rows } = await pool.query<RunRow>(
        `select id, "createdAt", "startedAt", "endedAt", "orgId", "userId", "agentId", "chatId", "modelId", status, "incompleteReason",
           "errorCode", "errorMessage", usage, selection, "lastSequence", "isWaiting", "previousId"
         from runs where "orgId" = $1 and status = 'in_progress' and ($3::text is null or "userId" = $3)
         order by "createdAt" desc, id desc limit $2`,
        [orgId, limit, userId],
      );
      return rows.map(runOf);
    },
  };
}

/** Adds the row of a run that nobody has begun yet; its lease gives the process that asked for it time to begin. */
export async function addRun(client: Pick<PoolClient, 'query'>, run: NewRun, leaseMs: number): Promise<void> {
  const { id, createdAt, orgId, userId, keyId, agentId, chatId, modelId, request } = run;
  await client.query(
    `insert into runs (id, "createdAt", "updatedAt", "orgId", "userId", "keyId", "agentId", "chatId", "modelId", request, "leaseUntil")
     values ($1, $2, $2, $3, $4, $5, $6, $7, $8, $9::json, now() + ${milliseconds('$10')})`,
    [id, createdAt, orgId, userId, keyId, agentId, chatId, modelId, JSON.stringify(request), leaseMs],
  );
}

export function runOf(row: RunRow): Run {
  const { id, createdAt, startedAt, endedAt, orgId, userId, agentId, chatId, modelId, status, incompleteReason } = row;
  const error = row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' };
  const { usage, selection, lastSequence, isWaiting, previousId } = row;
  return {
    ...{ id, createdAt, startedAt, endedAt, orgId, userId, agentId, chatId, modelId, status, incompleteReason },
    ...{ error, usage, selection, lastSequence, isWaiting, previousId },
  };
}

/** What a lease reads besides the row. */
interface LeasedRow extends RunRow {
  readonly tenantId: string;
  readonly isKeyRevoked: boolean;
  readonly heldMs: number;
}

function leasedOf(row: LeasedRow): LeasedRun {
  const { keyId, request, fence, attempt, heldMs, cancelRequestedAt, pauseRequestedAt, isBackground, isKeyRevoked, tenantId } =
    row;
  const asked = { isCancelRequested: cancelRequestedAt !== null, isPauseRequested: pauseRequestedAt !== null };
  return { ...runOf(row), tenantId, keyId, request, fence, attempt, heldMs, isBackground, isKeyRevoked, ...asked };
}
