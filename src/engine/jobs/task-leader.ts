import { randomUUID } from 'node:crypto';
import type { Leases } from '../../storage/ground/leases.ts';
import type { TaskStore } from '../../storage/ground/tasks.ts';
import { holdLease, type Lease, LeaseClock, LeaseLostError, type Moment } from '../leases.ts';

export interface RepeatedTask {
  readonly name: string;
  readonly everyMs: number;
  readonly task: (signal: AbortSignal) => Promise<void>;
}

/** How soon a process notices that a task is due, or that its holder has died. */
export const lookEveryMs = 5_000;
const defaultLeaseMs = 30_000;

export interface TaskLeaderHooks {
  onError(error: unknown, task: string): void;
  readonly leaseMs?: number;
}

/**
 * Runs tasks of which each runs in one process at a time, by a lease. A holder that is not sure of its lease (its process was stopped, the database does
 * not answer) ends the task, before or soon after another process takes it; its end is then written no more.
 */
export class TaskLeader {
  readonly #store: TaskStore;
  readonly #leases: Pick<Leases, 'renew' | 'release'>;
  readonly #tasks: ReadonlyMap<string, RepeatedTask>;
  readonly #hooks: TaskLeaderHooks;
  readonly #leaseMs: number;
  readonly #owner = randomUUID();
  readonly #running = new Map<string, Promise<void>>();
  #isPrepared = false;

  constructor(
    store: TaskStore,
    leases: Pick<Leases, 'renew' | 'release'>,
    tasks: readonly RepeatedTask[],
    hooks: TaskLeaderHooks,
  ) {
    this.#store = store;
    this.#leases = leases;
    this.#tasks = new Map(tasks.map((task) => [task.name, task]));
    this.#hooks = hooks;
    this.#leaseMs = hooks.leaseMs ?? defaultLeaseMs;
  }

  /** Begins the tasks that are due and that nobody runs. Cost: one statement. */
  async look(stopping: AbortSignal): Promise<void> {
    if (!this.#isPrepared) await this.#store.prepare([...this.#tasks.keys()]);
    this.#isPrepared = true;
    const idle = [...this.#tasks.keys()].filter((name) => !this.#running.has(name));
    const askedAt = LeaseClock.now();
    for (const lease of await this.#store.takeDue(idle, this.#owner, this.#leaseMs)) {
      const task = this.#tasks.get(lease.id);
      if (task === undefined) continue;
      const running = this.#run(task, lease, askedAt, stopping).finally(() => this.#running.delete(lease.id));
      this.#running.set(lease.id, running);
    }
  }

  /** Resolves when no task runs. */
  async end(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #run({ name, everyMs, task }: RepeatedTask, lease: Lease, askedAt: Moment, stopping: AbortSignal): Promise<void> {
    const hold = holdLease(this.#leases, 'task', lease, this.#leaseMs, askedAt);
    const signal = AbortSignal.any([stopping, hold.lost]);
    try {
      await task(signal);
    } catch (error) {
      if (!signal.aborted) this.#hooks.onError(error, name);
    }
    hold.stop();
    try {
      // What was cut off begins again in another process, at once.
      if (signal.aborted) await this.#leases.release('task', lease);
      else await this.#store.end(lease, everyMs);
    } catch (error) {
      if (!(error instanceof LeaseLostError) && !signal.aborted) this.#hooks.onError(error, name);
    }
  }
}
