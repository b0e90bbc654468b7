import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { DomainError } from '../../../entities/errors.ts';
import { isTerminal, type RunEvent } from '../../../entities/run-event.ts';
import type { Settings } from '../../../settings.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import type { ActiveRuns } from '../active-runs.ts';
import type { LoopDeps } from '../loop.ts';
import { RunStop } from '../stop.ts';
import { NewsBoard } from './news-board.ts';
import { StoredWorker, type WorkerDeps } from './worker.ts';

const eventsPerRead = 2_000;
/** Readers of runs that another process works on look again after this, should all signals fail. */
const lookAgainMs = 1_000;
const takenPerSweep = 50;
const sweepEveryMsMax = 3_000;

export interface StoredRunsDeps {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly jobs: Pick<Jobs, 'every'>;
  readonly loop: LoopDeps;
  readonly active: ActiveRuns;
  readonly logger: Logger;
  now(): Date;
}

/** The stored runs of this process: works on those it holds, follows all of them, takes over those that nobody holds any more. */
export class StoredRuns {
  private readonly deps: StoredRunsDeps;
  private readonly workerDeps: WorkerDeps;
  private readonly workers = new Map<string, StoredWorker>();
  private readonly board: NewsBoard;
  private readonly owner = randomUUID();
  private readonly heartbeat: NodeJS.Timeout;
  private readonly unsubscribe: () => void;
  private isStopping = false;

  constructor(deps: StoredRunsDeps) {
    this.deps = deps;
    const { settings, storage, jobs } = deps;
    this.board = new NewsBoard(storage.signals);
    this.workerDeps = {
      runs: storage.runs,
      chats: storage.chats,
      loop: deps.loop,
      owner: this.owner,
      leaseMs: settings.RUN_LEASE_MS,
      timeoutMs: settings.RUN_TIMEOUT_MS,
      messagesMax: settings.MESSAGES_MAX,
      onNews: (runId, chatId, isOver) => {
        this.board.publish(runId, isOver);
        if (isOver && chatId !== null) storage.signals.publish('chat-changed', chatId);
      },
    };
    this.unsubscribe = storage.signals.subscribe('run-cancel', (runId) => {
      this.workers.get(runId)?.stop(new RunStop('cancelled', 'The run was cancelled'));
    });
    this.heartbeat = setInterval(() => this.beat(), settings.RUN_LEASE_MS / 3);
    this.heartbeat.unref();
    jobs.every('runs.sweep', Math.min(settings.RUN_LEASE_MS, sweepEveryMsMax), () => this.sweep());
    // One process owns an embedded database: whoever held a lease before this one began is dead.
    const allBefore = storage.db.kind === 'embedded' ? deps.now() : undefined;
    this.sweep(allBefore).catch((error: unknown) => deps.logger.error({ err: error }, 'the first sweep for runs failed'));
  }

  start(runId: string, secrets: Readonly<Record<string, string>>): void {
    if (!this.isStopping) this.take(runId, false, secrets);
  }

  async *follow(runId: string, afterSequence: number, signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    let cursor = afterSequence;
    while (!signal.aborted) {
      const worker = this.workers.get(runId);
      // Listening begins before looking, and the status is asked before the events: nothing falls in between.
      const news = worker === undefined ? this.board.news(runId, lookAgainMs, signal) : undefined;
      const isOver = worker === undefined && (await this.isOver(runId));
      for await (const batch of worker === undefined ? this.stored(runId, cursor) : worker.log.read(cursor, signal)) {
        const last = batch.at(-1);
        if (last === undefined) continue;
        cursor = last.sequence;
        yield batch;
        if (isTerminal(last)) return;
      }
      if (isOver) return;
      await news;
    }
  }

  async cancel(runId: string): Promise<void> {
    const { runs } = this.deps.storage;
    if (!(await runs.requestCancel(runId))) return;
    this.deps.storage.signals.publish('run-cancel', runId);
    const never = new AbortController().signal;
    while (!(await this.isOver(runId))) await this.board.news(runId, lookAgainMs, never);
  }

  /** From here on nothing is begun or taken over. */
  stopTaking(): void {
    this.isStopping = true;
  }

  /** What still runs says that it was stopped, or is left to the next process when it has said nothing yet. */
  stopAll(): void {
    for (const worker of this.workers.values()) worker.stop(new RunStop('shutdown', 'The service was stopped'));
  }

  close(): void {
    clearInterval(this.heartbeat);
    this.unsubscribe();
    this.board.close();
  }

  private take(runId: string, isForced: boolean, secrets: Readonly<Record<string, string>>): void {
    if (this.workers.has(runId)) return;
    const worker = new StoredWorker(runId, this.workerDeps);
    this.workers.set(runId, worker);
    this.deps.active.enter();
    worker
      .work(isForced, secrets)
      .catch((error: unknown) =>
        this.deps.logger.error({ err: error, runId }, 'a run broke off; it is taken over after its lease'),
      )
      .finally(() => {
        this.workers.delete(runId);
        this.board.publish(runId, true);
        this.deps.active.leave();
      });
  }

  /** `allBefore`: also takes runs made before then from whoever holds them. */
  private async sweep(allBefore?: Date): Promise<void> {
    if (this.isStopping) return;
    const { runs } = this.deps.storage;
    for (const runId of await runs.findAbandoned(takenPerSweep, allBefore)) this.take(runId, allBefore !== undefined, {});
  }

  /** One statement for all runs of this process; also hears of cancels whose signal was lost. */
  private beat(): void {
    const asked = [...this.workers.values()].filter((worker) => worker.isLeased);
    if (asked.length === 0) return;
    const ids = asked.map((worker) => worker.runId);
    this.deps.storage.runs.extend(this.owner, ids, this.deps.settings.RUN_LEASE_MS).then(
      (held) => {
        const states = new Map(held.map((state) => [state.id, state]));
        for (const worker of asked) worker.heard(states.get(worker.runId));
      },
      (error: unknown) => this.deps.logger.warn({ err: error }, 'run leases could not be extended'),
    );
  }

  private async *stored(runId: string, afterSequence: number): AsyncGenerator<readonly RunEvent[]> {
    let cursor = afterSequence;
    for (;;) {
      const read = await this.deps.storage.runs.readEvents(runId, cursor, eventsPerRead);
      if (read === undefined) throw new DomainError('NOT_FOUND', 'There is no such run');
      const last = read.events.at(-1);
      if (last === undefined) return;
      cursor = last.sequence;
      yield read.events;
    }
  }

  private async isOver(runId: string): Promise<boolean> {
    const run = await this.deps.storage.runs.find(runId);
    return run === undefined || run.status !== 'in_progress';
  }
}
