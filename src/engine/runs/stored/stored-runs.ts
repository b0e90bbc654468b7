import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { RunStatus } from '../../../entities/runs/event.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { nobody } from '../../../lib/fair-share.ts';
import type { Settings } from '../../../settings.ts';
import type { LeasedRun, LeaseManner } from '../../../storage/runs/runs.ts';
import type { NextRun } from '../../../storage/runs/writes.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import type { ActiveRuns } from '../active-runs.ts';
import type { LoopDeps } from '../loop-deps.ts';
import { RunStop } from '../stop.ts';
import { keyRevoked } from './closing.ts';
import { LeaseClock } from './lease-clock.ts';
import { NewsBoard } from './news-board.ts';
import { RunReaders } from './run-readers.ts';
import { StoredWorker, type WorkerDeps } from './worker.ts';

const takenPerSweep = 50;
/** Waiting runs whose secrets are kept. */
const expectedMax = 20_000;
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
  readonly #deps: StoredRunsDeps;
  readonly #workerDeps: WorkerDeps;
  readonly #workers = new Map<string, StoredWorker>();
  /** Resolves when the worker of a run is gone. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  /** Those that write the end of a run that was cut off; the one that had it may still be there. */
  readonly #ending = new Set<StoredWorker>();
  readonly #board: NewsBoard;
  readonly readers: RunReaders;
  /** Names this process among those on the same database. */
  readonly owner = randomUUID();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #subscriptions: readonly (() => void)[];
  /** Secrets of runs that wait for their thread. They are in memory only: this process alone may begin those runs, while it lives. */
  readonly #expected = new BoundedMap<string, Readonly<Record<string, string>>>(expectedMax);
  #isStopping = false;

  constructor(deps: StoredRunsDeps) {
    this.#deps = deps;
    const { settings, storage, jobs } = deps;
    this.#board = new NewsBoard(storage.signals);
    this.readers = new RunReaders(storage.runs, this.#board, (runId) => this.#workers.get(runId)?.log);
    this.#workerDeps = {
      runs: storage.runs,
      chats: storage.chats,
      blobs: storage.blobs,
      loop: deps.loop,
      owner: this.owner,
      leaseMs: settings.RUN_LEASE_MS,
      timeoutMs: settings.RUN_TIMEOUT_MS,
      messagesMax: settings.MESSAGES_MAX,
      onNews: (runId, chatId, isOver) => {
        this.#board.publish(runId, isOver);
        if (isOver && chatId !== null) storage.signals.publish('chat-changed', chatId);
      },
      onNext: (next) => this.#next(next),
      onEnded: deps.onEnded,
    };
    this.#subscriptions = [
      storage.signals.subscribe('run-cancel', (runId) => {
        this.#workers.get(runId)?.stop(new RunStop('cancelled', 'The run was cancelled'));
      }),
      storage.signals.subscribe('run-control', (payload) => {
        const [runId = '', what] = payload.split(' ');
        if (what === 'pause') this.#workers.get(runId)?.askToPause();
        else this.#workers.get(runId)?.hasNews();
      }),
      storage.signals.subscribe('run-ready', (runId) => {
        if (this.#expected.has(runId)) this.start(runId);
      }),
      storage.signals.subscribe('key-changed', (keyId) => {
        this.#endWaiting(keyId).catch((error: unknown) => {
          deps.logger.warn({ err: error, keyId }, 'waiting runs of a revoked key are ended when their turn comes');
        });
      }),
    ];
    this.#heartbeat = setInterval(() => this.#beat(), settings.RUN_LEASE_MS / 3);
    this.#heartbeat.unref();
    jobs.every('runs.sweep', Math.min(settings.RUN_LEASE_MS, sweepEveryMsMax), () => this.#sweep());
    // One process owns an embedded database: whoever held a lease before this one began is dead.
    const allBefore = storage.db.kind === 'embedded' ? deps.now() : undefined;
    this.#sweep(allBefore).catch((error: unknown) => deps.logger.error({ err: error }, 'the first sweep for runs failed'));
  }

  /** @param secrets  undefined where they are not known: those that are kept here for the run are taken. */
  start(runId: string, secrets?: Readonly<Record<string, string>>): void {
    if (this.#isStopping) return;
    const kept = this.#expected.get(runId);
    this.#expected.delete(runId);
    const all = kept === undefined ? secrets : { ...kept, ...secrets };
    // A run that was paused a moment ago may still be leaving its worker's hands.
    const leaving = this.#leaving.get(runId);
    if (leaving === undefined) this.#take(runId, 'free', all);
    else void leaving.then(() => this.#take(runId, 'free', all));
  }

  expect(runId: string, secrets: Readonly<Record<string, string>>): void {
    if (Object.keys(secrets).length === 0) return;
    const worker = this.#workers.get(runId);
    if (worker === undefined) this.#expected.set(runId, { ...this.#expected.get(runId), ...secrets });
    else worker.addSecrets(secrets);
  }

  /** It is begun here, unless only another process has its secrets. */
  #next({ id, owner }: NextRun): void {
    if (owner === null || owner === this.owner) this.start(id);
    else this.#deps.storage.signals.publish('run-ready', id);
  }

  async cancel(runId: string): Promise<void> {
    const { runs, threads, signals } = this.#deps.storage;
    if (await threads.settle(runId, 'cancelled')) {
      this.#expected.delete(runId);
      return;
    }
    if (await runs.requestCancel(runId)) {
      signals.publish('run-cancel', runId);
      await this.readers.over(runId);
    }
    // It may have been paused in the same moment.
    await threads.settle(runId, 'cancelled');
  }

  /** @returns false when the run was not at work. */
  async pause(runId: string): Promise<boolean> {
    const { runs, threads, signals } = this.#deps.storage;
    if (await threads.settle(runId, 'paused')) {
      this.#expected.delete(runId);
      return true;
    }
    if (!(await runs.requestPause(runId))) return false;
    signals.publish('run-control', `${runId} pause`);
    await this.readers.over(runId);
    return true;
  }

  announce(runId: string): void {
    this.#deps.storage.signals.publish('run-control', `${runId} steer`);
  }

  async cutOff(runId: string): Promise<void> {
    const worker = new StoredWorker(runId, this.#workerDeps);
    this.#ending.add(worker);
    await worker.work({ manner: 'ending', secrets: undefined }).finally(() => this.#ending.delete(worker));
    // The one that held it has nothing to say any more.
    this.#workers.get(runId)?.stop(new RunStop('lost', 'The run was cut off'));
    this.#deps.storage.signals.publish('run-cancel', runId);
    this.#board.publish(runId, true);
  }

  /** From here on nothing is begun or taken over. */
  stopTaking(): void {
    this.#isStopping = true;
  }

  /** What still runs says that it was stopped, or is left to the next process. Readers of what goes on without this one are told so. */
  stopAll(): void {
    this.readers.end();
    for (const worker of this.#workers.values()) worker.stop(new RunStop('shutdown', 'The service was stopped'));
    this.#board.wakeAll();
  }

  close(): void {
    clearInterval(this.#heartbeat);
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#board.close();
  }

  #take(runId: string, manner: LeaseManner, secrets: Readonly<Record<string, string>> | undefined): void {
    // Asked again: a paused run may have been leaving, or the database been slow, while the service began to stop.
    if (this.#isStopping || this.#workers.has(runId) || [...this.#ending].some((worker) => worker.runId === runId)) return;
    const worker = new StoredWorker(runId, this.#workerDeps);
    this.#workers.set(runId, worker);
    const { active } = this.#deps;
    // Its row was not read yet.
    let owner = nobody;
    active.enter(owner);
    let stopWatching = () => {};
    const onLeased = ({ tenantId, orgId, keyId }: LeasedRun) => {
      const known = { tenantId, orgId };
      active.move(owner, known);
      owner = known;
      stopWatching = this.#deps.storage.apiKeys.watchRevocation(keyId, () => {
        worker.stop(new RunStop('revoked', keyRevoked.message));
      });
    };
    // A run is somebody's, also when a sweep found it.
    const work = this.#deps.storage.db
      .runAs('interactive', () => worker.work({ manner, secrets, onLeased }))
      .catch((error: unknown) => {
        this.#deps.logger.error({ err: error, runId }, 'a run broke off; it is taken over after its lease');
        // It could not be begun: it is tried again while it is left to this process.
        if (!worker.isLeased && secrets !== undefined && Object.keys(secrets).length > 0) this.#expected.set(runId, secrets);
      })
      .finally(() => {
        stopWatching();
        this.#workers.delete(runId);
        this.#leaving.delete(runId);
        this.#board.publish(runId, true);
        active.leave(owner);
      });
    this.#leaving.set(runId, work);
  }

  /** Those that wait behind the run of another key: nobody works on them, and so nobody hears that their own has ended. */
  async #endWaiting(keyId: string): Promise<void> {
    if (this.#isStopping) return;
    const { runs, threads } = this.#deps.storage;
    for (const runId of await runs.findWaitingOfRevoked(keyId)) {
      if (await threads.settle(runId, keyRevoked)) this.#expected.delete(runId);
    }
  }

  /** `allBefore`: also takes runs made before then from whoever holds them. */
  async #sweep(allBefore?: Date): Promise<void> {
    if (this.#isStopping) return;
    const { runs } = this.#deps.storage;
    for (const runId of await runs.findAbandoned(takenPerSweep, allBefore)) {
      if (allBefore === undefined) this.start(runId);
      else this.#take(runId, 'forced', undefined);
    }
  }

  /** One statement for all runs of this process; also hears of cancels whose signal was lost. */
  #beat(): void {
    this.#reserve();
    const asked = [...this.#workers.values(), ...this.#ending].filter((worker) => worker.isLeased);
    if (asked.length === 0) return;
    const ids = asked.map((worker) => worker.runId);
    const sent = LeaseClock.now();
    this.#deps.storage.runs.extend(this.owner, ids, this.#deps.settings.RUN_LEASE_MS).then(
      (held) => {
        const states = new Map(held.map((state) => [state.id, state]));
        for (const worker of asked) worker.heard(states.get(worker.runId), sent);
      },
      (error: unknown) => this.#deps.logger.warn({ err: error }, 'run leases could not be extended'),
    );
  }

  /** Waiting runs whose secrets are here are kept for this process; one whose turn has come is begun, also when nobody said so. */
  #reserve(): void {
    const asked = [...this.#expected.entries()];
    if (asked.length === 0) return;
    const ids = asked.map(([id]) => id);
    this.#deps.storage.runs.reserve(this.owner, ids, this.#deps.settings.RUN_LEASE_MS).then(
      (held) => {
        const states = new Map(held.map((state) => [state.id, state]));
        for (const [id, secrets] of asked) {
          if (this.#expected.get(id) !== secrets) continue;
          const state = states.get(id);
          if (state === undefined) this.#expected.delete(id);
          else if (!state.isWaiting) this.start(id);
        }
      },
      (error: unknown) => this.#deps.logger.warn({ err: error }, 'waiting runs could not be kept for this process'),
    );
  }
}
