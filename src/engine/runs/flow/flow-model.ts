import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import type { ModelMessage, ModelRequest } from '../../models/port.ts';
import type { Selection } from '../../models/route-stream.ts';
import type { ServerTools } from '../../tools/server-tool.ts';
import { estimateNeed, meteredCall, within } from '../../usage/token-need.ts';
import { type AnswerGate, createGate } from '../model/gate.ts';
import { bookCall, ModelCall } from '../model/model-call.ts';
import { writeCacheKey } from '../model/model-request.ts';
import type { OpenRun } from '../open/open-run.ts';
import { RunOutput } from '../output/output.ts';

/** What one model step asks for. */
interface Asked {
  /** Full id. */
  readonly modelId: string;
  readonly messages: readonly ModelMessage[];
  /** Behind the messages; '' for nothing. */
  readonly ending: string;
  /** Its text is the answer: it goes to the reader while it arrives, and has the form that the request asks for. */
  readonly isAnswer: boolean;
}

const noTools: ServerTools = new Map();

/** The model calls of a flow: one for each model step, without tools; counted, charged and traced like those of any run. */
export class FlowModel {
  readonly #run: OpenRun;
  /** Characters that outputs of model steps may still have. */
  #charsLeft: number;
  #gate: AnswerGate | undefined;
  selection: Selection | undefined;
  serviceTier: string | undefined;
  /** The call that said the answer. */
  answering: ModelCall | undefined;

  constructor(run: OpenRun) {
    this.#run = run;
    this.#charsLeft = run.deps.answerCharsMax;
  }

  /** Whether the text of the answer is held back until it passed its check. */
  get isHolding(): boolean {
    return this.#gate?.isHolding === true;
  }

  /** @returns the text; undefined when the run may ask no model any more. @throws ModelError; DomainError INSUFFICIENT_QUOTA. */
  async *ask(modelQuestion: Asked, signal: AbortSignal): AsyncGenerator<readonly RunEvent[], string | undefined> {
    const { plan, deps, budget, output: answer } = this.#run;
    if (budget.roundsLeft <= 0) return undefined;
    const output = modelQuestion.isAnswer ? answer : new RunOutput(deps.newId, 0, [], this.#charsLeft);
    const from = output.items.length;
    const { responseFormat, answerCheck, formatMember } = plan;
    const form = modelQuestion.isAnswer && responseFormat !== undefined ? { responseFormat } : {};
    const check = {
      ...(answerCheck === undefined ? {} : { answerCheck }),
      ...(formatMember === undefined ? {} : { formatMember }),
    };
    const gate = modelQuestion.isAnswer ? createGate({ ...form, ...check }, output) : undefined;
    this.#gate = gate;
    let { messages } = modelQuestion;
    for (;;) {
      const request: ModelRequest = {
        ...{ model: modelQuestion.modelId, messages, tools: [], parameters: plan.parameters, isStreaming: plan.isStreaming },
        ...(modelQuestion.ending === '' ? {} : { ending: modelQuestion.ending }),
        ...writeCacheKey(plan),
        ...(plan.isWhole === undefined ? {} : { isWhole: plan.isWhole }),
        ...(plan.routing === undefined ? {} : { routing: plan.routing }),
        ...form,
      };
      const call = yield* this.#call(request, output, modelQuestion.isAnswer, signal);
      if (modelQuestion.isAnswer) this.answering = call;
      const again = gate?.close(call);
      if (again === undefined || budget.roundsLeft <= 0) {
        output.close(call.finish === 'length' || call.finish === 'content_filter' ? 'incomplete' : 'completed');
        break;
      }
      messages = [...messages, ...again];
    }
    const text = output.textFrom(from);
    if (!modelQuestion.isAnswer) this.#charsLeft -= text.length;
    return text;
  }

  async *#call(
    modelRequest: ModelRequest,
    output: RunOutput,
    isAnswer: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<readonly RunEvent[], ModelCall> {
    const { plan, deps, budget, spending } = this.#run;
    budget.beginRound();
    const hold = await deps.limits.reserve(meteredCall(plan.charge, modelRequest), () => estimateNeed(modelRequest));
    const call = new ModelCall(within(modelRequest, hold.outputMax), false);
    if (isAnswer) this.#gate?.open(call, budget.roundsLeft > 0);
    const startedMs = performance.now();
    const trace = this.#run.trace?.modelCall(modelRequest.model);
    try {
      for await (const deltas of call.start(deps.models, signal, trace?.traceparent)) {
        call.take(deltas, output, noTools);
        const batch = isAnswer ? this.#run.ready() : undefined;
        if (batch !== undefined) yield batch;
        if (output.isFull) break;
      }
      call.requireFinish();
    } catch (error) {
      call.fail(error);
      trace?.fail(error);
      throw error;
    } finally {
      const wasCut = signal.aborted;
      this.selection = call.selection;
      this.serviceTier = call.serviceTier ?? this.serviceTier;
      this.#run.warn(call.warnings);
      bookCall(call, wasCut, { spending, timings: deps.timings, hold, trace, startedMs });
    }
    return call;
  }
}
