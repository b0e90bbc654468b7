import type { Chat_BesideRunFragment, Chat_HeadFragment, Chat_MessageFragment } from '../documents.ts';
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
      /** The version of the agent from here on, where the answer before is of another; 0 stands for a draft. */
      readonly newVersion: number | undefined;
      /** Its texts, calls and their outputs, in order; empty while it is being said. */
      readonly messages: readonly Chat_MessageFragment[];
    }
  /** Where the part begins that the agent gets: with a summary of what was said before, or with nothing of it (null). */
  | { readonly kind: 'context'; readonly key: string; readonly summary: string | null }
  /** Answers to one message beside each other: that of the branch that people read, and others. */
  | {
      readonly kind: 'comparison';
      readonly key: string;
      readonly main: AnswerRow | undefined;
      readonly runs: readonly Chat_BesideRunFragment[];
    }
  | { readonly kind: 'pending'; readonly key: string; readonly text: string; readonly filenames: readonly string[] };

export type AnswerRow = Extract<Row, { readonly kind: 'answer' }>;

/** The rows of a transcript. A row that says the same as one of `before` is that one, so that it is not drawn again. */
export function buildRows(
  { chat, messages, hasEarlier, runIds, pending }: TranscriptView,
  before: readonly Row[],
): readonly Row[] {
  const rows: Row[] = [];
  const start = chat?.contextStart ?? undefined;
  // Behind messages that are not loaded, its place is not known yet.
  let isDue = start !== undefined && (!hasEarlier || messages.some(({ id }) => id <= start.messageId));
  for (const message of messages) {
    if (isDue && start !== undefined && message.id > start.messageId) {
      rows.push({ kind: 'context', key: `context-${start.messageId}`, summary: start.summary });
      isDue = false;
    }
    if (message.role === 'SYSTEM') continue;
    if (message.role === 'USER') rows.push({ kind: 'user', key: message.id, message, isUnanswered: false });
    else addToAnswer(rows, message, runIds, hasEarlier);
  }
  if (isDue && start !== undefined) {
    rows.push({ kind: 'context', key: `context-${start.messageId}`, summary: start.summary });
  }
  for (const runId of runIds) {
    if (rows.some((row) => row.kind === 'answer' && row.runId === runId)) continue;
    const questionIndex = rows.findLastIndex((row) => row.kind === 'user' && row.message.runId === runId);
    const row: Row = {
      kind: 'answer',
      key: `answer-${runId}`,
      runId,
      isGreeting: false,
      isRunning: true,
      newVersion: undefined,
      messages: [],
    };
    rows.splice(questionIndex === -1 ? rows.length : questionIndex + 1, 0, row);
  }
  noteUnanswered(rows);
  noteNewVersions(rows);
  compareAnswers(rows, chat?.comparison ?? undefined, before);
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
    newVersion: undefined,
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

/** Where the agent was changed between two answers. Another agent may have answered one of them. */
function noteNewVersions(rows: Row[]): void {
  let before: { readonly agentId: string | undefined; readonly version: number } | undefined;
  for (const [index, row] of rows.entries()) {
    if (row.kind !== 'answer') continue;
    const message = row.messages.findLast(({ agentVersion }) => agentVersion !== null);
    if (message === undefined || message.agentVersion === null) continue;
    const current = { agentId: message.run?.agent?.id, version: message.agentVersion };
    if (before !== undefined && before.agentId === current.agentId && before.version !== current.version) {
      rows[index] = { ...row, newVersion: current.version };
    }
    before = current;
  }
}

/** Puts the answers to the last question beside each other, in the place of its answer. */
function compareAnswers(
  rows: Row[],
  comparison: NonNullable<Chat_HeadFragment['comparison']> | undefined,
  before: readonly Row[],
): void {
  const question = rows.findLastIndex((row) => row.kind === 'user');
  const row = rows[question];
  if (comparison === undefined || row?.kind !== 'user' || row.message.id !== comparison.messageId) return;
  const answer = rows[question + 1];
  const main = answer?.kind === 'answer' ? answer : undefined;
  const key = `comparison-${comparison.messageId}`;
  const shown = before.find((each) => each.key === key);
  const isMainSame = shown?.kind === 'comparison' && shown.main !== undefined && main !== undefined && isSame(shown.main, main);
  const next: Row = { kind: 'comparison', key, main: isMainSame ? shown.main : main, runs: comparison.runs };
  rows.splice(question + 1, main === undefined ? 0 : 1, next);
  rows[question] = { ...row, isUnanswered: false };
}

function isSame(one: Row, other: Row): boolean {
  if (one.kind === 'user' && other.kind === 'user') {
    return one.message === other.message && one.isUnanswered === other.isUnanswered;
  }
  if (one.kind === 'pending' && other.kind === 'pending') return one.text === other.text;
  if (one.kind === 'comparison' && other.kind === 'comparison') return one.main === other.main && one.runs === other.runs;
  if (one.kind === 'context' && other.kind === 'context') return one.summary === other.summary;
  if (one.kind !== 'answer' || other.kind !== 'answer') return false;
  return (
    one.isRunning === other.isRunning &&
    one.isGreeting === other.isGreeting &&
    one.newVersion === other.newVersion &&
    one.messages.length === other.messages.length &&
    one.messages.every((message, index) => message === other.messages[index])
  );
}
