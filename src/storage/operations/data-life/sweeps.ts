// Raw SQL: the statement that deletes rows also decides whether they are old and whether a hold keeps them.
import type { Database } from '../../ground/database.ts';
import { notHeld } from '../../ground/holds.ts';
import { Store } from '../../ground/store.ts';

/** Rows of one organization, or of all that chose no days of their own, and the age at which they are deleted. */
export interface SweptRows {
  /** Undefined: all organizations without a choice of their own, also deleted ones. */
  readonly orgId: string | undefined;
  readonly before: Date;
}
/** Where the next batch begins. */
export interface SweepPlace {
  readonly at: Date;
  readonly id: string;
}
export interface SweptBatch {
  readonly count: number;
  /** Undefined: nothing is left. */
  readonly next: SweepPlace | undefined;
}
export interface OldChat {
  readonly id: string;
  readonly at: Date;
}

const rowsPerBatch = 2_000;
const runsPerBatch = 500;
export const chatsPerBatch = 100;
const agentsPerBatch = 100;
/** The newest versions of an agent, which stay however old they are. */
const versionsKept = 100;

const deleteVersionsSql = `delete from agent_versions row using agents agent,
    lateral (select number from agent_versions where "agentId" = agent.id order by number desc offset ${versionsKept - 1} limit 1) as oldest
  where agent.id = any($1::text[]) and row."agentId" = agent.id and row.number < oldest.number and row."createdAt" < $2
    and row."isPublished" and row.note = '' and row."rolledBackTo" is null and row."overrideReason" is null
    and row.number <> agent."publishedVersion" and row.number is distinct from agent."canaryVersion"
    and not exists (select from agent_versions later where later."agentId" = agent.id and later."rolledBackTo" = row.number)
    and not exists (select from runs where "agentId" = agent.id and "agentVersion" = row.number and "agentVersion" > 0)
    and not exists (select from experiments e where e."agentId" = agent.id and e.variants @> jsonb_build_array(jsonb_build_object('version', row.number::text)))
    and ${notHeld('agent."orgId"', 'hold."userId" = agent."userId"')}`;

/** Deletes what is old, in small statements, each of which leaves what a legal hold keeps. Nothing is visited twice in one sweep. */
export class SweepStore extends Store {
  /** Runs that are over, with their events and items. `responses` are stored ones, which go with their messages: `ResponseStore.delete`. */
  runs(
    rows: SweptRows & { readonly orgId: string },
    after: SweepPlace | undefined,
  ): Promise<SweptBatch & { readonly responses: readonly { readonly id: string; readonly userId: string }[] }> {
    return deleteRuns(this.db, rows, after);
  }

  /** Chats that nobody changed since and that no run holds, also those in the bin. */
  async oldChats(
    { orgId, before }: SweptRows & { readonly orgId: string },
    after: SweepPlace | undefined,
  ): Promise<readonly OldChat[]> {
    return this.db.query<OldChat>(
      `select id, "updatedAt" as at from chats row
         where "orgId" = $1 and "updatedAt" < $2 and ${isBehind('"updatedAt"')} and ("deletedAt" is null or "isBinned") and "activeRunId" is null
           and ${notHeld('row."orgId"', 'hold."userId" = row."userId"')}
         order by "updatedAt", id limit ${chatsPerBatch}`,
      [orgId, before.toISOString(), after?.at.toISOString() ?? null, after?.id ?? ''],
    );
  }

  /** Chats that are in the bin since before a moment. */
  binnedChats(before: Date, after: SweepPlace | undefined): Promise<readonly OldChat[]> {
    return this.db.query<OldChat>(
      `select id, "deletedAt" as at from chats row
         where "isBinned" and "deletedAt" < $1 and ($2::timestamptz is null or ("deletedAt", id) > ($2, $3::text))
           and ${notHeld('row."orgId"', 'hold."userId" = row."userId"')}
         order by "deletedAt", id limit ${chatsPerBatch}`,
      [before.toISOString(), after?.at.toISOString() ?? null, after?.id ?? ''],
    );
  }

  /**
   * Deletes runs of chats in the bin, and events of other ones, that are older than their organizations keep them. The events of a response stay as
   * long as its chat is in the bin: they tell its state.
   *
   * @param days  of organizations that chose none; undefined: they keep them.
   * @returns how many runs, or logs, were deleted, and whether they were the last.
   */
  binnedRuns(
    what: 'runs' | 'events',
    { now, days }: { readonly now: Date; readonly days: number | undefined },
  ): Promise<{ readonly count: number; readonly isLast: boolean }> {
    return deleteBinnedRuns(this.db, what, now, days);
  }

