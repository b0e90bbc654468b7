import { ParleyError } from '@parley/client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { live } from '../../../../graphql/live/live.ts';
import { ChatTemporaryDocument, type ChatTemporarySubscription } from '../../documents.ts';
import { callAtFrame } from '../../run/frames.ts';
import { RunBuilder, type RunView } from '../../run/run-view.ts';

type TemporaryEvent = ChatTemporarySubscription['completionEvents'];

/** A question of a temporary chat and what came of it. It is in this page and nowhere else. */
export interface Turn {
  readonly id: number;
  readonly question: string;
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
  readonly ask: (question: string) => void;
  readonly stop: () => void;
  readonly clear: () => void;
}

const nothingYet = new RunBuilder().view('', undefined);

/** The turns of a temporary chat with an agent: the whole conversation goes with each question. Leaving the page stops the answer. */
export function useTurns(agentId: string, lostWords: string): Turns {
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
  const ask = (question: string) => {
    lastId.current += 1;
    const id = lastId.current;
    const messages = [...turns.flatMap(toMessages), { user: { text: question } }];
    setTurns([...turns, { id, question, view: nothingYet, isLive: true, isStopped: false, awaitedCalls: [], error: undefined }]);
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
    let hasBegun = false;
    leave.current = live.subscribe(ChatTemporaryDocument, () => ({ input: { model: agentId, messages } }), {
      next: ({ completionEvents }) => take(completionEvents),
      // After a break the question would be asked, and paid for, anew.
      begin: () => {
        if (hasBegun) lost();
        hasBegun = true;
      },
      error: (error) => {
        isOver = true;
        end(id, { view: builder.view('', undefined), error });
      },
      complete: () => {
        if (!isOver) lost();
      },
    });
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

/** What the model gets of an earlier turn. */
function toMessages({ question, view }: Turn) {
  const answer = view.texts.map(({ text }) => text).join('\n\n');
  return [{ user: { text: question } }, ...(answer === '' ? [] : [{ assistant: { text: answer } }])];
}
