import {
  type FlowPlan,
  type FlowStep,
  type FlowStepRecord,
  type FlowStepResult,
  stepTextBytesMax,
} from '../../../entities/agents/flow.ts';
import type { FlowStepEvent, RunEvent } from '../../../entities/conversations/runs/event.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { cutBytes } from '../../../lib/text/text.ts';
import { ModelError } from '../../models/port.ts';
import type { OpenRun } from '../open/open-run.ts';
import { FlowModel } from './flow-model.ts';
import { isAnswering } from './route.ts';
import { type DoneStep, FlowSteps } from './steps.ts';
import { FlowValues } from './values.ts';

/**
 * Answers a turn with the steps of a flow, as the same numbered events as the plain loop. Each finished step is an event: a run that is
 * taken over, or goes on after a pause, continues behind its last finished step. A flow pauses between two steps.
 *
 * @throws DomainError before the first batch when `isEager` is false and the first step failed.
 */
export function runFlow(run: OpenRun, flow: FlowPlan, signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
  return new FlowRun(run, flow).events(signal);
}

class FlowRun {
  readonly #run: OpenRun;
  readonly #flow: FlowPlan;
  readonly #values: FlowValues;
  readonly #model: FlowModel;
  readonly #steps: FlowSteps;
  /** The finished steps that readers see. */
  readonly #shown: FlowStepRecord[] = [];
  readonly #done = new Map<number, FlowStepResult>();
  /** The steps before this place are finished, or passed over by a branch. */
  #next = 0;
  #answer: FlowStepResult | undefined;
  #isBounded = false;

  constructor(run: OpenRun, flow: FlowPlan) {
    this.#run = run;
    this.#flow = flow;
    run.citable.watch();
    this.#values = new FlowValues(flow, run.deps.answerCharsMax);
    this.#model = new FlowModel(run);
    run.gate = this.#model;
    this.#steps = new FlowSteps(run, flow, this.#values, this.#model);
    for (const event of run.start.flowSteps ?? []) this.#restore(event);
  }

  /** Takes in a step of an earlier process. A model step that failed is not done. */
  #restore({ step, result, isHidden }: FlowStepEvent): void {
    if (step.status === 'failed' && step.type === 'model') return;
    if (isHidden !== true) this.#shown.push(step);
    if (step.status === 'skipped') this.#done.set(result.place, result);
    else this.#remember(result);
  }

  async *events(signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
    const run = this.#run;
    const { isEager, control } = run.start;
    let failure: unknown;
    try {
      if (isEager) yield run.output.take();
      try {
        signal.throwIfAborted();
        await run.deps.maskPersonal?.(run.plan.messages, run.plan.charge, signal);
        if (run.tools.mustOpen) await run.openTools(signal);
        for (const [place, step] of this.#flow.steps.entries()) {
          if (this.#done.has(place)) continue;
          signal.throwIfAborted();
          control?.pause.throwIfAborted();
          yield* this.#take(step, place, signal);
          const batch = run.ready();
          if (batch !== undefined) yield batch;
          if (this.#isBounded) break;
        }
        if (!this.#isBounded) this.#say();
      } catch (error) {
        failure = run.failureOf(error, signal);
      }
      const { selection, serviceTier, answering } = this.#model;
      const isBounded = this.#isBounded;
      yield run.end(failure, { finish: answering?.finish, selection, serviceTier, isBounded, flowSteps: this.#shown });
    } finally {
      run.trace?.end();
    }
  }

  /** Works on one step and records it. */
  async *#take(step: FlowStep, place: number, signal: AbortSignal): AsyncGenerator<readonly RunEvent[], void> {
    if (place < this.#next) {
      this.#record(step, place, { status: 'skipped', input: '', text: '' }, 0);
      return;
    }
    const startedMs = performance.now();
    let doneStep: DoneStep | undefined;
    try {
      doneStep = yield* this.#steps.run(step, place, signal);
    } catch (error) {
      if (!signal.aborted && (error instanceof ModelError || error instanceof DomainError)) {
        this.#record(step, place, { status: 'failed', input: '', text: error.message }, startedMs);
      }
      throw error;
    }
    if (doneStep === undefined) this.#isBounded = true;
    else this.#record(step, place, doneStep, startedMs);
    this.#run.spending.emit();
  }

  #record({ id, type }: FlowStep, place: number, doneStep: DoneStep, startedMs: number): void {
    const { status, input, marked: markedText, next, passages = [], isSaid } = doneStep;
    const mask = (plain: string) => this.#run.deps.mask?.text(plain) ?? plain;
    const text = mask(doneStep.text);
    const result: FlowStepResult = {
      place,
      text,
      ...(markedText === undefined || markedText === doneStep.text ? {} : { marked: mask(markedText) }),
      ...(next === undefined ? {} : { next }),
      ...(isSaid === true ? { isSaid } : {}),
    };
    const step: FlowStepRecord = {
      ...{ stepId: id === '' ? `step_${place + 1}` : id, type, status },
      input: cutBytes(mask(input), stepTextBytesMax),
      output: cutBytes(text, stepTextBytesMax),
      durationMs: startedMs === 0 ? 0 : Math.round(performance.now() - startedMs),
    };
    this.#run.recorder.flowStep(step, startedMs);
    const isHidden = this.#run.plan.hidesSteps === true;
    this.#run.output.note({
      ...{ type: 'parley.flow.step', step, result },
      ...(passages.length === 0 ? {} : { passages }),
      ...(isHidden ? { isHidden } : {}),
    });
    if (!isHidden) this.#shown.push(step);
    if (status === 'skipped') this.#done.set(place, result);
    else this.#remember(result);
  }

  #remember(result: FlowStepResult): void {
    const { place, next } = result;
    this.#done.set(place, result);
    this.#values.add(result);
    if (next !== undefined) this.#next = next;
    const step = this.#flow.steps[place];
    if (step !== undefined && isAnswering(step)) this.#answer = result;
  }

  /** Says the output of the last step that answers, unless it was streamed. @throws DomainError FLOW_FAILED when there is none. */
  #say(): void {
    const answer = this.#answer;
    if (answer === undefined) {
      throw new DomainError(
        'FLOW_FAILED',
        'The flow came to its end without an answer: no step of the type model or prompt was taken',
      );
    }
    const { output } = this.#run;
    if (answer.isSaid !== true && answer.text !== '') output.text(JSON.stringify(answer.text));
    output.close('completed');
  }
}