  /**
   * Old versions of agents that have more than the newest `versionsKept`: those that nothing names and of which nobody said anything.
   *
   * @param after  the agents up to this one were looked at.
   * @returns how many were deleted, and the last agent that was looked at; undefined: nothing is left.
   */
  async versions(before: Date, after: string): Promise<{ readonly count: number; readonly lastId: string | undefined }> {
    const agents = await this.db.query<{ readonly id: string }>(
      `select "agentId" as id from agent_versions where "agentId" > $1
       group by "agentId" having count(*) > ${versionsKept} order by "agentId" limit ${agentsPerBatch}`,
      [after],
    );
    const ids = agents.map(({ id }) => id);
    const count = ids.length === 0 ? 0 : await this.db.execute(deleteVersionsSql, [ids, before.toISOString()]);
    return { count, lastId: ids.length < agentsPerBatch ? undefined : ids.at(-1) };
  }

  /** Removes what is left of chats and of their files that were deleted before a moment. @returns how many rows. */
  async deletedChats(before: Date): Promise<number> {
    const limit = `"deletedAt" < $1 and ${notHeld('chat."orgId"', 'hold."userId" = chat."userId"')} limit ${rowsPerBatch}`;
    const values = [before.toISOString()];
    const files = `select row.id from chat_files row join chats chat on chat.id = row."chatId" where row.${limit}`;
    const count = await this.db.execute(`delete from chat_files where id in (${files})`, values);
    const chats = `select id from chats chat where not "isBinned" and ${limit}`;
    return count + (await this.db.execute(`delete from chats where id in (${chats})`, values));
  }
}

async function deleteBinnedRuns(db: Database, what: 'runs' | 'events', now: Date, days: number | undefined) {
  const own = what === 'runs' ? 'own."runDays"' : 'own."eventDays"';
  const due = `select binned."runId" from binned_runs binned join chats row on row.id = binned."chatId" left join data_retentions own on own."orgId" = row."orgId"
    where binned."endedAt" < $1::timestamptz - make_interval(days => coalesce(${own}, $2::int)) and ${notHeld('row."orgId"', 'hold."userId" = row."userId"')}
      ${what === 'runs' ? '' : `and binned."hasEvents" and binned."runId" not like 'resp\\_%'`} limit ${runsPerBatch}`;
  const change =
    what === 'runs'
      ? `delete from binned_runs where "runId" in (${due}) returning "runId"`
      : `update binned_runs set "hasEvents" = false where "runId" in (${due}) returning "runId"`;
  const rows = await db.query<{ readonly runId: string }>(change, [now.toISOString(), days ?? null]);
  const ids = rows.map(({ runId }) => runId);
  if (ids.length > 0) await db.execute('delete from run_event_batches where "runId" = any($1::text[])', [ids]);
  return { count: ids.length, isLast: ids.length < runsPerBatch };
}

/** SQL: behind the place of `$3` and `$4`. */
function isBehind(time: string): string {
  return `($3::timestamptz is null or (${time}, row.id) > ($3, $4::text))`;
}

async function deleteRuns(
  db: Database,
  { orgId, before }: SweptRows & { readonly orgId: string },
  after: SweepPlace | undefined,
): ReturnType<SweepStore['runs']> {
  const oldRuns = await db.query<OldRun>(
    `select id, "createdAt" as at, "userId", "chatId", "isStored" and id like 'resp\\_%' as "isResponse" from runs row
     where "orgId" = $1 and "createdAt" < $2 and "endedAt" < $2 and status <> 'in_progress' and ${isBehind('"createdAt"')}
       and ${notHeld('row."orgId"', 'hold."userId" = row."userId"')}
     order by "createdAt", id limit ${runsPerBatch}`,
    [orgId, before.toISOString(), after?.at.toISOString() ?? null, after?.id ?? ''],
  );
  const others = oldRuns.filter(({ isResponse }) => !isResponse);
  const ids = others.map(({ id }) => id);
  const chatIds = others.flatMap(({ chatId }) => chatId ?? []);
  const count = await db.transaction(async ({ prisma }) => {
    const { run, runEventBatch, responseItem, chat } = prisma;
    const deletion = await run.deleteMany({ where: { id: { in: ids }, status: { not: 'in_progress' } } });
    await runEventBatch.deleteMany({ where: { runId: { in: ids } } });
    await responseItem.deleteMany({ where: { runId: { in: ids } } });
    await chat.updateMany({ where: { id: { in: chatIds }, lastRunId: { in: ids } }, data: { lastRunId: null } });
    return deletion.count;
  });
  const last = oldRuns.length < runsPerBatch ? undefined : oldRuns.at(-1);
  const responses = oldRuns.filter(({ isResponse }) => isResponse);
  return { count, responses, next: last === undefined ? undefined : { at: new Date(last.at), id: last.id } };
}

interface OldRun {
  readonly id: string;
  readonly at: Date;
  readonly userId: string;
  readonly chatId: string | null;
  readonly isResponse: boolean;
}
