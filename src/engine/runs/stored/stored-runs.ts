import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { DomainError } from '../../../entities/errors.ts';
import { isLast, isPause, type RunEvent, type RunStatus } from '../../../entities/run-event.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';
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
/** Waiting runs whose secrets are kept. */
const expectedMax = 20_000;
/** Time for the process that keeps a run's secrets to begin it. */
const handOverMs = 300;
const sweepEveryMsMax = 3_000;

export interface StoredRunsDeps {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly jobs: Pick<Jobs, 'every'>;
  readonly loop: LoopDeps;
  readonly active: ActiveRuns;
  /** Told how a run ended that this process worked on. */
  readonly onEnded: (status: RunStatus) => void;
  readonly logger: Logger;
  now(): Date;
}

/** The stored runs of this process: works on those it holds, follows all of them, takes over those that nobody holds any more. */
export class StoredRuns {
  private readonly deps: StoredRunsDeps;
  private readonly workerDeps: WorkerDeps;
  private readonly workers = new Map<string, StoredWorker>();
  /** Resolves when the worker of a run is gone. */
  private readonly leaving = new Map<string, Promise<unknown>>();
  private readonly board: NewsBoard;
  private readonly owner = randomUUID();
  private readonly heartbeat: NodeJS.Timeout;
  private readonly subscriptions: readonly (() => void)[];
  /** Secrets of runs that wait for their thread. They are in memory only: a run that begins elsewhere has none. */
  private readonly expected = new BoundedMap<string, Readonly<Record<string, string>>>(expectedMax);
  private isStopping = false;

  constructor(deps: StoredRunsDeps) {
    this.deps = deps;
    const { settings, storage, jobs } = deps;
    this.board = new NewsBoard(storage.signals);
    this.workerDeps = {
      runs: storage.runs,
      chats: storage.chats,
      blobs: storage.blobs,
      loop: deps.loop,
      owner: this.owner,
      leaseMs: settings.RUN_LEASE_MS,
      timeoutMs: settings.RUN_TIMEOUT_MS,
      messagesMax: settings.MESSAGES_MAX,
      onNews: (runId, chatId, isOver) => {
        this.board.publish(runId, isOver);
        if (isOver && chatId !== null) storage.signals.publish('chat-changed', chatId);
      },
      onNext: (runId) => this.next(runId),
      onEnded: deps.onEnded,
    };
    this.subscriptions = [
      storage.signals.subscribe('run-cancel', (runId) => {
        this.workers.get(runId)?.stop(new RunStop('cancelled', 'The run was cancelled'));
      }),
      storage.signals.subscribe('run-control', (payload) => {
        const [runId = '', what] = payload.split(' ');
        if (what === 'pause') this.workers.get(runId)?.askToPause();
        else this.workers.get(runId)?.hasNews();
      }),
      storage.signals.subscribe('run-ready', (runId) => {
        if (this.expected.has(runId)) this.start(runId, {});
      }),
    ];
    this.heartbeat = setInterval(() => this.beat(), settings.RUN_LEASE_MS / 3);
    this.heartbeat.unref();
    jobs.every('runs.sweep', Math.min(settings.RUN_LEASE_MS, sweepEveryMsMax), () => this.sweep());
    // One process owns an embedded database: whoever held a lease before this one began is dead.
    const allBefore = storage.db.kind === 'embedded' ? deps.now() : undefined;
    this.sweep(allBefore).catch((error: unknown) => deps.logger.error({ err: error }, 'the first sweep for runs failed'));
  }

  start(runId: string, secrets: Readonly<Record<string, string>>): void {
    if (this.isStopping) return;
    const kept = this.expected.get(runId);
    this.expected.delete(runId);
    const all = { ...kept, ...secrets };
    // A run that was paused a moment ago may still be leaving its worker's hands.
    const leaving = this.leaving.get(runId);
    if (leaving === undefined) this.take(runId, false, all);
    else void leaving.then(() => this.take(runId, false, all));
  }

