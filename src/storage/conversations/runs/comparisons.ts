import type { UserInputValues } from '../../../entities/agents/part.ts';
import type { NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import type { NewRun, Run } from '../../../entities/conversations/runs/run.ts';
import type { Transaction } from '../../ground/database.ts';
import { lockChat } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import { findAnswered } from '../chats/branches.ts';
import { addMessages } from '../chats/messages.ts';
import { addRun } from './leases.ts';
import { type RunRow, toRun, unseen } from './rows.ts';

/** A run that answers a message beside another run, or beside an answer that is there. */
export interface BesideTurn {
  readonly run: NewRun & { readonly chatId: string };
  readonly leaseMs: number;
  readonly events: readonly RunEvent[];
  /** The answer beside which it answers, or the message that both answer. */
  readonly messageId: string;
  /** The hidden message with which its branch begins. */
  readonly mark: NewMessage;
  /** Most runs that answer one message beside the first one. */
  readonly besideMax: number;
  /** Its agent does not show its chats: editors may no longer read this one. */
  readonly hidesChat: boolean;
  /** Values for the user inputs of its agent, which the chat keeps with its own. */
  readonly userInputs: UserInputValues;
}

/** `missing`: the chat is deleted. `message-missing`: the message is gone, or no message that is answered. `full`: as many runs answer it as may. */
export type BesideResult = { readonly kind: 'started' | 'missing' | 'message-missing' | 'full' };

/** Runs that answer one message beside each other, each on a branch of its own. */
export class ComparisonStore extends PublishingStore {
  /** Begins a run beside others. It does not hold its chat: messages can be sent meanwhile. */
  async begin(turn: BesideTurn): Promise<BesideResult> {
    const { run } = turn;
    const result = await this.db.transaction((tx) => beginBeside(tx, turn));
    if (result.kind !== 'started') return result;
    this.signals.publish('chat-changed', run.chatId);
    this.signals.publish('run-changed', run.id);
    return result;
  }

  /** The runs that answer messages beside the run of their branch, by message, in their order. Cost: one statement. */
  async ofMessages(messageIds: readonly string[]): Promise<ReadonlyMap<string, readonly Run[]>> {
    if (messageIds.length === 0) return new Map();
    const rows = await this.db.prisma.run.findMany({
      where: { besideMessageId: { in: [...messageIds] } },
      orderBy: { id: 'asc' },
      omit: unseen,
    });
    const byMessage = Map.groupBy(rows, ({ besideMessageId }) => besideMessageId ?? '');
    return new Map([...byMessage].map(([id, ofMessage]) => [id, ofMessage.map((row) => toRun(row as unknown as RunRow))]));
  }
}

async function beginBeside(tx: Transaction, turn: BesideTurn): Promise<BesideResult> {
  const { run, leaseMs, events, messageId, mark, besideMax, hidesChat, userInputs } = turn;
  const { chatId } = run;
  const chat = await lockChat(tx, chatId);
  if (chat === undefined || chat.deletedAt !== null) return { kind: 'missing' };
  const questionId = await findAnswered(tx, chatId, messageId);
  if (questionId === undefined) return { kind: 'message-missing' };
  if ((await tx.prisma.run.count({ where: { chatId, besideMessageId: questionId } })) >= besideMax) return { kind: 'full' };
  await addMessages(tx, chatId, [mark], questionId);
  await addRun(tx, { run, leaseMs, events, besideMessageId: questionId });
  const values = await tx.prisma.chat.findUniqueOrThrow({ where: { id: chatId }, select: { userInputs: true } });
  const data = {
    ...{ comparedMessageId: questionId, updatedAt: new Date() },
    userInputs: { ...userInputs, ...(values.userInputs as UserInputValues) },
    ...(hidesChat ? { isVisibleToEditors: false } : {}),
  };
  await tx.prisma.chat.update({ where: { id: chatId }, data });
  return { kind: 'started' };
}

/** Where the messages of a run that stands beside another one go: behind those that it has. Undefined for any other run. */
export async function findPlaceBeside(
  { prisma }: Transaction,
  runId: string,
  besideMessageId: string | null,
): Promise<string | undefined> {
  if (besideMessageId === null) return undefined;
  const last = await prisma.message.findFirst({ where: { runId }, orderBy: { ordinal: 'desc' }, select: { id: true } });
  return last?.id ?? besideMessageId;
}
