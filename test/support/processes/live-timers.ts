import { createHook } from 'node:async_hooks';

/**
 * Counts the timers that code in one of these folders started and that have neither fired nor been cleared, also those that do not keep the process
 * alive.
 */
export class LiveTimers {
  readonly #live = new Set<number>();
  readonly #hook;

  constructor(folders: readonly string[]) {
    this.#hook = createHook({
      init: (id, type) => {
        if (type !== 'Timeout') return;
        const { stack = '' } = new Error('a timer starts');
        if (folders.some((folder) => stack.includes(folder))) this.#live.add(id);
      },
      destroy: (id) => void this.#live.delete(id),
    }).enable();
  }

  get count(): number {
    return this.#live.size;
  }

  close(): void {
    this.#hook.disable();
  }
}