  expect(runId: string, secrets: Readonly<Record<string, string>>): void {
    const worker = this.workers.get(runId);
    if (worker === undefined) this.expected.set(runId, { ...this.expected.get(runId), ...secrets });
    else worker.addSecrets(secrets);
  }

  /** Whoever keeps secrets for it begins it; if nobody does, this process. */
  private next(runId: string): void {
    if (this.expected.has(runId)) {
      this.start(runId, {});
      return;
    }
    this.deps.storage.signals.publish('run-ready', runId);
    setTimeout(() => this.start(runId, {}), handOverMs).unref();
  }

  async *follow(runId: string, afterSequence: number, signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    let cursor = afterSequence;
    /** A pause that was there before this reader came is history; one that it sees happen is the end for it. */
    let pausesFrom: number | undefined;
    while (!signal.aborted) {
      const worker = this.workers.get(runId);
      pausesFrom = pausesFrom === undefined ? (worker?.log.length ?? Number.POSITIVE_INFINITY) : Math.min(pausesFrom, cursor + 1);
      // Listening begins before looking, and the status is asked before the events: nothing falls in between.
      const news = worker === undefined ? this.board.news(runId, lookAgainMs, signal) : undefined;
      const isOver = worker === undefined && (await this.isOver(runId));
      for await (const batch of worker === undefined ? this.stored(runId, cursor) : worker.log.read(cursor, signal)) {
        const last = batch.at(-1);
        if (last === undefined) continue;
        cursor = last.sequence;
        yield batch;
        if (isLast(last) || (isPause(last) && last.sequence >= pausesFrom)) return;
      }
      if (isOver) return;
      await news;
    }
  }

  async cancel(runId: string): Promise<void> {
    const { runs, threads, signals } = this.deps.storage;
    if (await threads.settle(runId, 'cancelled')) {
      this.expected.delete(runId);
      return;
    }
    if (!(await runs.requestCancel(runId))) return;
    signals.publish('run-cancel', runId);
    await this.over(runId);
  }

  /** @returns false when the run was not at work. */
  async pause(runId: string): Promise<boolean> {
    const { runs, threads, signals } = this.deps.storage;
    if (await threads.settle(runId, 'paused')) return true;
    if (!(await runs.requestPause(runId))) return false;
    signals.publish('run-control', `${runId} pause`);
    await this.over(runId);
    return true;
  }

  announce(runId: string): void {
    this.deps.storage.signals.publish('run-control', `${runId} steer`);
  }

  async cutOff(runId: string): Promise<void> {
    const worker = new StoredWorker(runId, this.workerDeps);
    await worker.work({ isForced: true, isCutOff: true, secrets: {} });
    // The one that held it has nothing to say any more.
    this.workers.get(runId)?.stop(new RunStop('lost', 'The run was cut off'));
    this.deps.storage.signals.publish('run-cancel', runId);
    this.board.publish(runId, true);
  }

  async *replay(runId: string): AsyncGenerator<readonly RunEvent[]> {
    yield* this.stored(runId, -1);
  }

  private async over(runId: string): Promise<void> {
    const never = new AbortController().signal;
    for (;;) {
      const news = this.board.news(runId, lookAgainMs, never);
      if (await this.isOver(runId)) return;
      await news;
    }
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
    for (const unsubscribe of this.subscriptions) unsubscribe();
    this.board.close();
  }

  private take(runId: string, isForced: boolean, secrets: Readonly<Record<string, string>>): void {
    if (this.workers.has(runId)) return;
    const worker = new StoredWorker(runId, this.workerDeps);
    this.workers.set(runId, worker);
    this.deps.active.enter();
    const work = worker
      .work({ isForced, secrets })
      .catch((error: unknown) =>
        this.deps.logger.error({ err: error, runId }, 'a run broke off; it is taken over after its lease'),
      )
      .finally(() => {
        this.workers.delete(runId);
        this.leaving.delete(runId);
        this.board.publish(runId, true);
        this.deps.active.leave();
      });
    this.leaving.set(runId, work);
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
