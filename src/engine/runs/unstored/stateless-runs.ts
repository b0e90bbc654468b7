import { isTerminal, type RunEvent, type RunStatus } from '../../../entities/conversations/runs/event.ts';
import { type OpenItem, OpenItems } from '../../../lib/flow/open-items.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { UsageLedger } from '../../usage/ledger.ts';
import type { TokenAllowance } from '../../usage/token-allowance.ts';
import type { ActiveRuns } from '../control/active-runs.ts';
import type { LoopDeps } from '../control/loop-deps.ts';
import { RunScope, RunStop, shutdownMessage } from '../control/stop.ts';
import { runLoop } from '../loop/loop.ts';
import { RunRecorder } from '../record/recorder.ts';
import { type UnstoredEnd, unstoredRow } from './unstored-row.ts';

interface StatelessDeps {
  readonly loop: LoopDeps;
  readonly ledger: Pick<UsageLedger, 'noteRun'>;
  readonly active: ActiveRuns;
  readonly timeoutMs: number;
  /** Called when a run ends. */
  readonly onEnded: (status: RunStatus) => void;
}

interface StatelessRequest {
  readonly plan: RunPlan;
  readonly signal: AbortSignal;
  readonly secrets: Readonly<Record<string, string>>;
  /** Tokens that it and others may use together; undefined: no limit. */
  readonly allowance: TokenAllowance | undefined;
}

/** The runs of this process whose events are not stored. */
export class StatelessRuns {
  readonly #deps: StatelessDeps;
  readonly #scopes = new OpenItems<RunScope>();

  constructor(deps: StatelessDeps) {
    this.#deps = deps;
  }

  /** The run's events. It starts at the first read. */
  open(request: StatelessRequest): AsyncIterableIterator<readonly RunEvent[]> {
    return new StatelessRun(request, this.#deps, this.#scopes);
  }

  /** Ends all runs as failed. */
  endAll(): void {
    for (const scope of this.#scopes.values()) scope.stop(new RunStop('shutdown', shutdownMessage));
  }
}

/** Counts the run from its first read to its end, and leaves its row. Adds no generator between the loop and the reader. */
class StatelessRun implements AsyncIterableIterator<readonly RunEvent[]> {
  readonly #request: StatelessRequest;
  readonly #deps: StatelessDeps;
  readonly #scopes: OpenItems<RunScope>;
  readonly #runId: string;
  #scope: OpenItem<RunScope> | undefined;
  #isOver = false;
  #hasEnded = false;
  /** A reader that leaves before the end cancels the run. */
  #status: RunStatus = 'cancelled';
  #events: AsyncGenerator<readonly RunEvent[]> | undefined;
  #recorder: RunRecorder | undefined;

  constructor(request: StatelessRequest, deps: StatelessDeps, scopes: OpenItems<RunScope>) {
    this.#request = request;
    this.#deps = deps;
    this.#scopes = scopes;
    this.#runId = request.plan.charge.runId ?? deps.loop.newId('run');
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<readonly RunEvent[]>> {
    if (this.#isOver) return Promise.resolve({ value: undefined, done: true });
    try {
      this.#events ??= this.#begin();
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#events.next().then(this.#step, this.#fail);
  }

  async return(): Promise<IteratorResult<readonly RunEvent[]>> {
    // Fire the signal first: the loop may be waiting for a silent upstream.
    this.#end();
    await this.#events?.return(undefined);
    // What the model was asked for is booked now.
    this.#leaveRow('left');
    return { value: undefined, done: true };
  }

  #begin(): AsyncGenerator<readonly RunEvent[]> {
    const { plan, signal, secrets, allowance } = this.#request;
    const { loop, active, timeoutMs } = this.#deps;
    active.requireShare(plan.charge);
    active.enter(plan.charge);
    const scope = new RunScope(timeoutMs, signal);
    this.#scope = this.#scopes.add(scope);
    this.#recorder = new RunRecorder(loop);
    const start = { runId: this.#runId, firstSequence: 0, isEager: false, secrets, recorder: this.#recorder };
    const bounded = allowance === undefined ? start : { ...start, allowance };
    return runLoop(plan, bounded, loop, scope.signal);
  }

  // Members that are functions, bound once a run and not once an event.
  readonly #step = (result: IteratorResult<readonly RunEvent[]>): IteratorResult<readonly RunEvent[]> => {
    const last = result.done === true ? undefined : result.value.at(-1);
    if (last !== undefined && isTerminal(last) && 'run' in last) {
      this.#status = last.run.status;
      this.#hasEnded = true;
      this.#leaveRow({ run: last.run });
    }
    if (result.done === true) this.#end();
    return result;
  };

  readonly #fail = (error: unknown): never => {
    this.#status = 'failed';
    this.#hasEnded = true;
    this.#end();
    this.#leaveRow({ failure: error });
    throw error;
  };

  #end(): void {
    this.#isOver = true;
    if (this.#scope === undefined) return;
    this.#scopes.remove(this.#scope);
    this.#scope.item.close(this.#hasEnded);
    this.#scope = undefined;
    this.#deps.active.leave(this.#request.plan.charge);
    this.#deps.onEnded(this.#status);
  }

  /** Once, at the end. */
  #leaveRow(how: UnstoredEnd): void {
    if (this.#recorder === undefined) return;
    const { kind = 'completion', charge, modelId } = this.#request.plan;
    const row = unstoredRow({ id: this.#runId, kind, charge, modelId }, this.#recorder, how);
    this.#recorder = undefined;
    this.#deps.ledger.noteRun(row);
  }
}
