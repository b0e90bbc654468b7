import type { PoolClient } from 'pg';
import type { ChatFilter } from '../entities/access.ts';
import type { NewMessage } from '../entities/chat.ts';
import type { ErrorCode } from '../entities/errors.ts';
import { isId } from '../entities/ids.ts';
import type { NewRun, Run } from '../entities/run.ts';
import type { RunEvent, RunItem, RunSnapshot } from '../entities/run-event.ts';
import { chatCondition } from './chat-filter.ts';
import { addMessages } from './chat-messages.ts';
import type { Database } from './database.ts';
import { Parameters } from './where.ts';

/** A run in the hands of this process: what it writes counts as long as nobody has taken a later lease. */
export interface LeasedRun extends Run {
  readonly keyId: string;
  readonly request: unknown;
  readonly fence: number;
  /** How often it was begun, this time included. */
  readonly attempt: number;
  readonly isCancelRequested: boolean;
  readonly isPauseRequested: boolean;
}

/** How a run ended, to be written in one transaction. */
export interface RunEnding {
  /** The last events; the terminal one stands at the end. */
  readonly events: readonly RunEvent[];
  readonly run: RunSnapshot;
  readonly messages: readonly NewMessage[];
  /** Given to the chat when it has no name yet. */
  readonly chatName: string | null;
  /** What it said leaves the chat (thread mode force); its log keeps it. */
  readonly dropsOutput?: boolean;
}

export interface LeaseState {
  readonly id: string;
  readonly fence: number;
  readonly isCancelRequested: boolean;
  readonly isPauseRequested: boolean;
  /** How many times something was put into it. */
  readonly steerCount: number;
}

/** `nextRunId`: the run that waited for this one and may begin now. */
export interface Finished {
  readonly nextRunId: string | null;
}

export interface RunStore {
  find(id: string): Promise<Run | undefined>;
  /** The run if its chat matches. */
  findInChats(id: string, filter: ChatFilter): Promise<Run | undefined>;
  /** With what a run was begun. */
  findRequest(id: string): Promise<{ readonly modelId: string; readonly request: unknown } | undefined>;
  /** Takes the run when nobody holds it, or nobody does any more; `isForced` takes it from whoever does. */
  lease(id: string, owner: string, leaseMs: number, isForced: boolean): Promise<LeasedRun | undefined>;
  /** Runs that somebody should take: their lease is over. With `allBefore`, every one made before then that has not ended, without limit. */
  findAbandoned(limit: number, allBefore?: Date): Promise<readonly string[]>;
  /** Extends the leases that `owner` still holds, and returns those. */
  extend(owner: string, ids: readonly string[], leaseMs: number): Promise<readonly LeaseState[]>;
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
  /** Events after a sequence number, in order, about `limit` at a time. Undefined when there is no such run. */
  readEvents(
    id: string,
    afterSequence: number,
    limit: number,
  ): Promise<{ readonly isOver: boolean; readonly events: readonly RunEvent[] } | undefined>;
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
}

export const milliseconds = (parameter: string) => `${parameter}::double precision * interval '1 millisecond'`;
/** Holds the row against a taker of the lease until this statement is committed. */
const heldRun = `held as (select id from runs where id = $1 and fence = $2 and status = 'in_progress' for no key update)`;

const appendBatch = {
  name: 'run_append',
  text: `with ${heldRun}, added as (
      insert into run_event_batches ("runId", "firstSequence", "lastSequence", events)
      select id, $3, $4, $5::json from held on conflict do nothing)
    select 1 from held`,
};

