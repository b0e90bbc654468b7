// Raw SQL: leases. A run's writes count only while its lease is the newest; the end of a run hands its chat to the next run.
import type { NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunEvent, RunItem, RunSnapshot } from '../../../entities/conversations/runs/event.ts';
import type { RetrievalSummary, RunStep } from '../../../entities/conversations/runs/step.ts';
import type { Usage } from '../../../entities/conversations/runs/usage.ts';
import { isId } from '../../../entities/ground/ids.ts';
import { countable } from '../../../entities/operations/usage.ts';
import { noteMessageCount } from '../../agents/counters.ts';
import type { Database, Sql, Transaction } from '../../ground/database.ts';
import { removeMessages } from '../chats/branches.ts';
import { addMessages } from '../chats/messages.ts';
import { holdChat } from '../chats/turns.ts';
import { findPlaceBeside } from './comparisons.ts';

/** The end of a run, to be written in one transaction. */
export interface RunEnding {
  /** The whole log, from its first event; the terminal event is the last of them. */
  readonly events: readonly RunEvent[];
  readonly run: RunSnapshot;
  readonly messages: readonly NewMessage[];
  /** The name for a chat that has none yet. */
  readonly chatName: string | null;
  /** Removes the run's output from the chat (thread mode force); the log keeps it. */
  readonly dropsOutput?: boolean;
  readonly facts: RunFacts;
}

/** What a row says of the work of its run, besides its state and its tokens. */
export interface RunFacts {
  readonly answeredModelId: string | null;
  readonly firstTokenMs: number | null;
  /** Null: the time from its start to its end. */
  readonly durationMs: number | null;
  /** A decimal number. */
  readonly cost: string | null;
  readonly retrieval: RetrievalSummary | null;
  readonly hasFoundNothing: boolean;
  readonly steps: readonly RunStep[] | null;
}

/** The result of `finish`. */
export interface Finished {
  /** The run that waited for the chat and may start now; null when none waited. */
  readonly next: NextRun | null;
}
export interface NextRun {
  readonly id: string;
  /** The only process that may start the run, because it has the run's secrets; null: any process may. */
  readonly owner: string | null;
}

/** The time since the run started, where no process says how long it was worked on. */
const elapsedMs = `least(extract(epoch from now() - "startedAt") * 1000, 2147483647)::int`;

/** The row stays locked until this statement commits, so that no other process takes the lease meanwhile. */
const appendBatch = `with held as (select id from runs where id = $1 and fence = $2 and status = 'in_progress' for no key update),
    added as (
      insert into run_event_batches ("runId", "firstSequence", "lastSequence", events)
      select id, $3, $4, $5::json from held on conflict do nothing)
    select 1 from held`;

/** The time that a process has to start a run that was handed to it; afterwards any process takes the run. */
const handOver = "interval '2 seconds'";

/** Appends events as the holder of the run's lease. @returns false when the lease was lost: nothing is written with an old fence. */
export async function appendTo(tx: Sql, id: string, fence: number, events: readonly RunEvent[]): Promise<boolean> {
  const rowCount = await tx.execute(appendBatch, [
    id,
    fence,
    events[0]?.sequence,
    events.at(-1)?.sequence,
    JSON.stringify(events),
  ]);
  return rowCount === 1;
}

/** Bounds of one row of the log of a run that is over: a reader holds a row as a whole. Most logs fit one. */
const rowEventsMax = 1_000;
const rowCharsMax = 256 * 1024;

/** The rows of a whole log, and the numbers of their first events. */
function rowsOfLog(events: readonly RunEvent[]): { readonly json: string; readonly firsts: readonly number[] } {
  const rows: { readonly first: number; last: number; readonly texts: string[]; chars: number }[] = [];
  for (const event of events) {
    const text = JSON.stringify(event);
    const row = rows.at(-1);
    if (row === undefined || row.texts.length >= rowEventsMax || row.chars + text.length > rowCharsMax) {
      rows.push({ first: event.sequence, last: event.sequence, texts: [text], chars: text.length });
    } else {
      row.texts.push(text);
      row.last = event.sequence;
      row.chars += text.length;
    }
  }
  const json = rows.map(({ first, last, texts }) => `{"first":${first},"last":${last},"events":[${texts.join(',')}]}`);
  return { json: `[${json.join(',')}]`, firsts: rows.map(({ first }) => first) };
}

interface EndedRow {
  readonly chatId: string | null;
  readonly steers: readonly (readonly NewMessage[])[];
  readonly besideMessageId: string | null;
}

/**
 * Writes the end of a run and hands its chat on; see RunStore.finish. The batches of its log become one row, or a few of a long log, which the database
 * compresses. Batches and rows have the same events with the same numbers, so a reader in the middle of the log notices nothing.
 */
