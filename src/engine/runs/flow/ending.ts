import type { FlowStepRecord } from '../../../entities/agents/flow.ts';
import type { RetrievalRecord, RunEvent } from '../../../entities/runs/event.ts';
import type { RunTrace } from '../../tracing/run-trace.ts';
import type { OpenCall } from '../calls/open-call.ts';
import type { RunTools } from '../calls/run-tools.ts';
import { stoppedCall } from '../calls/server-calls.ts';
import { selectionOf, snapshot, terminalBody } from '../control/ending.ts';
import type { LoopDeps, LoopStart } from '../control/loop-deps.ts';
import type { RunOutput } from '../output/output.ts';
import type { RunSpending } from '../output/spending.ts';
import type { FlowModel } from './flow-model.ts';

interface EndingParts {
  readonly start: LoopStart;
  readonly deps: LoopDeps;
  readonly output: RunOutput;
  readonly spending: RunSpending;
  readonly model: FlowModel;
  readonly tools: RunTools;
  /** The call of a dead process that this process makes again. */
  readonly callAgain: OpenCall | undefined;
  readonly trace: RunTrace | undefined;
  readonly retrievals: readonly RetrievalRecord[];
}

/** The last events of a flow's run. */
export class FlowEnding {
  readonly #parts: EndingParts;

  constructor(parts: EndingParts) {
    this.#parts = parts;
  }

  /**
   * Closes what is open and returns the last events, with the terminal event at the end.
   *
   * @param isBounded  whether the flow wanted more than a run may do.
   * @param shown  the finished steps that readers see.
   */
  close(failure: unknown, isBounded: boolean, shown: readonly FlowStepRecord[]): readonly RunEvent[] {
    const { start, deps, output, spending, model, callAgain, trace, retrievals, tools } = this.#parts;
    const { runId, before } = start;
    output.close('incomplete');
    callAgain?.close({ output: '', error: stoppedCall });
    if (output.isFull) deps.logger.warn({ runId }, 'an answer was longer than ANSWER_MAX_CHARS and was cut');
    const serviceTier = model.serviceTier ?? before?.serviceTier;
    const base = {
      ...snapshot(runId, 'completed', output.items),
      usage: spending.total,
      selection: selectionOf(model.selection) ?? before?.selection ?? null,
      ...tools.told,
      ...(serviceTier === undefined ? {} : { serviceTier }),
      ...(shown.length === 0 ? {} : { flowSteps: shown }),
    };
    const body = terminalBody(base, failure, model.answering?.finish, isBounded);
    const completed = body.type === 'response.completed' ? { completedAtMs: deps.now().getTime() } : {};
    const paused = body.run.incompleteReason === 'paused' ? { spent: spending.spent } : {};
    const record = start.isEager ? { record: { calls: spending.calls, retrievals } } : {};
    output.emit({ ...body, run: { ...body.run, ...completed, ...paused, ...record } });
    const last = output.take();
    trace?.close(last);
    return last;
  }
}
