import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../storage/ground/database.ts';
import { Leases } from '../../storage/ground/leases.ts';
import { TaskStore } from '../../storage/ground/tasks.ts';
import { lookEveryMs, type RepeatedTask, TaskLeader } from './task-leader.ts';

/** Tasks that are run again and again until the process stops. */
export class RepeatedTasks {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #firstAfterMs: number;
  readonly #own: RepeatedTask[] = [];
  readonly #led: RepeatedTask[] = [];
  readonly #stopping = new AbortController();
  #ending: Promise<unknown> = Promise.resolve();

  /** @param firstAfterMs  of tasks that are repeated less often. */
  constructor(db: Database, logger: Logger, firstAfterMs: number) {
    this.#db = db;
    this.#logger = logger;
    this.#firstAfterMs = firstAfterMs;
  }

  /** Runs in each process. */
  every(task: RepeatedTask): void {
    this.#own.push(this.#inBackground(task));
  }

  /** Runs in one of all processes. The only process of a database needs no leases. */
  lead(task: RepeatedTask): void {
    (this.#db.isOfOneProcess ? this.#own : this.#led).push(this.#inBackground(task));
  }

  start(): void {
    this.#ending = Promise.all([...this.#own.map((task) => this.#repeat(task)), this.#leadAll()]);
  }

  /** Resolves when no task runs. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ending;
  }

  /** Takes tasks that are due, whenever no other process has them. */
  async #leadAll(): Promise<void> {
    if (this.#led.length === 0) return;
    const leader = new TaskLeader(new TaskStore(this.#db), new Leases(this.#db), this.#led, {
      onError: (error, task) => this.#warn(error, task),
    });
    await this.#repeat({ name: 'tasks.lead', everyMs: lookEveryMs, task: (signal) => leader.look(signal) });
    await leader.end();
  }

  async #repeat({ name, everyMs, task }: RepeatedTask): Promise<void> {
    const { signal } = this.#stopping;
    const pause = (ms: number) => wait(ms, undefined, { signal, ref: false }).catch(() => {});
    await pause(Math.min(everyMs, this.#firstAfterMs));
    while (!signal.aborted) {
      await task(signal).catch((error: unknown) => this.#warn(error, name));
      await pause(everyMs);
    }
  }

  #inBackground({ name, everyMs, task }: RepeatedTask): RepeatedTask {
    return { name, everyMs, task: async (signal) => this.#db.runAs('background', () => task(signal)) };
  }

  #warn(error: unknown, task: string): void {
    if (!this.#stopping.signal.aborted) this.#logger.warn({ err: error, task }, 'a repeated task failed');
  }
}
