import type { ChatMessage, NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import type { NewRun } from '../../../entities/conversations/runs/run.ts';
import type { Transaction } from '../../ground/database.ts';
import { lockChat } from '../../ground/sql/locks.ts';
import { answerApprovals, lockApprovals } from '../runs/approvals.ts';
import { addRun } from '../runs/leases.ts';
import { findOpenRun } from '../runs/queries.ts';
import { type BranchPoint, beginBranch } from './branches.ts';
import { addMessages, findMessages } from './messages.ts';

/** What begins a run in a chat: its messages and its row, written together. */
export interface Turn {
  readonly chatId: string;
  readonly run: NewRun;
  readonly leaseMs: number;
  /** The first events of the run's log. */
  readonly events?: readonly RunEvent[];
  /** Where the turn begins a branch; absent: at the end of the active one. */
  readonly branch?: BranchPoint;
  /** Gets the last messages of the locked chat, and returns the messages to add. Throws to write nothing. */
  readonly messages: (last: readonly ChatMessage[]) => readonly NewMessage[];
  /** How many of the last messages `messages` gets. */
  readonly lastMessages: number;
  /** Ids of the approvals that the turn answers. */
  readonly approvalIds: readonly string[];
}
/** `run-active`: another run holds the chat. `missing`: the chat is deleted. `message-missing`: the message where its branch begins is gone. */
export type TurnResult =
  | { readonly kind: 'started' }
  | { readonly kind: 'missing' | 'message-missing' }
  | { readonly kind: 'run-active'; readonly runId: string };

export async function beginTurn(
  tx: Transaction,
  { chatId, run, leaseMs, events = [], branch, messages, lastMessages, approvalIds }: Turn,
): Promise<TurnResult> {
  await lockApprovals(tx, approvalIds);
  const chat = await lockChat(tx, chatId);
  if (chat === undefined || chat.deletedAt !== null) return { kind: 'missing' };
  const runId = branch === undefined ? chat.activeRunId : await findOpenRun(tx, chat);
  if (typeof runId === 'string') return { kind: 'run-active', runId };
  if (branch !== undefined && !(await beginBranch(tx, chatId, branch))) return { kind: 'message-missing' };
  const last = lastMessages === 0 ? [] : await findMessages(tx, chatId, lastMessages);
  await addMessages(tx, chatId, messages(last));
  await answerApprovals(tx, approvalIds);
  await addRun(tx, { run, leaseMs, events });
  return { kind: 'started' };
}

/** Makes a run the active run of a chat. The chat must be locked. */
export async function holdChat({ prisma }: Transaction, chatId: string, runId: string): Promise<void> {
  const data = { activeRunId: runId, lastRunId: runId, updatedAt: new Date() };
  await prisma.chat.updateMany({ where: { id: chatId }, data });
}
