import type { ParleyError } from '@parley/client';
import { readableError, run } from '../../../../graphql/client.ts';
import { live } from '../../../../graphql/live/live.ts';
import {
  AskPreviewDocument,
  BeginPreviewDocument,
  type ChatUserInputInput,
  EndPreviewDocument,
  PreviewEventsDocument,
  type PreviewEventsSubscription,
  StopPreviewDocument,
} from './documents.ts';

type Event = PreviewEventsSubscription['runEvents'];
export type EndedRun = Extract<Event, { readonly __typename: 'RunCompleted' }>['run'];

/** A question of the preview and what came of it. */
export interface Turn {
  readonly question: string;
  readonly answer: string;
  /** Names of the tools that were called. */
  readonly tools: readonly string[];
  readonly ended: EndedRun | undefined;
  /** The question could not be sent, or its events cannot be read. */
  readonly error: ParleyError | undefined;
}

/** A temporary chat with an agent, for `useSyncExternalStore`. It begins with the first question, and `close` deletes it. */
export class PreviewChat {
  readonly #agentId: string;
  readonly #version: 'draft' | null;
  readonly #listeners = new Set<() => void>();
  #turns: readonly Turn[] = [];
  #chatId: string | undefined;
  #runId: string | undefined;
  #leave: (() => void) | undefined;
  #isFlushPlanned = false;
  #isClosed = false;

  /** @param version  who answers: `draft`, for those who may edit the agent; null: what people get. */
  constructor(agentId: string, version: 'draft' | null) {
    this.#agentId = agentId;
    this.#version = version;
  }

  readonly getSnapshot = (): readonly Turn[] => this.#turns;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Asks the agent as it is saved. `inputs` are the values that a chat begins with. */
  async ask(question: string, inputs: readonly ChatUserInputInput[], name: string): Promise<void> {
    this.#turns = [...this.#turns, { question, answer: '', tools: [], ended: undefined, error: undefined }];
    this.#flush();
    try {
      if (this.#chatId === undefined) {
        const { createChat } = await run(BeginPreviewDocument, {
          agentId: this.#agentId,
          input: { name, userInputs: [...inputs] },
        });
        this.#chatId = createChat.id;
        if (this.#isClosed) return this.#delete();
      }
      const { sendMessage } = await run(AskPreviewDocument, { chatId: this.#chatId, text: question, version: this.#version });
      if (!this.#isClosed) this.#follow(sendMessage.id);
    } catch (cause) {
      this.#change({ error: readableError(cause) });
    }
  }

  async stop(): Promise<void> {
    if (this.#runId !== undefined) await run(StopPreviewDocument, { runId: this.#runId });
  }

  /** Ends the preview and deletes its chat. */
  close(): void {
    this.#isClosed = true;
    this.#leave?.();
    this.#delete();
  }

  #delete(): void {
    const chatId = this.#chatId;
    // Where this fails, the chat stays in the reader's list and can be deleted there.
    if (chatId !== undefined) void run(EndPreviewDocument, { chatId }).catch(() => undefined);
    this.#chatId = undefined;
  }

  #follow(runId: string): void {
    this.#runId = runId;
    let last: number | undefined;
    this.#leave = live.subscribe(PreviewEventsDocument, () => ({ runId, after: last ?? null }), {
      next: ({ runEvents: event }) => {
        if (last !== undefined && event.sequence <= last) return;
        last = event.sequence;
        this.#take(event);
      },
      error: (error) => this.#change({ error }),
    });
  }

  #take(event: Event): void {
    const turn = this.#turns.at(-1);
    if (turn === undefined) return;
    if (event.__typename === 'TextDelta') this.#change({ answer: turn.answer + event.delta });
    else if (event.__typename === 'ToolCallStarted' && event.call !== null)
      this.#change({ tools: [...turn.tools, event.call.name] });
    else if ('run' in event) {
      this.#leave?.();
      this.#leave = undefined;
      this.#runId = undefined;
      this.#change({ ended: event.run, answer: event.run.text ?? turn.answer });
    }
  }

  #change(members: Partial<Turn>): void {
    const turn = this.#turns.at(-1);
    if (turn === undefined) return;
    this.#turns = [...this.#turns.slice(0, -1), { ...turn, ...members }];
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    requestAnimationFrame(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushPlanned = false;
    for (const listener of [...this.#listeners]) listener();
  }
}
