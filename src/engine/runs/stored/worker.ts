import { isTerminal, type RunEvent, type RunSnapshot, type RunStatus } from '../../../entities/conversations/runs/event.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { ChatStore } from '../../../storage/conversations/chats/chats.ts';
import type { LeasedRun, LeaseManner, LeaseState, RunStore } from '../../../storage/conversations/runs/runs.ts';
import type { NextRun, RunFacts } from '../../../storage/conversations/runs/writes.ts';
import type { Leases } from '../../../storage/ground/leases.ts';
import { LeaseClock, type Moment } from '../../leases.ts';
import type { UsageLedger } from '../../usage/ledger.ts';
import type { RunHold } from '../control/control.ts';
import type { LoopDeps } from '../control/loop-deps.ts';
import { RunScope, RunStop } from '../control/stop.ts';
import { RunFold } from '../events/fold.ts';
import { asStored, cutToStep } from '../events/history.ts';
import { toTranscriptMessages } from '../events/transcript.ts';
import { runLoop } from '../loop/loop.ts';
import { imagesBytesMax } from '../model/file-images.ts';
import { asWrittenText } from '../output/citable.ts';
import { workInLog } from '../record/log-steps.ts';
import { toRunFacts } from '../record/run-facts.ts';
import { HeldCharges } from './charges.ts';
import { closingFor, listClosingEvents } from './closing.ts';
import { EventLog } from './event-log.ts';
import { toLeftover } from './leftover.ts';
import { LogWriter } from './log-writer.ts';
import { planStoredRun, readStoredRequest, toCharge } from './request.ts';
import { StoredControl } from './stored-control.ts';

export interface WorkerDeps {
  readonly ledger: Pick<UsageLedger, 'noteLater' | 'holdForEnd'>;
  readonly runs: RunStore;
  readonly leases: Leases;
  readonly chats: ChatStore;
  readonly loop: LoopDeps;
  readonly owner: string;
  readonly leaseMs: number;
  readonly timeoutMs: number;
  readonly messagesMax: number;
  /** Called with events that are stored now, for readers in other processes. */
  readonly onWritten: (runId: string, events: readonly RunEvent[]) => void;
  /** Called when the run is over. */
  readonly onOver: (runId: string, chatId: string | null) => void;
  /** Called with the run that may start in the chat after this one. */
  readonly onNext: (next: NextRun) => void;
  /** Called with the final status. */
  readonly onEnded: (status: RunStatus) => void;
}

export interface WorkOptions {
  /** `ending`: only ends the run, as cancelled, and removes its output from its chat. */
  readonly manner: LeaseManner;
  /** Undefined where this process does not know whether the run has secrets. */
  readonly secrets: Readonly<Record<string, string>> | undefined;
  /** Called once this process holds the lease. */
  readonly onLeased?: (run: LeasedRun) => void;
}

/** `ended`: its end is written. `lost`: this process had it, and another one ends it. `refused`: it could not be taken. */
export type WorkOutcome = 'ended' | 'lost' | 'refused';

/** One stored run in this process, from taking its lease to the terminal event or to losing it. */
export class StoredWorker {
  readonly runId: string;
  readonly log = new EventLog();
  readonly #deps: WorkerDeps;
  readonly #scope: RunScope;
  #fence = -1;
  #control: StoredControl | undefined;
  #secrets: Record<string, string> | undefined;
  readonly #charges: HeldCharges;
  readonly #clock: LeaseClock;

  constructor(runId: string, deps: WorkerDeps) {
    this.runId = runId;
    this.#deps = deps;
    this.#scope = new RunScope(deps.timeoutMs);
    this.#charges = new HeldCharges(deps.ledger);
    this.#clock = new LeaseClock(deps.leaseMs);
  }

  stop(reason: RunStop): void {
    this.#scope.stop(reason);
  }

  get isLeased(): boolean {
    return this.#fence >= 0;
  }

