import { ParleyError } from '@parley/client';
import { useEffect, useRef, useState } from 'react';
import { readableError } from '../../../../graphql/client.ts';
import { live } from '../../../../graphql/live/live.ts';
import {
  type Chat_CallFragment,
  ChatTemporaryDocument,
  type ChatTemporarySubscription,
  type ChatTemporarySubscriptionVariables,
} from '../../documents.ts';
import { callAtFrame } from '../../run/frames.ts';
import { RunBuilder, type RunView } from '../../run/run-view.ts';
import type { CallAnswer } from '../../transcript/Calls.tsx';

type TemporaryEvent = ChatTemporarySubscription['completionEvents'];

/** A question of a temporary chat and what came of it. It is in this page and nowhere else. */
export interface Turn {
  readonly id: number;
  /** Undefined where the answer goes on behind the answers to the calls of the turn before. */
  readonly question: string | undefined;
  readonly files: readonly File[];
  readonly view: RunView;
  readonly isLive: boolean;
  readonly isStopped: boolean;
  /** What the agent waits for: approvals, and outputs of functions. */
  readonly calls: readonly Chat_CallFragment[];
  readonly answers: Readonly<Record<string, CallAnswer>>;
  readonly error: ParleyError | undefined;
}

export interface Turns {
  readonly turns: readonly Turn[];
  readonly isBusy: boolean;
  readonly ask: (question: string, files: readonly File[]) => void;
  /** Answers a call of the last turn. The agent goes on when all of its calls are answered. */
  readonly answer: (callId: string, answer: CallAnswer) => void;
  readonly stop: () => void;
  readonly clear: () => void;
}

const nothingYet = new RunBuilder().view('', undefined);

/**
 * The turns of a temporary chat with an agent: the whole conversation, with its files, goes with each question. Leaving the page stops the answer.
 *
 * @param modelId  another model than that of the agent.
 */
export function useTurns(agentId: string, modelId: string | undefined, lostWords: string): Turns {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const leave = useRef<() => void>(undefined);
  const lastId = useRef(0);
  useEffect(() => () => leave.current?.(), []);
  const change = (id: number, changes: Partial<Turn>) =>
    setTurns((all) => all.map((turn) => (turn.id === id ? { ...turn, ...changes } : turn)));
  const beginTurn = (earlier: readonly Turn[], question: string | undefined, files: readonly File[]) => {
    lastId.current += 1;
    const id = lastId.current;
    const nothing = { view: nothingYet, calls: [], answers: {}, error: undefined };
    const all = [...earlier, { id, question, files, isLive: true, isStopped: false, ...nothing }];
    setTurns(all);
    leave.current = requestAnswer(toMessages(all), { agentId, modelId, lostWords }, (progress) => change(id, progress));
  };
  const current = turns.at(-1);
  const isBusy = current?.isLive === true;
  const ask = (question: string, files: readonly File[]) => beginTurn(turns, question, files);
  const answer = (callId: string, reply: CallAnswer) => {
    if (current === undefined || isBusy) return;
    const answered = { ...current, answers: { ...current.answers, [callId]: reply } };
    if (isAnswered(answered)) beginTurn([...turns.slice(0, -1), answered], undefined, []);
    else change(current.id, { answers: answered.answers });
  };
  const stop = () => {
    if (current === undefined || !isBusy) return;
    leave.current?.();
    change(current.id, { isStopped: true, isLive: false });
  };
  const clear = () => {
    leave.current?.();
    setTurns([]);
  };
  return { turns, isBusy, ask, answer, stop, clear };
}

interface Wanted {
  readonly agentId: string;
  readonly modelId: string | undefined;
  /** What is said when the connection breaks. */
  readonly lostWords: string;
}

type Progress = Partial<Pick<Turn, 'view' | 'isLive' | 'calls' | 'error'>>;

/**
 * Asks for an answer, and tells how it grows, once a frame, and how it ends.
 *
 * @returns what leaves it: what came until then is told, and nothing after it.
 */
