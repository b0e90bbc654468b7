// Raw SQL: thread order. Items get their positions in the statement that writes them.
import { type NewMessage, withTimes } from '../../../entities/conversations/chats/chat.ts';
import type { RunItem } from '../../../entities/conversations/runs/event.ts';
import type { ResponseItem, WireObject } from '../../../entities/conversations/runs/response.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { noteMessageCount } from '../../agents/counters.ts';
import type { Sql, Transaction } from '../../ground/database.ts';
import { readPage } from '../../ground/lists/paging.ts';
import { lockChat } from '../../ground/sql/locks.ts';
import { Store } from '../../ground/store.ts';
import { removeMessages } from '../chats/branches.ts';
import { spoken } from '../chats/clearing.ts';
import { type RunRow, toRun, unseen } from './rows.ts';

/** The user and organization whose responses are read. */
export interface ResponseOwner {
  readonly userId: string;
  readonly orgId: string;
}

/** An item that a request refers to: an input item, or an output item of a run. */
export type ItemMatch =
  | { readonly direction: 'input'; readonly itemId: string; readonly item: WireObject }
  | { readonly direction: 'output'; readonly itemId: string; readonly item: RunItem };

export interface ItemPage {
  readonly after: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

export class ResponseStore extends Store {
  async find(id: string, { userId, orgId }: ResponseOwner): Promise<Run | undefined> {
    const found = await this.db.prisma.run.findUnique({ where: { id, userId, orgId, isStored: true }, omit: unseen });
    return found === null ? undefined : toRun(found as RunRow);
  }

  /** The newest item of each id among the owner's. Cost: two statements. */
  async findItems(ids: readonly string[], { userId, orgId }: ResponseOwner): Promise<ReadonlyMap<string, ItemMatch>> {
    if (ids.length === 0) return new Map();
    const { responseItem } = this.db.prisma;
    const where = { itemId: { in: [...ids] }, userId, orgId };
    const groups = await responseItem.groupBy({ by: ['itemId', 'direction'], where, _max: { runId: true } });
    // An output is newer than the inputs that repeat it.
    const outputs = new Set(groups.flatMap(({ itemId, direction }) => (direction === 'output' ? itemId : [])));
    const newest = groups.filter(({ itemId, direction }) => direction === 'output' || !outputs.has(itemId));
    const places = newest.map(({ itemId, direction, _max }) => ({ itemId, direction, runId: _max.runId ?? '' }));
    if (places.length === 0) return new Map();
    const rows = await responseItem.findMany({ where: { OR: places }, select: { direction: true, itemId: true, item: true } });
    return new Map(rows.map((row) => [row.itemId, row as unknown as ItemMatch]));
  }

  /** @returns undefined when there is no item `after`. */
  async listInput(
    id: string,
    { after, limit, order }: ItemPage,
  ): Promise<{ readonly items: readonly WireObject[]; readonly hasMore: boolean } | undefined> {
    const { responseItem } = this.db.prisma;
    const isRising = order === 'asc';
    const own = { runId: id, direction: 'input' };
    let boundOrdinal: number | undefined;
    if (after !== undefined) {
      const boundItem = await responseItem.findFirst({
        where: { ...own, itemId: after },
        orderBy: { ordinal: isRising ? 'desc' : 'asc' },
        select: { ordinal: true },
      });
      if (boundItem === null) return undefined;
      boundOrdinal = boundItem.ordinal;
    }
    const rest = boundOrdinal === undefined ? {} : { ordinal: isRising ? { gt: boundOrdinal } : { lt: boundOrdinal } };
    const itemRows = await responseItem.findMany({
      where: { ...own, ...rest },
      orderBy: { ordinal: order },
      take: limit + 1,
      select: { ordinal: true, rowBytes: true },
    });
    const places = itemRows.map(({ ordinal, rowBytes }) => ({ id: String(ordinal), rowBytes }));
    const { rows, foundCount } = await readPage(this.db, places, async (ordinals) => {
      const where = { ...own, ordinal: { in: ordinals.map(Number) } };
      const read = await responseItem.findMany({ where, select: { ordinal: true, item: true } });
      return read.map(({ ordinal, item }) => ({ id: String(ordinal), item: item as WireObject }));
    });
    const items = rows.slice(0, limit).map(({ item }) => item);
    return { items, hasMore: foundCount > items.length };
  }

  /** Messages of a response's input that are not in its chat yet: the run waits, or was never started. */
  async findPending(id: string): Promise<readonly NewMessage[]> {
    const found = await this.db.prisma.run.findUnique({ where: { id }, select: { pendingMessages: true } });
    return ((found?.pendingMessages ?? []) as unknown as readonly NewMessage[]).map(withTimes);
  }

  /** Whether the run serves one caller who waits for it: no other request joined it, and it is not in the background. */
  async isAlone(id: string): Promise<boolean> {
    const where = { id, status: 'in_progress', isBackground: false, queuedRequests: 1, steers: { equals: [] } };
    return (await this.db.prisma.run.findUnique({ where, select: { id: true } })) !== null;
  }

  /** Removes a response that is over, with its messages; a chat that is empty then is removed too. */
  delete(id: string, owner: ResponseOwner): Promise<boolean> {
    return this.db.transaction((tx) => deleteResponse(tx, id, owner));
  }
}

/** Adds input items after the existing ones. */
export async function addItems(tx: Sql, runId: string, items: readonly ResponseItem[]): Promise<void> {
  if (items.length === 0) return;
  const rows = items.map(({ itemId, item }, index) => ({ index, itemId, item }));
  await tx.execute(
    `insert into response_items ("runId", direction, ordinal, "itemId", "orgId", "userId", item)
     select r.id, 'input', i.index + (select coalesce(max(ordinal) + 1, 0) from response_items where "runId" = $1 and direction = 'input'),
       i."itemId", r."orgId", r."userId", i.item
     from json_to_recordset($2::json) as i(index int, "itemId" text, item json), runs r where r.id = $1`,
    [runId, JSON.stringify(rows)],
  );
}

async function deleteResponse(tx: Transaction, id: string, { userId, orgId }: ResponseOwner): Promise<boolean> {
  const { run, runEventBatch, responseItem, message, chat } = tx.prisma;
  const runRow = await run.findUnique({ where: { id, userId, orgId, isStored: true }, select: { chatId: true } });
  const lockedChat = runRow?.chatId == null ? undefined : await lockChat(tx, runRow.chatId);
  if (lockedChat === undefined) return false;
  if ((await run.deleteMany({ where: { id, status: { not: 'in_progress' } } })).count !== 1) return false;
  const { id: chatId, agentId, activeRunId } = lockedChat;
  await runEventBatch.deleteMany({ where: { runId: id } });
  await responseItem.deleteMany({ where: { runId: id } });
  const messageCount = await message.count({ where: { chatId, runId: id, ...spoken } });
  await removeMessages(tx, chatId, { runId: id });
  await noteMessageCount(tx, agentId, -messageCount);
  const select = { id: true };
  const last = await run.findFirst({ where: { chatId, isWaiting: false }, orderBy: { createdAt: 'desc' }, select });
  const isEmpty = activeRunId === null && (await message.findFirst({ where: { chatId }, select })) === null;
  await chat.update({ where: { id: chatId }, data: { lastRunId: last?.id ?? null, deletedAt: isEmpty ? new Date() : null } });
  return true;
}
