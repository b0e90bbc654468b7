// Raw SQL: thread order. The branches of a chat are a tree, which Prisma cannot walk; and a change of the branch is no change of its messages.

import type { ChatMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunError } from '../../../entities/conversations/runs/event.ts';
import type { ChatFilter } from '../../../entities/people/access.ts';
import type { Transaction } from '../../ground/database.ts';
import { requireShortList } from '../../ground/lists/paging.ts';
import { type LockedChat, lockChat } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import { readTree, type TreeMessage } from '../imports/tree.ts';
import { findOpenRun } from '../runs/queries.ts';
import { chatWhere } from './filter.ts';

/**
 * Where a new branch begins. `beside`: an alternative to this message. `answer`: an alternative to the answer that this message is a part of, or an answer
 * to this message of a user.
 */
export type BranchPoint = { readonly beside: string } | { readonly answer: string };

/** `missing`: the message is gone. `run-active`: a run holds the chat, waits for it or is paused in it. */
export type BranchChange =
  | { readonly kind: 'done' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'run-active'; readonly runId: string };

/** The place of a message among those that people see. */
export interface Kin {
  /** The visible message before it; null for the first. */
  readonly parentId: string | null;
  /** The visible messages at its place on the different branches, itself among them, the first one first. */
  readonly siblingIds: readonly string[];
}

/** A message, with whose chat it is in. */
export interface MessageOfOwner extends ChatMessage {
  readonly orgId: string;
  readonly userId: string;
}

export class BranchStore extends PublishingStore {
  /** Visible messages of any branch, in chats that match. Cost: two statements. @throws DomainError REPLY_TOO_LARGE. */
  async find(ids: readonly string[], filter: ChatFilter): Promise<readonly MessageOfOwner[]> {
    const { message } = this.db.prisma;
    const where = { id: { in: [...ids] }, isHidden: false, chat: { AND: [{ deletedAt: null }, chatWhere(filter)] } };
    if (ids.length > 1) {
      const { _sum: sum } = await message.aggregate({ where, _sum: { rowBytes: true } });
      requireShortList(this.db, sum.rowBytes);
    }
    const messageRows = await message.findMany({ where, include: { chat: { select: { orgId: true, userId: true } } } });
    return messageRows.map(({ chat, ...row }) => ({ ...row, ...chat }) as unknown as MessageOfOwner);
  }

  /** Makes the newest branch that goes through a message the active one. */
  async select(chatId: string, messageId: string): Promise<BranchChange> {
    const result = await this.db.transaction((tx) => select(tx, chatId, messageId));
    if (result.kind === 'done') this.signals.publish('chat-changed', chatId);
    return result;
  }

  /** Cost: one statement. */
  async kinOf(ids: readonly string[]): Promise<ReadonlyMap<string, Kin>> {
    const rows = await this.db.query<Kin & { readonly id: string }>(kinSql, [ids]);
    return new Map(rows.map(({ id, ...kin }) => [id, kin]));
  }

  /** All messages of a chat, also hidden ones. @throws DomainError REPLY_TOO_LARGE. */
  treeOf(chatId: string): Promise<readonly TreeMessage[]> {
    return readTree(this.db, chatId);
  }

  /** The visible messages that follow each message, on any branch, the first one first. Cost: one statement. */
  async repliesOf(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.db.query<{ id: string; replyIds: readonly string[] }>(repliesSql, [ids]);
    return new Map(rows.map(({ id, replyIds }) => [id, replyIds]));
  }

  /** Why messages of users have no whole answer on the active branch, by message: of those whose run failed. Cost: one statement. */
  async failuresOf(ids: readonly string[]): Promise<ReadonlyMap<string, RunError>> {
    if (ids.length === 0) return new Map();
    const rows = await this.db.query<RunError & { readonly id: string }>(failuresSql, [ids]);
    return new Map(rows.map(({ id, code, message }) => [id, { code, message }]));
  }

  /** The last visible message of the active branch of each chat, by chat. */
  async leavesOf(chatIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const last = {
      where: { isActive: true, isHidden: false },
      orderBy: { ordinal: 'desc' as const },
      take: 1,
      select: { id: true },
    };
    const chats = await this.db.prisma.chat.findMany({
      where: { id: { in: [...chatIds] } },
      select: { id: true, messages: last },
    });
    return new Map(chats.flatMap(({ id, messages: [leaf] }) => (leaf === undefined ? [] : [[id, leaf.id] as const])));
  }
}