function requestAnswer(
  messages: Promise<Messages>,
  { agentId, modelId, lostWords }: Wanted,
  tell: (progress: Progress) => void,
): () => void {
  const builder = new RunBuilder();
  let isFlushPlanned = false;
  let isOver = false;
  let unsubscribe: (() => void) | undefined;
  const flush = () => {
    isFlushPlanned = false;
    if (!isOver) tell({ view: builder.view('', undefined) });
  };
  const leave = () => {
    if (isFlushPlanned) flush();
    isOver = true;
    unsubscribe?.();
  };
  const end = (how: Progress) => {
    if (isOver) return;
    leave();
    tell({ ...how, view: builder.view('', undefined), isLive: false });
  };
  const fail = (error: ParleyError) => end({ error });
  const lose = () => fail(new ParleyError(lostWords));
  const take = (event: TemporaryEvent) => {
    builder.take(event);
    if ('run' in event) end({ calls: event.run.toolCalls });
    else if (!isFlushPlanned) {
      isFlushPlanned = true;
      callAtFrame(flush);
    }
  };
  const begin = (sent: Messages) => {
    if (isOver) return;
    let hasBegun = false;
    const variables = { input: { model: agentId, messages: sent }, modelId: modelId ?? null };
    unsubscribe = live.subscribe(ChatTemporaryDocument, () => variables, {
      next: ({ completionEvents }) => take(completionEvents),
      // After a break the question would be asked, and paid for, anew.
      begin: () => {
        if (hasBegun) lose();
        hasBegun = true;
      },
      error: fail,
      complete: lose,
    });
  };
  messages.then(begin, (cause: unknown) => fail(readableError(cause)));
  return leave;
}

type Messages = Extract<ChatTemporarySubscriptionVariables['input']['messages'], readonly unknown[]>;

export const isAnswered = ({ calls, answers }: Turn): boolean => calls.every(({ id }) => id in answers);

/** What the model gets: questions with their files, answers, and calls with what came of them. Calls that nobody answered are left out. */
async function toMessages(turns: readonly Turn[]): Promise<Messages> {
  const messages = await Promise.all(
    turns.map(async (turn) => {
      const text = turn.view.texts.map((one) => one.text).join('\n\n');
      const calls = isAnswered(turn) ? turn.calls : [];
      const toolCalls = calls.map(({ id, name, arguments: argumentsJson }) => ({ id, name, arguments: argumentsJson }));
      const assistant = { ...(text === '' ? {} : { text }), ...(calls.length === 0 ? {} : { toolCalls }) };
      const outputs = calls.map((call) => ({
        toolOutput: { toolCallId: call.id, output: toOutput(call, turn.answers[call.id]) },
      }));
      const question = await toQuestion(turn);
      return [...question, ...(text === '' && calls.length === 0 ? [] : [{ assistant }]), ...outputs];
    }),
  );
  return messages.flat();
}

async function toQuestion({ question, files }: Turn) {
  if (question === undefined) return [];
  if (files.length === 0) return [{ user: { text: question } }];
  const parts = await Promise.all(files.map(toPart));
  return [{ user: { parts: [...parts, ...(question === '' ? [] : [{ text: question }])] } }];
}

/** The answer to an approval names what was decided, with the arguments that were changed; a function gets its output as it is. */
function toOutput({ approval }: Chat_CallFragment, answer: CallAnswer | undefined): string {
  const { status, output } = answer ?? { status: 'CANCELLED', output: '' };
  if (status !== 'SUCCESS') return JSON.stringify({ status: 'cancelled' });
  if (approval !== true) return output;
  return JSON.stringify({ status: 'success', ...(output === '' ? {} : { output: JSON.parse(output) }) });
}

/** A file as the request has it: the service stores none of it. */
async function toPart(file: File) {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsDataURL(file);
  });
  return imageTypes.includes(file.type) ? { image: { url } } : { file: { fileData: url, filename: file.name } };
}

const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