  /** Takes the result of a heartbeat; undefined: the run is over or another process has it. */
  heard(state: LeaseState | undefined, askedAt: Moment): void {
    if (state?.fence === this.#fence) this.#clock.renewed(askedAt);
    if (state?.fence !== this.#fence) this.stop(new RunStop('lost', 'Another process took the run over'));
    else if (state.isCancelRequested) this.stop(new RunStop('cancelled', 'The run was cancelled'));
    else {
      if (state.isPauseRequested) this.askToPause();
      this.#control?.noteInputs(state.steerCount);
    }
  }

  askToPause(): void {
    this.#control?.askToPause();
  }

  /** Messages were added to the run. */
  noteInput(): void {
    this.#control?.noteInputs(Number.POSITIVE_INFINITY);
  }

  /** Secrets of a caller that joined the run. */
  addSecrets(secrets: Readonly<Record<string, string>>): void {
    this.#secrets = Object.assign(this.#secrets ?? {}, secrets);
  }

  /** Works on the run until its end, or until another process has it. */
  async work({ manner, secrets, onLeased }: WorkOptions): Promise<WorkOutcome> {
    const { runs, owner, leaseMs } = this.#deps;
    if (secrets !== undefined) this.addSecrets(secrets);
    let isOver = false;
    try {
      const askedAt = LeaseClock.now();
      const run = await runs.lease(this.runId, owner, leaseMs, manner);
      if (run === undefined) return 'refused';
      this.#fence = run.fence;
      this.#clock.renewed(askedAt);
      onLeased?.(run);
      const outcome = await this.#run(run, manner === 'ending');
      isOver = true;
      return outcome;
    } finally {
      this.#scope.close(isOver);
      this.log.close();
      this.#charges.drop();
    }
  }

  async #run(run: LeasedRun, isCutOff: boolean): Promise<WorkOutcome> {
    const { runs, loop, onWritten } = this.#deps;
    const fold = await this.#load(run);
    const charges = this.#charges;
    const { log } = this;
    const knownLength = log.length;
    const writer = new LogWriter({
      store: runs,
      log,
      lease: run,
      logger: loop.logger,
      onLost: (reason) => this.stop(reason),
      onWritten: (events) => {
        if (charges.isHolding && log.hasOutputFrom(knownLength)) charges.release();
        onWritten(run.id, events);
      },
    });
    let isEnded = false;
    for await (const batch of this.#events(run, fold, writer, isCutOff)) {
      const last = batch.at(-1);
      if (last === undefined || !isTerminal(last)) await writer.add(batch);
      else if (!this.#mustLeave(run, fold, last)) isEnded = await this.#finish(run, writer, batch, fold, isCutOff);
      else await this.#leave(writer);
    }
    // No output was stored. A process that restarts the run, now or after this one ends, charges for it.
    const isLeft = this.#stopKind === 'shutdown' || (charges.isHolding && (await runs.wasBegunAgain(run.id, run.attempt)));
    if (!isLeft) charges.release();
    return isEnded ? 'ended' : 'lost';
  }

  /** @returns false when another process has the run. */
  async #finish(
    run: LeasedRun,
    writer: LogWriter,
    events: readonly RunEvent[],
    fold: RunFold,
    dropsOutput: boolean,
  ): Promise<boolean> {
    const snapshot = terminalRun(events);
    const { span } = fold;
    const messages = dropsOutput ? span.inputs.flatMap((input) => input.messages) : toTranscriptMessages(snapshot, span);
    const { chatName } = readStoredRequest(run);
    const facts = this.#factsOf(run, fold, events);
    this.#charges.holdForEnd(run.id, run.fence);
    const finishResult = await writer.finish({ events, run: snapshot, messages, chatName, dropsOutput, facts });
    if (finishResult === undefined) return false;
    this.#charges.release();
    this.#deps.onEnded(snapshot.status);
    this.#deps.onOver(run.id, run.chatId);
    if (finishResult.next !== null) this.#deps.onNext(finishResult.next);
    return true;
  }

  /** What the row of the run says of its work, over all processes. */
  #factsOf(run: LeasedRun, fold: RunFold, last: readonly RunEvent[]): RunFacts {
    const { loop } = this.#deps;
    // The events that end a run in place of a dead process are not in the fold.
    const events = fold.events.at(-1) === last.at(-1) ? fold.events : [...fold.events, ...last];
    const { steps, startedAtMs, workedMs } = workInLog(events, (modelId) => loop.models.priceOf(modelId));
    const beganMs = startedAtMs ?? (run.startedAt ?? run.createdAt).getTime();
    return { ...toRunFacts(steps, beganMs), durationMs: workedMs ?? null };
  }

