import { isId } from '../../../entities/ids.ts';
import { isTerminal, type RunEvent, type RunSnapshot, type RunStatus } from '../../../entities/run-event.ts';
import type { Blobs } from '../../../storage/blobs.ts';
import type { ChatStore } from '../../../storage/chats.ts';
import type { LeasedRun, LeaseState, RunStore } from '../../../storage/runs.ts';
import { RunFold } from '../fold.ts';
import { type LoopDeps, runLoop } from '../loop.ts';
import { RunScope } from '../scope.ts';
import { RunStop } from '../stop.ts';
import { messagesOf } from '../transcript.ts';
import { closingOf } from './closing.ts';
import { EventLog } from './event-log.ts';
import { withFileImages } from './file-images.ts';
import { LogWriter } from './log-writer.ts';
import { planOf, requestOf } from './request.ts';
import { StoredControl } from './stored-control.ts';

/** A run that was begun this often without saying anything is ended: something in it kills its processes. */
const attemptsMax = 3;

export interface WorkerDeps {
  readonly runs: RunStore;
  readonly chats: ChatStore;
  readonly blobs: Pick<Blobs, 'read'>;
  readonly loop: LoopDeps;
  readonly owner: string;
  readonly leaseMs: number;
  readonly timeoutMs: number;
  readonly messagesMax: number;
  /** Told when a reader elsewhere should look again. */
  readonly onNews: (runId: string, chatId: string | null, isOver: boolean) => void;
  /** Told which run may begin in the chat of one that is over. */
  readonly onNext: (runId: string) => void;
  /** Told how a run ended. */
  readonly onEnded: (status: RunStatus) => void;
}

export interface WorkOptions {
  /** Takes the run from whoever holds it. */
  readonly isForced: boolean;
  /** Only ends it, as cancelled; what it said leaves its chat. */
  readonly isCutOff?: boolean;
  readonly secrets: Readonly<Record<string, string>>;
}

/** One stored run in the hands of this process, from taking the lease to the terminal event or to losing it. */
export class StoredWorker {
  readonly runId: string;
  readonly log = new EventLog();
  private readonly deps: WorkerDeps;
  private readonly scope: RunScope;
  private fence = -1;
  private control: StoredControl | undefined;
  private secrets: Readonly<Record<string, string>> = {};

  constructor(runId: string, deps: WorkerDeps) {
    this.runId = runId;
    this.deps = deps;
    this.scope = new RunScope(deps.timeoutMs);
  }

  stop(reason: RunStop): void {
    this.scope.stop(reason);
  }

  get isLeased(): boolean {
    return this.fence >= 0;
  }

  /** What a heartbeat found; undefined when the run is over or somebody else's. */
  heard(state: LeaseState | undefined): void {
    if (state?.fence !== this.fence) this.stop(new RunStop('lost', 'Another process took the run over'));
    else if (state.isCancelRequested) this.stop(new RunStop('cancelled', 'The run was cancelled'));
    else {
      if (state.isPauseRequested) this.askToPause();
      this.control?.heardOf(state.steerCount);
    }
  }

  askToPause(): void {
    this.control?.askToPause();
  }

  /** Something was put into the run. */
  hasNews(): void {
    this.control?.heardOf(Number.POSITIVE_INFINITY);
  }

  /** Of a caller that joined the run. */
  addSecrets(secrets: Readonly<Record<string, string>>): void {
    Object.assign(this.secrets, secrets);
  }

  /** Works the run through. @returns false when somebody else has it. */
  async work(options: WorkOptions): Promise<boolean> {
    const { runs, owner, leaseMs } = this.deps;
    try {
      const run = await runs.lease(this.runId, owner, leaseMs, options.isForced);
      if (run === undefined) return false;
      this.fence = run.fence;
      this.secrets = { ...options.secrets };
      await this.run(run, options.isCutOff === true);
      return true;
    } finally {
      this.scope.close();
      this.log.close();
    }
  }