export async function finishRun(
  db: Database,
  id: string,
  fence: number,
  { events, run, messages, chatName, dropsOutput, facts }: RunEnding,
): Promise<Finished | undefined> {
  const log = rowsOfLog(events);
  return db.transaction(async (tx) => {
    // Lock the chat before the run: every writer of both uses this order.
    await tx.execute('select 1 from chats where id = (select "chatId" from runs where id = $1) for update', [id]);
    const rows = await tx.query<EndedRow>(
      `with ended as (
         update runs set status = $6, "incompleteReason" = $7, "errorCode" = $8, "errorMessage" = $9, selection = $10::jsonb,
           "inputTokens" = $12, "outputTokens" = $13, "cachedTokens" = $14, "cacheWriteTokens" = $15, "reasoningTokens" = $16, "isEstimated" = $17,
           "answeredModelId" = $18, "firstTokenMs" = $19, "durationMs" = coalesce($20::int, ${elapsedMs}), cost = $21::numeric,
           retrieval = $22::jsonb, "hasFoundNothing" = $23, steps = $24::jsonb,
           "lastSequence" = $4, "endedAt" = now(), "updatedAt" = now(), "leaseOwner" = null, "leaseUntil" = null
         where id = $1 and fence = $2 and status = 'in_progress' returning id, "chatId", steers, "besideMessageId"),
       gone as (
         -- By the id itself, so that one partition is planned.
         delete from run_event_batches where "runId" = $1 and "firstSequence" <> all ($5::int[]) and exists (select from ended)),
       kept as (
         insert into run_event_batches ("runId", "firstSequence", "lastSequence", events)
         select ended.id, piece.first, piece.last, piece.events from ended, json_to_recordset($3::json) as piece(first int, last int, events json)
         on conflict ("runId", "firstSequence") do update set "lastSequence" = excluded."lastSequence", events = excluded.events),
       freed as (
         update chats set "activeRunId" = null, "updatedAt" = now(), name = case when name = '' then coalesce($11, name) else name end,
           "answeredAt" = case when $6 = 'cancelled' then "answeredAt" else now() end
         from ended where chats.id = ended."chatId" and chats."activeRunId" = ended.id)
       select "chatId", steers, "besideMessageId" from ended`,
      [
        ...[id, fence, log.json, events.at(-1)?.sequence, log.firsts],
        run.status,
        run.incompleteReason,
        run.error?.code,
        run.error?.message,
        toJson(run.selection),
        chatName,
        ...listTokens(run.usage),
        ...[facts.answeredModelId, facts.firstTokenMs, facts.durationMs, facts.cost],
        ...[toJson(facts.retrieval), facts.hasFoundNothing, toJson(facts.steps)],
      ],
    );
    if (rows[0] === undefined) return undefined;
    const { chatId, steers, besideMessageId } = rows[0];
    if (isId('response', id)) await keepOutput(tx, id, run.output);
    if (chatId === null) return { next: null };
    if (dropsOutput === true) await dropWords(tx, chatId, id);
    // Messages that were added in the run's last moments, and that the run did not read, go to the next turn.
    const knownIds = new Set(messages.map((message) => message.id));
    const untaken = steers.flat().filter((message) => !knownIds.has(message.id));
    await addMessages(tx, chatId, [...messages, ...untaken], await findPlaceBeside(tx, id, besideMessageId));
    return { next: await beginNext(tx, chatId) };
  });
}

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** The columns of the tokens. Upstreams may report anything. */
function listTokens(usage: Usage | null): readonly unknown[] {
  if (usage === null) return [null, null, null, null, null, false];
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0, reasoningTokens, isEstimated = false } = usage;
  return [...[inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens].map(countable), isEstimated];
}

/** Removes the messages that a run wrote before a pause from its chat. */
async function dropWords(tx: Transaction, chatId: string, runId: string): Promise<void> {
  const { chat, message } = tx.prisma;
  const answerWhere = { runId, role: 'assistant' };
  const count = await message.count({ where: { ...answerWhere, chatId, isHidden: false } });
  await takingBack(tx, () => removeMessages(tx, chatId, answerWhere));
  const chatRow = await chat.findUnique({ where: { id: chatId }, select: { agentId: true } });
  await noteMessageCount(tx, chatRow?.agentId ?? null, -count);
}

/** Runs `work` as the service's own writing: it takes back words of a run that were never its answer, which no hold keeps. */
async function takingBack<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  const set = (value: string) => tx.query(`select set_config('parley.takes_back', $1, true)`, [value]);
  await set('on');
  const result = await work();
  await set('');
  return result;
}

/** Hands a free chat to its first waiting run. The chat's row must be locked. */
async function beginNext(tx: Transaction, chatId: string): Promise<NextRun | null> {
  const [nextRun] = await tx.query<NextRun & { readonly pendingMessages: readonly NewMessage[] | null }>(
    `with next as materialized (
       select id, "pendingMessages" from runs where "chatId" = $1 and "isWaiting" and status = 'in_progress'
         and exists (select 1 from chats where id = $1 and "activeRunId" is null)
       order by "queuePosition", id limit 1 for update)
     update runs set "isWaiting" = false, "pendingMessages" = null,
       "leaseOwner" = case when "leaseUntil" > now() then "leaseOwner" end,
       "leaseUntil" = greatest("leaseUntil", now() + ${handOver})
     from next where runs.id = next.id returning runs.id, "leaseOwner" as owner, next."pendingMessages"`,
    [chatId],
  );
  if (nextRun === undefined) return null;
  const { id, owner, pendingMessages } = nextRun;
  await addMessages(tx, chatId, pendingMessages ?? []);
  await holdChat(tx, chatId, id);
  return { id, owner };
}

/** Stores the output items, to which later requests can refer. After a pause, a run has more of them than before. */
async function keepOutput(tx: Transaction, id: string, output: readonly RunItem[]): Promise<void> {
  const rows = output.map((item, ordinal) => ({ ordinal, itemId: item.id, item }));
  await tx.execute(
    `insert into response_items ("runId", direction, ordinal, "itemId", "orgId", "userId", item)
     select r.id, 'output', i.ordinal, i."itemId", r."orgId", r."userId", i.item
     from json_to_recordset($2::json) as i(ordinal int, "itemId" text, item json), runs r where r.id = $1
     on conflict ("runId", direction, ordinal) do update set "itemId" = excluded."itemId", item = excluded.item`,
    [id, JSON.stringify(rows)],
  );
}
