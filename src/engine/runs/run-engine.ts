import type { RunEventStream, RunStatus } from '../../entities/conversations/runs/event.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import type { Charge, ChargedSearch, Embed, RewriteQuestion, RunPlan } from '../plan/plan.ts';
import type { Payer } from '../usage/limits.ts';
import type { RunTimings } from '../usage/timings.ts';
import type { TokenAllowance } from '../usage/token-allowance.ts';
import type { StopChange } from './control/stop.ts';
import type { RunRecorder } from './record/recorder.ts';
import type { RecordedRun } from './unstored/recorded-work.ts';

/** Totals of this process since it started. */
export interface RunCounts {
  /** Runs by final status. */
  readonly ended: Iterable<readonly [RunStatus, number]>;
  readonly timings: RunTimings;
}

export interface RunEngine {
  readonly counts: RunCounts;
  /** Charges for calls of killed processes whose rows are only in the journal. Await it before the first request. */
  recoverUsage(): Promise<void>;
  /**
   * Runs without storing anything but the rows of the ledger and of the run, which hold no content. Starts at the first read; ends with exactly one terminal event, also after a failure.
   *
   * @param allowance  tokens that it and others may use together. INSUFFICIENT_QUOTA when they do not reach for a call of a model.
   * @throws DomainError from the first read when the upstream refused before the first token, so an API can still answer 4xx or 5xx.
   */
  runStateless(
    plan: RunPlan,
    signal: AbortSignal,
    secrets?: Readonly<Record<string, string>>,
    allowance?: TokenAllowance,
  ): RunEventStream;
  /**
   * Called before the row of a stored run is written.
   *
   * @throws DomainError, thrown or rejected: OVERLOADED while this process has as many runs as it may; RATE_LIMIT_EXCEEDED while
   * the organization or its tenant holds its share; INSUFFICIENT_QUOTA when the organization's limit is used up.
   */
  requireRoom(owner: ShareOwner & Payer): undefined | Promise<undefined>;
  /** Estimates the input tokens of the first model request of a run. No model is asked, nothing is stored. */
  countInput(plan: RunPlan, signal: AbortSignal): Promise<number>;
  /**
   * Makes vectors with EMBEDDING_MODEL: reserves tokens before, charges the ledger after.
   *
   * @param inputTokens  an upper estimate, charged where the provider counts none.
   * @throws DomainError INSUFFICIENT_QUOTA; ModelError.
   */
  readonly embed: Embed;
  /**
   * Asks a reranker, and charges for the search where its model has a price.
   *
   * @throws what `search` throws; DomainError as UsageLimits.reserve.
   */
  readonly search: ChargedSearch;
  /** Has the model of QUERY_REWRITE_MODEL write out a question that continues a conversation; undefined without it. See model/rewrite.ts. */
  readonly rewriteQuestion: RewriteQuestion;
  /**
   * Does work that is a run without a log, such as a search, and leaves its row with the next batch of the ledger. Embeddings that are made with the
   * charge that `work` gets are a part of it.
   */
  recorded<T>(run: RecordedRun, work: (charge: Charge, recorder: RunRecorder) => Promise<T>): Promise<T>;
  /** Identifies this process among those on the same database, as the only holder of some runs' secrets. */
  readonly owner: string;
  /** Equal for equal secrets, within this process: its key never leaves the process. Null for none. */
  fingerprint(secrets: Readonly<Record<string, string>>): string | null;
  /**
   * Takes a stored run (its row is written) and works on it until its end, even when its reader leaves.
   *
   * @param secrets  for tools, in memory only: another process ends the run instead of restarting it without them.
   */
  startStored(runId: string, secrets?: Readonly<Record<string, string>>): void;
  /**
   * Keeps the secrets of a run that waits for its thread and starts the run when its turn comes. A run that works here already gets the secrets.
   */
  expectStored(runId: string, secrets: Readonly<Record<string, string>>): void;
  /** The events of a stored run until now, without following it. */
  replay(runId: string): RunEventStream;
  /** Pauses the run at its next boundary; resolves when it has come to rest. */
  pause(runId: string, change: StopChange): Promise<void>;
  /** Tells the process that works on the run that messages were added to it. */
  announce(runId: string): void;
  /**
   * Ends a run as cancelled at once, in whichever process it works: later writes of that process do not count. Its output is removed from its chat.
   */
  cutOff(runId: string): Promise<void>;
  /** Replays the log after `afterSequence` (-1: all of it), then follows the run to its terminal event. A reader that leaves stops nothing. */
  follow(runId: string, afterSequence: number, signal: AbortSignal): RunEventStream;
  /** Stops the run at its next boundary, in whichever process it works; resolves when its terminal event is stored. */
  cancel(runId: string, change?: StopChange): Promise<void>;
  /**
   * Starts nothing from now on, and ends the runs at work as failed, with what they said so far. A stored run without output that
   * no reader waits for is left to the next process. Readers of runs that go on elsewhere get OVERLOADED and may come back.
   */
  endAll(): void;
  /** Lets runs end by themselves for most of `graceMs`, then calls `endAll`. Resolves once the ledger is written. */
  stop(graceMs: number): Promise<void>;
}