export function createRunStore(db: Database): RunStore {
  const { pool } = db;
  return {
    async find(id) {
      const { rows } = await pool.query<RunRow>('select * from runs where id = $1', [id]);
      return rows[0] === undefined ? undefined : runOf(rows[0]);
    },
    async findInChats(id, filter) {
      const parameters = new Parameters();
      const text = `select r.* from runs r join chats c on c.id = r."chatId" left join agents a on a.id = c."agentId"
        where r.id = ${parameters.add(id)} and c."deletedAt" is null and ${chatCondition(filter, parameters)}`;
      const { rows } = await pool.query<RunRow>(text, parameters.values);
      return rows[0] === undefined ? undefined : runOf(rows[0]);
    },
    async findRequest(id) {
      const { rows } = await pool.query<{ modelId: string; request: unknown }>(
        'select "modelId", request from runs where id = $1',
        [id],
      );
      return rows[0];
    },
    async lease(id, owner, leaseMs, isForced) {
      const { rows } = await pool.query<RunRow>(
        `update runs set "leaseOwner" = $2, "leaseUntil" = now() + ${milliseconds('$3')}, fence = fence + 1, attempt = attempt + 1,
           "startedAt" = coalesce("startedAt", now()), "updatedAt" = now()
         where id = $1 and status = 'in_progress' and not "isWaiting" and ($4 or "leaseOwner" is null or "leaseUntil" < now())
         returning *`,
        [id, owner, leaseMs, isForced],
      );
      return rows[0] === undefined ? undefined : leasedOf(rows[0]);
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
           select "firstSequence", events, sum("lastSequence" - "firstSequence" + 1) over (order by "firstSequence") as read
           from run_event_batches where "runId" = $1 and "lastSequence" > $2) batches
         where read - json_array_length(events) < $3 order by "firstSequence"`,
        [id, afterSequence, limit],
      );
      const events = rows.flatMap((row) => row.events).filter((event) => event.sequence > afterSequence);
      return { isOver: runs[0].isOver, events };
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
        `select * from runs where "orgId" = $1 and status = 'in_progress' and ($3::text is null or "userId" = $3)
         order by "createdAt" desc, id desc limit $2`,
        [orgId, limit, userId],
      );
      return rows.map(runOf);
    },
  };
}

/** JSON has no dates. */
export function withTimes(message: NewMessage): NewMessage {
  return { ...message, createdAt: new Date(message.createdAt) };
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

export async function appendTo(
  client: Pick<PoolClient, 'query'>,
  id: string,
  fence: number,
  events: readonly RunEvent[],
): Promise<boolean> {
  const values = [id, fence, events[0]?.sequence, events.at(-1)?.sequence, JSON.stringify(events)];
  const { rowCount } = await client.query({ ...appendBatch, values });
  return rowCount === 1;
}

async function finishRun(
  db: Database,
  id: string,
  fence: number,
  { events, run, messages, chatName, dropsOutput }: RunEnding,
): Promise<Finished | undefined> {
  return db.transaction(async (client) => {
    // The chat before the run, as everybody locks them who changes both.
    await client.query('select 1 from chats where id = (select "chatId" from runs where id = $1) for update', [id]);
    if (!(await appendTo(client, id, fence, events))) return undefined;
    const { rows } = await client.query<{ chatId: string | null; steers: readonly (readonly NewMessage[])[] }>(
      `update runs set status = $3, "incompleteReason" = $4, "errorCode" = $5, "errorMessage" = $6, usage = $7, selection = $8,
         "lastSequence" = $9, "endedAt" = now(), "updatedAt" = now(), "leaseOwner" = null, "leaseUntil" = null
       where id = $1 and fence = $2 returning "chatId", steers`,
      [
        id,
        fence,
        run.status,
        run.incompleteReason,
        run.error?.code,
        run.error?.message,
        run.usage === null ? null : JSON.stringify(run.usage),
        run.selection === null ? null : JSON.stringify(run.selection),
        events.at(-1)?.sequence,
      ],
    );
    const chatId = rows[0]?.chatId ?? null;
    if (isId('response', id)) await keepOutput(client, id, run.output);
    if (chatId === null) return { nextRunId: null };
    if (dropsOutput === true) await client.query(`delete from messages where "runId" = $1 and role = 'assistant'`, [id]);
    await client.query(
      `update chats set "activeRunId" = null, "updatedAt" = now(), name = case when name = '' then coalesce($3, name) else name end
       where id = $1 and "activeRunId" = $2`,
      [chatId, id, chatName],
    );
    // What was put into the run in its last moments, and not taken, is for the next turn.
    const known = new Set(messages.map((message) => message.id));
    const untaken = (rows[0]?.steers ?? []).flat().filter((message) => !known.has(message.id));
    await addMessages(client, chatId, [...messages, ...untaken]);
    return { nextRunId: await beginNext(client, chatId) };
  });
}

/** Hands a chat that nobody holds to the run that waits first. The chat's row must be locked. @returns the run that may begin. */
export async function beginNext(client: PoolClient, chatId: string): Promise<string | null> {
  const { rows } = await client.query<{ id: string; pendingMessages: readonly NewMessage[] | null }>(
    `select id, "pendingMessages" from runs where "chatId" = $1 and "isWaiting" and status = 'in_progress'
     and exists (select 1 from chats where id = $1 and "activeRunId" is null)
     order by "queuePosition", id limit 1 for update`,
    [chatId],
  );
  if (rows[0] === undefined) return null;
  const { id, pendingMessages } = rows[0];
  await addMessages(client, chatId, pendingMessages ?? []);
  await client.query(
    `update runs set "isWaiting" = false, "pendingMessages" = null, "leaseOwner" = null, "leaseUntil" = now() + interval '2 seconds'
     where id = $1`,
    [id],
  );
  await client.query('update chats set "activeRunId" = $2, "lastRunId" = $2, "updatedAt" = now() where id = $1', [chatId, id]);
  return id;
}

/** Output items can be referred to by later requests. A run that went on after a pause has more of them than before. */
async function keepOutput(client: PoolClient, id: string, output: readonly RunItem[]): Promise<void> {
  const rows = output.map((item, ordinal) => ({ ordinal, itemId: item.id, item }));
  await client.query(
    `insert into response_items ("runId", direction, ordinal, "itemId", "orgId", "userId", item)
     select r.id, 'output', i.ordinal, i."itemId", r."orgId", r."userId", i.item
     from json_to_recordset($2::json) as i(ordinal int, "itemId" text, item json), runs r where r.id = $1
     on conflict ("runId", direction, ordinal) do update set "itemId" = excluded."itemId", item = excluded.item`,
    [id, JSON.stringify(rows)],
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

function leasedOf(row: RunRow): LeasedRun {
  const { keyId, request, fence, attempt, cancelRequestedAt, pauseRequestedAt } = row;
  const isCancelRequested = cancelRequestedAt !== null;
  return { ...runOf(row), keyId, request, fence, attempt, isCancelRequested, isPauseRequested: pauseRequestedAt !== null };
}
