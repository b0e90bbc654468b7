// Raw SQL: texts behind the limit of a list are measured by a window function and not read.

import type { Run } from '../../../entities/conversations/runs/run.ts';
import type { ChatFilter } from '../../../entities/people/access.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { requireShortList } from '../../ground/lists/paging.ts';
import type { LockedChat } from '../../ground/sql/locks.ts';
import { chatWhere } from '../chats/filter.ts';
import { type RunRow, toRun, unseen } from './rows.ts';

/** See RunStore.findInChats. Cost: two statements. */
export async function findInChats({ prisma }: Database, ids: readonly string[], filter: ChatFilter): Promise<readonly Run[]> {
  const rows = await prisma.run.findMany({ where: { id: { in: [...ids] } }, omit: unseen });
  const chatIds = rows.flatMap(({ chatId }) => chatId ?? []);
  if (chatIds.length === 0) return [];
  const where = { AND: [{ id: { in: chatIds }, deletedAt: null }, chatWhere(filter)] };
  const readable = new Set((await prisma.chat.findMany({ where, select: { id: true } })).map(({ id }) => id));
  return rows.filter(({ chatId }) => chatId !== null && readable.has(chatId)).map((row) => toRun(row as RunRow));
}

/** See RunStore.instructionsOf. Instructions behind the limit of a list are counted and not read. */
export async function loadInstructions(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db.query<{ readonly id: string; readonly text: string | null; readonly bytes: number }>(
    `select id, case when bytes <= $2 then text end as text, bytes::float8 as bytes from (
       select id, text, sum(octet_length(text)) over (order by id) as bytes
       from (select id, coalesce(request ->> 'instructions', '') as text from runs where id = any($1)) told) counted
     order by id`,
    [ids, db.listMaxBytes],
  );
  requireShortList(db, rows.at(-1)?.bytes ?? 0);
  return new Map(rows.map(({ id, text }) => [id, text ?? '']));
}

/** The run that holds a locked chat, waits for it or is paused in it: what it says belongs to the branch where it began. */
export async function findOpenRun({ prisma }: Transaction, { id: chatId, activeRunId }: LockedChat): Promise<string | undefined> {
  if (activeRunId !== null) return activeRunId;
  const isOpen = { OR: [{ status: 'in_progress' }, { incompleteReason: 'paused' }] };
  return (await prisma.run.findFirst({ where: { chatId, ...isOpen }, select: { id: true } }))?.id;
}
