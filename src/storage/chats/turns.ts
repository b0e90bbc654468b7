import type { ChatMessage, NewMessage } from '../../entities/chats/chat.ts';
import type { NewRun } from '../../entities/runs/run.ts';
import type { Transaction } from '../database/database.ts';
import { lockChat } from '../database/sql/locks.ts';
import { answerApprovals, lockApprovals } from '../runs/approvals.ts';
import { addRun } from '../runs/leases.ts';
import { addMessages, findMessages } from './messages.ts';

/** What begins a run in a chat: its messages and its row, written together. */
export interface Turn {
  readonly chatId: string;
  readonly run: NewRun;
  readonly leaseMs: number;
  /** Gets the last messages of the locked chat, and returns the messages to add. Throws to write nothing. */
  readonly messages: (last: readonly ChatMessage[]) => readonly NewMessage[];
  /** How many of the last messages `messages` gets. */
  readonly lastMessages: number;
  /** Ids of the approvals that the turn answers. */
  readonly approvalIds: readonly string[];
}
/** `run-active`: another run holds the chat. `missing`: the chat is deleted. */
export type TurnResult =
  | { readonly kind: 'started' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'run-active'; readonly runId: string };

export async function beginTurn(
  tx: Transaction,
  { chatId, run, leaseMs, messages, lastMessages, approvalIds }: Turn,
): Promise<TurnResult> {
  await lockApprovals(tx, approvalIds);
  const chat = await lockChat(tx, chatId);
  if (chat === undefined || chat.deletedAt !== null) return { kind: 'missing' };
  if (chat.activeRunId !== null) return { kind: 'run-active', runId: chat.activeRunId };
  const last = lastMessages === 0 ? [] : await findMessages(tx, chatId, lastMessages);
  await addMessages(tx, chatId, messages(last));
  await answerApprovals(tx, approvalIds);
  await addRun(tx, { run, leaseMs });
  return { kind: 'started' };
}

/** Makes a run the active run of a chat. The chat must be locked. */
export async function holdChat({ prisma }: Transaction, chatId: string, runId: string): Promise<void> {
  const data = { activeRunId: runId, lastRunId: runId, updatedAt: new Date() };
  await prisma.chat.updateMany({ where: { id: chatId }, data });
}
