import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { RunStatus } from '../../../entities/conversations/runs/event.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { nobody } from '../../../lib/flow/fair-share.ts';
import type { Settings } from '../../../settings.ts';
import type { LeasedRun, LeaseManner } from '../../../storage/conversations/runs/runs.ts';
import type { NextRun } from '../../../storage/conversations/runs/writes.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { LeaseClock } from '../../leases.ts';
import type { ActiveRuns } from '../control/active-runs.ts';
import type { LoopDeps } from '../control/loop-deps.ts';
import { RunStop, type StopChange, shutdownMessage } from '../control/stop.ts';
import { keyRevoked } from './closing.ts';
import { RunChanges } from './run-changes.ts';
import { RunReaders } from './run-readers.ts';
import { StoredWorker, type WorkerDeps, type WorkOutcome } from './worker.ts';

const takenPerSweep = 50;
/** Most waiting runs whose secrets are kept. */
const expectedMax = 20_000;
const sweepEveryMsMax = 3_000;

export interface StoredRunsDeps {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly jobs: Pick<Jobs, 'every'>;
  readonly loop: LoopDeps;
  readonly ledger: WorkerDeps['ledger'];
  readonly active: ActiveRuns;
  /** Called when a run ends that this process worked on. */
  readonly onEnded: (status: RunStatus) => void;
  readonly logger: Logger;
  now(): Date;
}

/** The stored runs of this process: works on those it holds, follows all, and takes over those that no process holds any more. */
export class StoredRuns {
  readonly #deps: StoredRunsDeps;
  readonly #workerDeps: WorkerDeps;
  readonly #workers = new Map<string, StoredWorker>();
  /** For each run, resolves when its worker has finished. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  /** Workers that write the end of a run that was cut off; its former worker may still exist. */
  readonly #ending = new Set<StoredWorker>();
  readonly #changes: RunChanges;
  readonly readers: RunReaders;
  /** Identifies this process among those on the same database. */
  readonly owner = randomUUID();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #subscriptions: readonly (() => void)[];
  /** Secrets of runs that wait for their thread, in memory only: while this process lives, it alone may start those runs. */
  readonly #expected = new BoundedMap<string, Readonly<Record<string, string>>>(expectedMax);
  #isStopping = false;