/**
 * The visible messages below places, behind hidden ones: `below("placeId", id, ordinal)`. A null place is the beginning of a chat.
 *
 * `offset 0` keeps each look-up an index scan: the planner expects far more rows of a recursion than there are, and would read all messages.
 */
const belowSql = `below as (
    (select p.id as "placeId", m.* from places p cross join lateral
      (select "chatId", id, ordinal, "isHidden" from messages where "chatId" = p."chatId" and "parentId" = p.id offset 0) m
     union all
     select p.id, m.* from places p cross join lateral
      (select "chatId", id, ordinal, "isHidden" from messages where "chatId" = p."chatId" and "parentId" is null offset 0) m
     where p.id is null)
    union all
    select b."placeId", m.* from below b cross join lateral
      (select "chatId", id, ordinal, "isHidden" from messages where "chatId" = b."chatId" and "parentId" = b.id offset 0) m
    where b."isHidden")`;

const kinSql = `with recursive above as (
    select id as "messageId", "chatId", "parentId" from messages where id = any($1::text[])
    union all
    select a."messageId", a."chatId", m."parentId" from above a cross join lateral
      (select "parentId" from messages where id = a."parentId" and "isHidden" offset 0) m),
  anchors as (
    select a.* from above a left join lateral (select "isHidden" from messages where id = a."parentId" offset 0) m on true
    where m."isHidden" is not true),
  places as (select distinct "chatId", "parentId" as id from anchors),
  ${belowSql}
  select a."messageId" as id, a."parentId", array_agg(b.id order by b.ordinal) as "siblingIds"
  from anchors a join below b on b."chatId" = a."chatId" and coalesce(b."placeId", '') = coalesce(a."parentId", '')
  where not b."isHidden" group by 1, 2`;

const repliesSql = `with recursive places as (select id, "chatId" from messages where id = any($1::text[])),
  ${belowSql}
  select "placeId" as id, array_agg(id order by ordinal) as "replyIds" from below where not "isHidden" group by 1`;

/** An answer that was asked for again follows the message on its branch, with the run that gives it. */
const failuresSql = `select m.id, r."errorCode" as code, coalesce(r."errorMessage", '') as message from messages m join runs r on r.id = coalesce(
    (select a."runId" from messages a
     where a."chatId" = m."chatId" and a."parentId" = m.id and a."isActive" and a.role = 'assistant' limit 1), m."runId")
  where m.id = any($1::text[]) and m.role = 'user' and r.status = 'failed' and r."errorCode" is not null`;

async function select(tx: Transaction, chatId: string, messageId: string): Promise<BranchChange> {
  const { chat, message, run } = tx.prisma;
  const lockedChat = await lockChat(tx, chatId);
  if (lockedChat === undefined || lockedChat.deletedAt !== null) return { kind: 'missing' };
  const runId = await findOpenRun(tx, lockedChat);
  if (runId !== undefined) return { kind: 'run-active', runId };
  const [leaf] = await tx.query<{ id: string }>(
    `with recursive below as (
       select id, ordinal from messages where id = $2 and "chatId" = $1
       union all
       select m.id, m.ordinal from below b join messages m on m."chatId" = $1 and m."parentId" = b.id)
     select id from below order by ordinal desc limit 1`,
    [chatId, messageId],
  );
  if (leaf === undefined) return { kind: 'missing' };
  await showBranch(tx, chatId, leaf.id);
  // Responses go on from the last run of the branch that is read.
  const last = await message.findUnique({ where: { id: leaf.id }, select: { runId: true } });
  const select = { id: true, agentId: true, modelId: true } as const;
  const lastRun = last?.runId == null ? null : await run.findUnique({ where: { id: last.runId, chatId }, select });
  const answerer = await findAnswerer(tx, lockedChat, lastRun);
  const data = { ...answerer, updatedAt: new Date(), lastRunId: lastRun?.id ?? null, comparedMessageId: null };
  await chat.update({ where: { id: chatId }, data });
  return { kind: 'done' };
}