  private async run(run: LeasedRun, isCutOff: boolean): Promise<void> {
    const { runs, loop, onNews } = this.deps;
    const fold = await this.load(run);
    const writer = new LogWriter({
      store: runs,
      log: this.log,
      lease: run,
      logger: loop.logger,
      onLost: (reason) => this.stop(reason),
      onWritten: () => onNews(run.id, run.chatId, false),
    });
    for await (const batch of this.events(run, fold, isCutOff)) {
      const last = batch.at(-1);
      if (last === undefined || !isTerminal(last)) await writer.add(batch);
      else if (!this.mustLeave(fold, last)) await this.finish(run, writer, batch, fold, isCutOff);
      else await this.leave(writer);
    }
  }

  private async finish(
    run: LeasedRun,
    writer: LogWriter,
    events: readonly RunEvent[],
    fold: RunFold,
    dropsOutput: boolean,
  ): Promise<void> {
    const snapshot = terminalRun(events);
    const { span } = fold;
    const messages = dropsOutput ? span.inputs.flatMap((input) => input.messages) : messagesOf(snapshot, span);
    const finished = await writer.finish({ events, run: snapshot, messages, chatName: requestOf(run).chatName, dropsOutput });
    if (finished === undefined) return;
    this.deps.onEnded(snapshot.status);
    this.deps.onNews(run.id, run.chatId, true);
    if (finished.nextRunId !== null) this.deps.onNext(finished.nextRunId);
  }

  /** The events still to come: of the loop, or those that end what another process left behind. */
  private async *events(run: LeasedRun, fold: RunFold, isCutOff: boolean) {
    const { chats, runs, loop, messagesMax } = this.deps;
    if (run.isCancelRequested) this.stop(new RunStop('cancelled', 'The run was cancelled'));
    if (isCutOff || fold.hasOutput || run.attempt > attemptsMax) {
      yield closingOf(fold, run.id, isCutOff || run.isCancelRequested);
      return;
    }
    const { isResumed } = fold;
    const transcript = run.chatId === null ? [] : await chats.history(run.chatId, messagesMax);
    if (isId('response', run.id)) this.control = new StoredControl(runs, run.id, run.fence, fold.span.inputs.length);
    if (run.isPauseRequested) this.askToPause();
    const start = {
      runId: run.id,
      firstSequence: fold.lastSequence + 1,
      isEager: true,
      secrets: this.secrets,
      ...(isResumed ? { before: fold.snapshot() } : {}),
      ...(this.control === undefined ? {} : { control: this.control }),
    };
    const plan = planOf(run, transcript, isResumed);
    const acceptsImages = (await loop.models.find(plan.modelId))?.acceptsImages ?? false;
    const messages = await withFileImages(plan.messages, { orgId: run.orgId, acceptsImages }, this.deps.blobs);
    for await (const batch of runLoop({ ...plan, messages }, start, loop, this.scope.signal)) {
      fold.add(batch);
      yield batch;
    }
  }

  /**
   * A process that ends leaves a run alone that has said nothing yet: the next one begins it again. One that lost its lease has nothing
   * to say any more.
   */
  private mustLeave(fold: RunFold, terminal: RunEvent): boolean {
    const { signal } = this.scope;
    const kind = signal.aborted && signal.reason instanceof RunStop ? signal.reason.kind : undefined;
    return kind === 'lost' || (kind === 'shutdown' && !fold.hasOutput && terminal.type === 'response.failed');
  }

  private async leave(writer: LogWriter): Promise<void> {
    await writer.idle();
    await this.deps.runs.release(this.runId, this.fence);
  }

  /** What is in the log already. That of a response has its beginning from the start. */
  private async load(run: LeasedRun): Promise<RunFold> {
    const fold = new RunFold();
    if (run.attempt === 1 && !isId('response', run.id)) return fold;
    for (;;) {
      const read = await this.deps.runs.readEvents(run.id, fold.lastSequence, 5_000);
      if (read === undefined || read.events.length === 0) break;
      fold.add(read.events);
      this.log.add(read.events);
    }
    return fold;
  }
}

function terminalRun(events: readonly RunEvent[]): RunSnapshot {
  const last = events.at(-1);
  if (last === undefined || !('run' in last)) throw new Error('a run ends with its terminal event');
  return last.run;
}