  constructor(deps: StoredRunsDeps) {
    this.#deps = deps;
    const { settings, storage, jobs } = deps;
    this.#changes = new RunChanges(storage.signals);
    this.readers = new RunReaders(storage.conversations.runs, this.#changes, (runId) => this.#workers.get(runId)?.log);
    this.#workerDeps = {
      runs: storage.conversations.runs,
      leases: storage.leases,
      chats: storage.conversations.chats,
      loop: deps.loop,
      ledger: deps.ledger,
      owner: this.owner,
      leaseMs: settings.RUN_LEASE_MS,
      timeoutMs: settings.RUN_TIMEOUT_MS,
      messagesMax: settings.MESSAGES_MAX,
      onWritten: (runId, events) => this.#changes.tell(runId, events),
      onOver: (runId, chatId) => {
        this.#changes.publish(runId);
        if (chatId !== null) storage.signals.publish('chat-changed', chatId);
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
        else this.#workers.get(runId)?.noteInput();
      }),
      storage.signals.subscribe('run-ready', (runId) => {
        if (this.#expected.has(runId)) this.start(runId);
      }),
      // Signals may be lost: what was asked of the runs here is looked up.
      storage.signals.onGap(() => this.#beat()),
      storage.signals.subscribe('key-changed', (keyId) => {
        this.#endWaiting(keyId).catch((error: unknown) => {
          deps.logger.warn(
            { err: error, keyId },
            'waiting runs of a revoked key could not be ended now; each ends when its turn comes',
          );
        });
      }),
    ];
    this.#heartbeat = setInterval(() => this.#beat(), settings.RUN_LEASE_MS / 3);
    this.#heartbeat.unref();
    jobs.every('runs.sweep', Math.min(settings.RUN_LEASE_MS, sweepEveryMsMax), () => this.#sweep());
    // Of the only process of a database, holders of older leases are dead.
    const allBefore = storage.db.isOfOneProcess ? deps.now() : undefined;
    this.#sweep(allBefore).catch((error: unknown) =>
      deps.logger.error({ err: error }, 'the first sweep for abandoned runs failed'),
    );
  }

  /** @param secrets  undefined where unknown: the secrets kept here for the run are used. */
  start(runId: string, secrets?: Readonly<Record<string, string>>): void {
    if (this.#isStopping) return;
    const keptSecrets = this.#expected.get(runId);
    this.#expected.delete(runId);
    const all = keptSecrets === undefined ? secrets : { ...keptSecrets, ...secrets };
    // The former worker of a run that was paused a moment ago may not have finished.
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

  /** Starts the next run of a thread here, unless only another process has its secrets. */
  #next({ id, owner }: NextRun): void {
    // The run belongs to another request than the one that just ended.
    const { tracing } = this.#deps.loop;
    if (owner !== null && owner !== this.owner) this.#deps.storage.signals.publish('run-ready', id);
    else if (tracing === undefined) this.start(id);
    else tracing.within(undefined, () => this.start(id));
  }

  async cancel(runId: string, change: StopChange = (write) => write()): Promise<void> {
    const {
      signals,
      conversations: { runs, threads },
    } = this.#deps.storage;
    const outcome = await change(async () => {
      if (await threads.settle(runId, 'cancelled')) return 'settled';
      if (!(await runs.requestCancel(runId))) return 'not-active';
      signals.publish('run-cancel', runId);
      return 'requested';
    });
    if (outcome === 'settled') {
      this.#expected.delete(runId);
      return;
    }
    if (outcome === 'requested') await this.readers.over(runId);
    // It may have been paused at the same moment.
    await threads.settle(runId, 'cancelled');
  }

  async pause(runId: string, change: StopChange): Promise<void> {
    const {
      signals,
      conversations: { runs, threads },
    } = this.#deps.storage;
    const outcome = await change(async () => {
      if (await threads.settle(runId, 'paused')) return 'settled';
      if (!(await runs.requestPause(runId))) return 'not-active';
      signals.publish('run-control', `${runId} pause`);
      return 'requested';
    });
    if (outcome === 'settled') this.#expected.delete(runId);
    else if (outcome === 'requested') await this.readers.over(runId);
  }

  announce(runId: string): void {
    this.#deps.storage.signals.publish('run-control', `${runId} steer`);
  }

  async cutOff(runId: string): Promise<void> {
    // The lease may run out before the end is written, and another process begins the run again.
    let outcome: WorkOutcome;
    do outcome = await this.#endNow(runId);
    while (outcome === 'lost');
    // The former worker may write nothing more.
    this.#workers.get(runId)?.stop(new RunStop('lost', 'The run was cut off'));
    this.#deps.storage.signals.publish('run-cancel', runId);
    this.#changes.publish(runId);
  }

  /** From now on no run is started or taken over. */
  stopTaking(): void {
    this.#isStopping = true;
  }

  /** Stops the runs at work, or leaves them to the next process, and tells readers of runs in other processes. */
  stopAll(): void {
    this.readers.end();
    for (const worker of this.#workers.values()) worker.stop(new RunStop('shutdown', shutdownMessage));
    this.#changes.wakeAll();
  }

  close(): void {
    clearInterval(this.#heartbeat);
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#changes.close();
  }

  #endNow(runId: string): Promise<WorkOutcome> {
    const worker = new StoredWorker(runId, this.#workerDeps);
    this.#ending.add(worker);
    return worker.work({ manner: 'ending', secrets: undefined }).finally(() => this.#ending.delete(worker));
  }

  #take(runId: string, manner: LeaseManner, secrets: Readonly<Record<string, string>> | undefined): void {
    // Checked again after the wait: the service may have begun to stop.
    if (this.#isStopping || this.#workers.has(runId) || [...this.#ending].some((worker) => worker.runId === runId)) return;
    const worker = new StoredWorker(runId, this.#workerDeps);
    this.#workers.set(runId, worker);
    const { active } = this.#deps;
    // Unknown until its row is read.
    let owner = nobody;
    active.enter(owner);
    let stopWatching = () => {};
    const onLeased = ({ tenantId, orgId, keyId }: LeasedRun) => {
      // Lists show that it has begun.
      this.#changes.publish(runId);
      const known = { tenantId, orgId };
      active.move(owner, known);
      owner = known;
      stopWatching = this.#deps.storage.people.apiKeys.watchRevocation(keyId, () => {
        worker.stop(new RunStop('revoked', keyRevoked.message));
      });
    };
    // Each run needs an owner, also one that the sweep found.
    const work = this.#deps.storage.db
      .runFor(
        () => owner,
        () => worker.work({ manner, secrets, onLeased }),
      )
      .catch((error: unknown) => {
        this.#deps.logger.error({ err: error, runId }, 'a run stopped unexpectedly; a process takes it over after its lease');
        // It could not be started: try again while only this process may start it.
        if (!worker.isLeased && secrets !== undefined && Object.keys(secrets).length > 0) this.#expected.set(runId, secrets);
      })
      .finally(() => {
        stopWatching();
        this.#workers.delete(runId);
        this.#leaving.delete(runId);
        this.#changes.publish(runId);
        active.leave(owner);
      });
    this.#leaving.set(runId, work);
  }

  /** Ends runs of a revoked key that wait for another key's run: no worker hears of their revocation. */
  async #endWaiting(keyId: string): Promise<void> {
    if (this.#isStopping) return;
    const { runs, threads } = this.#deps.storage.conversations;
    for (const runId of await runs.findWaitingOfRevoked(keyId)) {
      if (await threads.settle(runId, keyRevoked)) this.#expected.delete(runId);
    }
  }

  /** @param allBefore  also takes runs that were made before then, whoever holds them. */
  async #sweep(allBefore?: Date): Promise<void> {
    if (this.#isStopping) return;
    const { runs } = this.#deps.storage.conversations;
    for (const runId of await runs.findAbandoned(takenPerSweep, allBefore)) {
      if (allBefore === undefined) this.start(runId);
      else this.#take(runId, 'forced', undefined);
    }
  }

  /** Extends all leases in one statement; finds cancels whose signal was lost. */
  #beat(): void {
    this.#reserve();
    const askedWorkers = [...this.#workers.values(), ...this.#ending].filter((worker) => worker.isLeased);
    if (askedWorkers.length === 0) return;
    const ids = askedWorkers.map((worker) => worker.runId);
    const sentAt = LeaseClock.now();
    this.#deps.storage.conversations.runs.extend(this.owner, ids, this.#deps.settings.RUN_LEASE_MS).then(
      (leaseStates) => {
        const states = new Map(leaseStates.map((state) => [state.id, state]));
        for (const worker of askedWorkers) worker.heard(states.get(worker.runId), sentAt);
      },
      (error: unknown) => this.#deps.logger.warn({ err: error }, 'run leases could not be extended'),
    );
  }

  /** Keeps waiting runs whose secrets are here for this process, and starts those whose turn has come, even if no signal said so. */
  #reserve(): void {
    const expectedEntries = [...this.#expected.entries()];
    if (expectedEntries.length === 0) return;
    const ids = expectedEntries.map(([id]) => id);
    this.#deps.storage.conversations.runs.reserve(this.owner, ids, this.#deps.settings.RUN_LEASE_MS).then(
      (heldRuns) => {
        const states = new Map(heldRuns.map((state) => [state.id, state]));
        for (const [id, secrets] of expectedEntries) {
          if (this.#expected.get(id) !== secrets) continue;
          const state = states.get(id);
          if (state === undefined) this.#expected.delete(id);
          else if (!state.isWaiting) this.start(id);
        }
      },
      (error: unknown) => this.#deps.logger.warn({ err: error }, 'reservations of waiting runs could not be extended'),
    );
  }
}
