import type { ParleyError } from '@parley/client';
import { useSyncExternalStore } from 'react';
import { live } from '../../../graphql/live/live.ts';
import { ChatRunEventsDocument } from '../documents.ts';
import { callAtFrame } from './frames.ts';
import { RunBuilder, type RunEvent, type RunView } from './run-view.ts';

/**
 * One run as it happens, for `useSyncExternalStore`. The stream is open while somebody listens. After a break it goes on behind the last event that
 * came, so no token is lost or doubled; events that come twice all the same are dropped by their sequence. Listeners are called once a frame.
 */
export class RunStore {
  readonly runId: string;
  readonly #builder = new RunBuilder();
  readonly #listeners = new Set<() => void>();
  #view: RunView;
  #lastSequence: number | undefined;
  #error: ParleyError | undefined;
  #leave: (() => void) | undefined;
  #isFlushPlanned = false;

  constructor(runId: string) {
    this.runId = runId;
    this.#view = this.#builder.view(runId, undefined);
  }

  readonly getSnapshot = (): RunView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#follow();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#leave?.();
      this.#leave = undefined;
    };
  };

  /** Follows the run again after its stream was refused. */
  retry(): void {
    this.#error = undefined;
    this.#flush();
    this.#follow();
  }

  #follow(): void {
    if (this.#leave !== undefined || this.#view.ended !== undefined || this.#error !== undefined) return;
    this.#leave = live.subscribe(ChatRunEventsDocument, () => ({ runId: this.runId, after: this.#lastSequence ?? null }), {
      next: ({ runEvents }) => this.#take(runEvents),
      error: (error) => {
        this.#leave = undefined;
        this.#error = error;
        this.#flush();
      },
    });
  }

  #take(event: RunEvent): void {
    if (this.#lastSequence !== undefined && event.sequence <= this.#lastSequence) return;
    this.#lastSequence = event.sequence;
    this.#builder.take(event);
    if (isEnd(event)) {
      this.#leave?.();
      this.#leave = undefined;
    }
    this.#planFlush();
  }

  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    callAtFrame(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushPlanned = false;
    this.#view = this.#builder.view(this.runId, this.#error);
    for (const listener of [...this.#listeners]) listener();
  }
}

const endings: readonly RunEvent['__typename'][] = ['RunCompleted', 'RunFailed', 'RunCancelled', 'RunIncomplete'];
const isEnd = ({ __typename }: RunEvent) => endings.includes(__typename);

const storesMax = 100;
const stores = new Map<string, RunStore>();

/** The store of a run. Stores stay while the page is open, so that an answer keeps its steps when its chat is opened again. */
export function runStore(runId: string): RunStore {
  const existingStore = stores.get(runId);
  if (existingStore !== undefined) return existingStore;
  const store = new RunStore(runId);
  stores.set(runId, store);
  const [oldest] = stores.keys();
  if (stores.size > storesMax && oldest !== undefined) stores.delete(oldest);
  return store;
}

/** The store of a run that this page has followed. */
export const followedRun = (runId: string): RunStore | undefined => stores.get(runId);

const ignore = () => () => undefined;
const nothing = () => undefined;

/** A run as it happens; undefined without a store. */
export function useOptionalRun(store: RunStore | undefined): RunView | undefined {
  return useSyncExternalStore<RunView | undefined>(store?.subscribe ?? ignore, store?.getSnapshot ?? nothing);
}
