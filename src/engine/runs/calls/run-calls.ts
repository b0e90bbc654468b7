import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import type { AssistantMessage, ModelMessage } from '../../models/port.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { RunFiles } from '../../tools/run-files.ts';
import type { RunTrace } from '../../tracing/run-trace.ts';
import type { RunBudget } from '../../usage/budget.ts';
import { soleHold } from '../control/control.ts';
import type { LoopDeps, LoopStart } from '../control/loop-deps.ts';
import type { RunOutput } from '../output/output.ts';
import type { RunSpending } from '../output/spending.ts';
import type { RunRecorder } from '../record/recorder.ts';
import type { OpenCall, WholeCall } from './open-call.ts';
import type { RunTools } from './run-tools.ts';
import { answerCall, runServerCalls, type ServerCallContext, skippedCalls } from './server-calls.ts';
import { makeUnknownOutcome, unknownOutcome } from './unknown-outcome.ts';

/** The part of a run that its tool calls work with. */
interface CallParts {
  readonly plan: Pick<RunPlan, 'charge' | 'hidesOutputs'>;
  readonly start: LoopStart;
  readonly deps: Pick<LoopDeps, 'logger' | 'mask' | 'askApproval'>;
  readonly budget: RunBudget;
  readonly output: RunOutput;
  readonly spending: RunSpending;
  readonly recorder: RunRecorder;
  readonly tools: RunTools;
  readonly files: RunFiles;
  /** Undefined while tracing is off. */
  readonly trace: RunTrace | undefined;
  /** The events that may leave now. */
  ready(): readonly RunEvent[] | undefined;
}

/** Yields events while calls are made, and returns the messages that tell the model of the calls and their results; images of results come last. */
type CallEvents = AsyncGenerator<readonly RunEvent[], readonly ModelMessage[]>;

/** Makes the tool calls of a run that run in this service. @throws RunStop when the run is to pause. */
export class RunCalls {
  readonly #parts: CallParts;

  constructor(parts: CallParts) {
    this.#parts = parts;
  }

  /**
   * Makes the calls of one answer, one after the other.
   *
   * @param said  what the answer thought and said before its calls.
   * @param mustAnswer  the model may call no tool: its calls are skipped.
   */
  async *make(
    calls: readonly WholeCall[],
    priorMessages: readonly AssistantMessage[],
    mustAnswer: boolean,
    signal: AbortSignal,
  ): CallEvents {
    return yield* this.#follow(runServerCalls(calls, this.#context(priorMessages, mustAnswer), signal));
  }

  /** Makes calls that a person approved: they are in the conversation already, as calls that waited. @returns the messages with their results, and those with images. */
  async *makeApproved(calls: readonly WholeCall[], signal: AbortSignal): CallEvents {
    const toolMessages = yield* this.#follow(runServerCalls(calls, this.#context([], false), signal));
    return toolMessages.filter(({ role }) => role !== 'assistant');
  }

  /** Makes the call of a dead process again, unless its tool was changed to one that must not be called twice. */
  async *again(call: OpenCall, signal: AbortSignal): CallEvents {
    const { callId, name, arguments: args, origin } = call.item;
    if (this.#parts.tools.all.get(name)?.ifLost === 'unknown') {
      call.close({ output: '', error: unknownOutcome });
      throw makeUnknownOutcome(name);
    }
    const answers = yield* this.#follow(answerCall(call, args, this.#context([], false), signal));
    const remadeCall = { id: callId, name, arguments: args, ...(origin === undefined ? {} : { origin }) };
    return [{ role: 'assistant', content: null, toolCalls: [remadeCall] }, ...answers];
  }

  async *#follow(calls: AsyncIterable<readonly ModelMessage[]>): CallEvents {
    const { start, spending } = this.#parts;
    const toolMessages: ModelMessage[] = [];
    for await (const messages of calls) {
      toolMessages.push(...messages);
      spending.emit();
      const batch = this.#parts.ready();
      if (batch !== undefined) yield batch;
    }
    start.control?.pause.throwIfAborted();
    return [...toolMessages.filter(({ role }) => role !== 'user'), ...toolMessages.filter(({ role }) => role === 'user')];
  }

  #context(priorMessages: readonly AssistantMessage[], mustAnswer: boolean): ServerCallContext {
    const { plan, start, deps, budget, output, tools, files, trace, recorder } = this.#parts;
    const { control, secrets, runId, hold = soleHold, keyPrefix = runId } = start;
    const mayStart = () => {
      control?.pause.throwIfAborted();
      if (mustAnswer) return skippedCalls.limit;
      if (control?.hasInput === true) return skippedCalls.steered;
      return budget.takeCall() ? undefined : skippedCalls.limit;
    };
    return {
      output,
      said: priorMessages,
      tools: tools.all,
      secrets,
      logger: deps.logger,
      mask: deps.mask,
      hidesOutputs: plan.hidesOutputs === true,
      trace,
      recorder,
      subagentId: start.subagent?.id,
      hold,
      files,
      keyPrefix,
      mayStart,
      mayAsk: () => !mustAnswer,
      ask: (id, { name, parameters }) => {
        const { orgId, userId } = plan.charge;
        return deps.askApproval({ id, orgId, userId, runId, functionName: name, parameters });
      },
    };
  }
}