/** Where other agents answered beside that of the chat, the agent of the branch that is read goes on. */
async function findAnswerer(
  { prisma }: Transaction,
  { id: chatId, agentId }: LockedChat,
  lastRun: { readonly agentId: string | null; readonly modelId: string } | null,
): Promise<{ readonly agentId?: string | null; readonly modelId?: string | null }> {
  if (lastRun === null || lastRun.agentId === agentId) return {};
  const beside = await prisma.run.findFirst({ where: { chatId, besideMessageId: { not: null } }, select: { id: true } });
  if (beside === null) return {};
  return { agentId: lastRun.agentId, modelId: lastRun.agentId === null ? lastRun.modelId : null };
}

/** The message that an answer answers, or the last one of those that a message of a user was sent with. Undefined when the message is gone. */
export async function findAnswered(tx: Transaction, chatId: string, messageId: string): Promise<string | undefined> {
  const [end] = await tx.query<{ id: string | null }>(answerSql, [chatId, messageId]);
  return end?.id ?? undefined;
}

/** Makes the active branch of a locked chat end where a new one begins: the next messages follow there. @returns false when the message is gone. */
export async function beginBranch(tx: Transaction, chatId: string, point: BranchPoint): Promise<boolean> {
  const [end] = await tx.query<{ id: string | null }>('beside' in point ? besideSql : answerSql, [
    chatId,
    'beside' in point ? point.beside : point.answer,
  ]);
  if (end === undefined) return false;
  await showBranch(tx, chatId, end.id);
  return true;
}

const besideSql = 'select "parentId" as id from messages where "chatId" = $1 and id = $2';

/**
 * The message that an answer follows: above all messages of the answer, and below all with which its run began. A copied message belongs to no run:
 * the messages of the same role around it are taken for one answer.
 */
const answerSql = `with recursive said as (
    select id, "parentId", ordinal, role, "runId" from messages where "chatId" = $1 and id = $2 and role = 'assistant'
    union all
    select m.id, m."parentId", m.ordinal, m.role, m."runId" from said s join messages m on m.id = s."parentId"
    where m.role = 'assistant' and m."runId" is not distinct from s."runId"),
  asked as (
    select id, ordinal, "runId" from messages where "chatId" = $1 and id = $2 and role <> 'assistant'
    union all
    select m.id, m.ordinal, m."runId" from asked a join messages m on m."chatId" = $1 and m."parentId" = a.id
    where m.role <> 'assistant' and m."runId" = a."runId")
  (select "parentId" as id from said order by ordinal limit 1) union all (select id from asked order by ordinal desc limit 1)`;

/** Makes the branch that ends with a message the active one; null: none. Only messages below the fork of both branches are written. */
async function showBranch(tx: Transaction, chatId: string, leafId: string | null): Promise<void> {
  await tx.execute(
    `with recursive line as (
       select id, "parentId", ordinal, "isActive" from messages where id = $2 and "chatId" = $1
       union all
       select m.id, m."parentId", m.ordinal, m."isActive" from line l join messages m on m.id = l."parentId" where not l."isActive"),
     changed as (
       select id from line where not "isActive"
       union all
       select id from messages where "chatId" = $1 and "isActive" and ordinal > coalesce((select ordinal from line where "isActive"), -1))
     update messages m set "isActive" = not m."isActive" from changed where m.id = changed.id`,
    [chatId, leafId],
  );
}

/** Removes messages of a locked chat; what follows them then follows the message before them. */
export async function removeMessages(
  tx: Transaction,
  chatId: string,
  where: { readonly id?: string; readonly runId?: string; readonly role?: string },
): Promise<void> {
  const { message } = tx.prisma;
  const messageRows = await message.findMany({ where: { ...where, chatId }, select: { id: true } });
  if (messageRows.length === 0) return;
  const ids = messageRows.map(({ id }) => id);
  await tx.execute(
    `with recursive above as (
       select id, "parentId" as "aboveId" from messages where id = any($2::text[])
       union all
       select a.id, m."parentId" from above a join messages m on m.id = a."aboveId" where a."aboveId" = any($2::text[]))
     update messages m set "parentId" = a."aboveId" from above a
     where m."chatId" = $1 and m."parentId" = a.id and m.id <> all($2::text[])
       and (a."aboveId" is null or a."aboveId" <> all($2::text[]))`,
    [chatId, ids],
  );
  await message.deleteMany({ where: { id: { in: ids } } });
}
