import type { Chat_MessageFragment } from '../documents.ts';
import type { TranscriptView } from './transcript.ts';

/** A row of a transcript: what a person said, or an answer with all that belongs to it. */
export type Row =
  | {
      readonly kind: 'user';
      readonly key: string;
      readonly message: Chat_MessageFragment;
      /** Its run is over and has said nothing. */
      readonly isUnanswered: boolean;
    }
  | {
      readonly kind: 'answer';
      readonly key: string;
      /** Undefined for a greeting, and for answers of imported chats and of copies: no run of this chat said them. */
      readonly runId: string | undefined;
      /** It begins the chat: nobody had asked anything. */
      readonly isGreeting: boolean;
      readonly isRunning: boolean;
      /** Its texts, calls and their outputs, in order; empty while it is being said. */
      readonly messages: readonly Chat_MessageFragment[];
    }
  | { readonly kind: 'pending'; readonly key: string; readonly text: string; readonly filenames: readonly string[] };

/** The rows of a transcript. A row that says the same as one of `before` is that one, so that it is not drawn again. */
export function buildRows({ messages, runIds, pending, hasEarlier }: TranscriptView, before: readonly Row[]): readonly Row[] {
  const rows: Row[] = [];
  for (const message of messages) {
    if (message.role === 'SYSTEM') continue;
    if (message.role === 'USER') rows.push({ kind: 'user', key: message.id, message, isUnanswered: false });
    else addToAnswer(rows, message, runIds, hasEarlier);
  }
  for (const runId of runIds) {
    if (rows.some((row) => row.kind === 'answer' && row.runId === runId)) continue;
    const questionIndex = rows.findLastIndex((row) => row.kind === 'user' && row.message.runId === runId);
    const row: Row = { kind: 'answer', key: `answer-${runId}`, runId, isGreeting: false, isRunning: true, messages: [] };
    rows.splice(questionIndex === -1 ? rows.length : questionIndex + 1, 0, row);
  }
  noteUnanswered(rows);
  for (const { id, text, filenames } of pending) rows.push({ kind: 'pending', key: id, text, filenames });
  const rowsByKey = new Map(before.map((row) => [row.key, row]));
  return rows.map((row) => {
    const same = rowsByKey.get(row.key);
    return same !== undefined && isSame(same, row) ? same : row;
  });
}

function addToAnswer(rows: Row[], message: Chat_MessageFragment, runIds: readonly string[], hasEarlier: boolean): void {
  const runId = message.runId ?? undefined;
  const last = rows.at(-1);
  if (last?.kind === 'answer' && runId !== undefined && last.runId === runId) {
    rows[rows.length - 1] = { ...last, messages: [...last.messages, message] };
    return;
  }
  // A run may go on in a second row, behind a message that joined it.
  const isFirst = runId !== undefined && rows.every((row) => row.kind !== 'answer' || row.runId !== runId);
  const key = isFirst ? `answer-${runId}` : message.id;
  const isGreeting = runId === undefined && rows.length === 0 && !hasEarlier;
  rows.push({
    kind: 'answer',
    key,
    runId,
    isGreeting,
    isRunning: runId !== undefined && runIds.includes(runId),
    messages: [message],
  });
}

/** A question without an answer of its run, wherever it stands. One run may answer several questions, in a row behind the last. */
function noteUnanswered(rows: Row[]): void {
  const answeringRuns = new Set(rows.flatMap((row) => (row.kind === 'answer' ? [row.runId] : [])));
  for (const [index, row] of rows.entries()) {
    if (row.kind !== 'user' || row.message.runId === null || answeringRuns.has(row.message.runId)) continue;
    rows[index] = { ...row, isUnanswered: true };
  }
}

function isSame(one: Row, other: Row): boolean {
  if (one.kind === 'user' && other.kind === 'user') {
    return one.message === other.message && one.isUnanswered === other.isUnanswered;
  }
  if (one.kind === 'pending' && other.kind === 'pending') return one.text === other.text;
  if (one.kind !== 'answer' || other.kind !== 'answer') return false;
  return (
    one.isRunning === other.isRunning &&
    one.isGreeting === other.isGreeting &&
    one.messages.length === other.messages.length &&
    one.messages.every((message, index) => message === other.messages[index])
  );
}
