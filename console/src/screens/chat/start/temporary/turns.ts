import { ParleyError } from '@parley/client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { readableError } from '../../../../graphql/client.ts';
import { live } from '../../../../graphql/live/live.ts';
import {
  ChatTemporaryDocument,
  type ChatTemporarySubscription,
  type ChatTemporarySubscriptionVariables,
} from '../../documents.ts';
import { callAtFrame } from '../../run/frames.ts';
import { RunBuilder, type RunView } from '../../run/run-view.ts';

type TemporaryEvent = ChatTemporarySubscription['completionEvents'];

/** A question of a temporary chat and what came of it. It is in this page and nowhere else. */
export interface Turn {
  readonly id: number;
  readonly question: string;
  readonly files: readonly File[];
  readonly view: RunView;
  readonly isLive: boolean;
  readonly isStopped: boolean;
  /** Functions that the agent asked for, and that nobody answers here. */
  readonly awaitedCalls: readonly string[];
  readonly error: ParleyError | undefined;
}

export interface Turns {
  readonly turns: readonly Turn[];
  readonly isBusy: boolean;
  readonly ask: (question: string, files: readonly File[]) => void;
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
  const change = useCallback((id: number, changes: Partial<Turn>) => {
    setTurns((all) => all.map((turn) => (turn.id === id ? { ...turn, ...changes } : turn)));
  }, []);
  const end = useCallback(
    (id: number, changes: Partial<Turn>) => {
      leave.current?.();
      leave.current = undefined;
      change(id, { ...changes, isLive: false });
    },
    [change],
  );
  const ask = (question: string, files: readonly File[]) => {
    lastId.current += 1;
    const id = lastId.current;
    const earlier = turns;
    const turn = { id, question, files, view: nothingYet, isLive: true, isStopped: false, awaitedCalls: [], error: undefined };
    setTurns([...turns, turn]);
    const builder = new RunBuilder();
    let isFlushPlanned = false;
    let isOver = false;
    const flush = () => {
      isFlushPlanned = false;
      if (!isOver) change(id, { view: builder.view('', undefined) });
    };
    const take = (event: TemporaryEvent) => {
      builder.take(event);
      if ('run' in event) {
        isOver = true;
        end(id, { view: builder.view('', undefined), awaitedCalls: event.run.toolCalls.map(({ name }) => name) });
      } else if (!isFlushPlanned) {
        isFlushPlanned = true;
        callAtFrame(flush);
      }
    };
    const lost = () => {
      isOver = true;
      end(id, { view: builder.view('', undefined), error: new ParleyError(lostWords) });
    };
    const fail = (error: ParleyError) => {
      isOver = true;
      end(id, { view: builder.view('', undefined), error });
    };
    let hasBegun = false;
    const begin = (messages: Messages) => {
      if (isOver) return;
      leave.current = live.subscribe(
        ChatTemporaryDocument,
        () => ({ input: { model: agentId, messages }, modelId: modelId ?? null }),
        {
          next: ({ completionEvents }) => take(completionEvents),
          // After a break the question would be asked, and paid for, anew.
          begin: () => {
            if (hasBegun) lost();
            hasBegun = true;
          },
          error: fail,
          complete: () => {
            if (!isOver) lost();
          },
        },
      );
    };
    leave.current = () => {
      isOver = true;
    };
    toMessages([...earlier, turn]).then(begin, (cause: unknown) => fail(readableError(cause)));
  };
  const current = turns.at(-1);
  const isBusy = current?.isLive === true;
  const stop = () => {
    if (current !== undefined && isBusy) end(current.id, { isStopped: true });
  };
  const clear = () => {
    leave.current?.();
    leave.current = undefined;
    setTurns([]);
  };
  return { turns, isBusy, ask, stop, clear };
}

type Messages = Extract<ChatTemporarySubscriptionVariables['input']['messages'], readonly unknown[]>;

/** What the model gets: questions with their files, and answers. */
async function toMessages(turns: readonly Turn[]): Promise<Messages> {
  const messages = await Promise.all(
    turns.map(async ({ question, files, view }) => {
      const answer = view.texts.map(({ text }) => text).join('\n\n');
      const parts = [...(await Promise.all(files.map(toPart))), ...(question === '' ? [] : [{ text: question }])];
      const user = files.length === 0 ? { text: question } : { parts };
      return [{ user }, ...(answer === '' ? [] : [{ assistant: { text: answer } }])];
    }),
  );
  return messages.flat();
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