  /** The remaining events: of the loop, or those that end a run in place of a dead process. */
  async *#events(run: LeasedRun, fold: RunFold, writer: LogWriter, isCutOff: boolean) {
    const { chats, runs, loop, messagesMax } = this.#deps;
    if (run.isCancelRequested) this.stop(new RunStop('cancelled', 'The run was cancelled'));
    const leftover = toLeftover(fold);
    const closing = isCutOff ? 'cut' : closingFor(run, leftover, this.#secrets !== undefined);
    // The process that made these calls may have died before it charged for them.
    for (const { entryId, modelId, usage } of fold.spentCalls) {
      this.#charges.ledger.note(toCharge(run), 'run', modelId, usage, entryId);
    }
    if (closing !== undefined) {
      yield listClosingEvents(fold, run.id, closing);
      return;
    }
    const { isResumed } = fold;
    const spending = { ...fold.used, workedMs: isResumed ? fold.used.workedMs : run.heldMs };
    this.#scope.countWorked(spending.workedMs);
    this.#secrets ??= {};
    // A run beside another one goes on from its own branch.
    const end = run.besideMessageId === null ? undefined : { runId: run.id };
    const history = run.chatId === null ? [] : cutToStep(await chats.history(run.chatId, messagesMax, end), messagesMax);
    // Messages that were added before the restart: they are in the log but not in the chat yet.
    const { inputs } = fold.span;
    const begunMessages =
      leftover.kind === 'between'
        ? toTranscriptMessages({ ...fold.snapshot(), output: leftover.closed }, fold.span)
        : inputs.flatMap(({ messages }) => messages);
    const { cited: citedPassages } = fold;
    // The model reads its own words with the numbers that it wrote: those of the passages.
    const transcript = [...history, ...begunMessages.map(asStored)].map((message) =>
      message.runId === run.id && message.citations !== null && citedPassages.length > 0
        ? { ...message, content: asWrittenText(message.content, message.citations, citedPassages) }
        : message,
    );
    this.#control = new StoredControl(runs, run.id, run.fence, inputs.length);
    if (run.isPauseRequested) this.askToPause();
    const start = {
      runId: run.id,
      firstSequence: fold.lastSequence + 1,
      isEager: true,
      secrets: this.#secrets,
      spent: spending,
      roundsLost: run.attempt - 1,
      hold: this.#holdOn(writer),
      ...(leftover.kind === 'between'
        ? { before: { ...fold.snapshot(), output: leftover.closed, usage: fold.usage }, continues: leftover.continuation }
        : isResumed
          ? { before: fold.snapshot() }
          : {}),
      ...(citedPassages.length === 0 ? {} : { cited: [...citedPassages] }),
      ...(fold.researches.length === 0 ? {} : { researches: [...fold.researches] }),
      ...(fold.flowSteps.length === 0 ? {} : { flowSteps: [...fold.flowSteps] }),
      control: this.#control,
    };
    const plan = planStoredRun(run, transcript, isResumed && leftover.kind !== 'between');
    const messages = await loop.withImages(plan.messages, plan, loop.filesOf(plan), imagesBytesMax, this.#scope.signal);
    for await (const batch of runLoop(
      { ...plan, messages },
      start,
      { ...loop, ledger: this.#charges.ledger },
      this.#scope.signal,
    )) {
      fold.add(batch);
      yield batch;
    }
  }

  #holdOn(writer: LogWriter): RunHold {
    return leaseHold({
      written: (signal) => writer.written(signal),
      clock: this.#clock,
      extend: async () => {
        const { runs, owner, leaseMs } = this.#deps;
        const askedAt = LeaseClock.now();
        const [state] = await runs.extend(owner, [this.runId], leaseMs);
        this.heard(state, askedAt);
        this.#scope.signal.throwIfAborted();
      },
    });
  }

  /**
   * Whether an ending process leaves the run to the next one: a run without output, which is restarted. A foreground response ends
   * here, because its reader leaves with this process. A run whose lease is lost writes nothing.
   */
  #mustLeave(run: LeasedRun, fold: RunFold, terminal: RunEvent): boolean {
    const kind = this.#stopKind;
    if (kind === 'lost') return true;
    const goesOnAlone = run.isBackground || !isId('response', run.id);
    return kind === 'shutdown' && goesOnAlone && !fold.hasOutput && terminal.type === 'response.failed';
  }

  get #stopKind(): RunStop['kind'] | undefined {
    const { signal } = this.#scope;
    return signal.aborted && signal.reason instanceof RunStop ? signal.reason.kind : undefined;
  }

  async #leave(writer: LogWriter): Promise<void> {
    await writer.idle();
    await this.#deps.leases.release('run', { id: this.runId, fence: this.#fence });
  }

  /** The stored events. The log of a run that had to take its place in a thread has its first events from the start. */
  async #load(run: LeasedRun): Promise<RunFold> {
    const fold = new RunFold();
    const events: RunEvent[] = [];
    for (;;) {
      const read = await this.#deps.runs.readEvents(run.id, fold.lastSequence, 5_000);
      if (read === undefined) break;
      fold.add(read.events);
      for (const event of read.events) events.push(event);
      if (!read.hasMore) break;
    }
    // All at once: a reader that saw only the part with an old pause would take the pause for the end.
    this.log.add(events);
    return fold;
  }
}

function terminalRun(events: readonly RunEvent[]): RunSnapshot {
  const last = events.at(-1);
  if (last === undefined || !('run' in last)) throw new Error('a run ends with its terminal event');
  return last.run;
}

/** The hold of a stored run, by its lease. `extend` throws when another process has the run, or when the run was told to stop. */
function leaseHold({ written: waitUntilWritten, clock, extend }: LeaseParts): RunHold {
  return { written: waitUntilWritten, isFresh: () => clock.isFresh, renew: () => (clock.isFresh ? Promise.resolve() : extend()) };
}

interface LeaseParts {
  readonly written: RunHold['written'];
  readonly clock: LeaseClock;
  readonly extend: () => Promise<void>;
}
