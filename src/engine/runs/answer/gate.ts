import type { RunItem } from '../../../entities/runs/event.ts';
import { ModelError, type ModelMessage, type ModelRequest, type ResponseFormat } from '../../models/port.ts';
import type { ModelCall } from '../model-call.ts';
import { askForCall, isForcing, missedCall } from '../tools/choice.ts';
import { AnswerFormat } from './format.ts';
import type { OutputMark, RunOutput } from './output.ts';

/**
 * Whether an answer that is not as `responseFormat` says fails its run. `streamed`: its text leaves as it comes. `held`: it leaves when it is found
 * right, so the model can be asked once more before anybody sees it.
 */
export type AnswerCheck = 'streamed' | 'held';

/** Undefined for a run whose answers may be anything. */
export function gateOf(plan: GatedPlan, output: RunOutput): AnswerGate | undefined {
  const { responseFormat, answerCheck, toolChoice } = plan;
  const isChecked = answerCheck !== undefined && responseFormat !== undefined && responseFormat.type !== 'text';
  const format = isChecked ? new AnswerFormat(responseFormat) : undefined;
  if (format === undefined && !isForcing(toolChoice)) return undefined;
  return new AnswerGate(format, answerCheck === 'held', output);
}

interface GatedPlan {
  readonly responseFormat?: ResponseFormat;
  readonly answerCheck?: AnswerCheck;
  readonly toolChoice?: ModelRequest['toolChoice'];
}

/**
 * Lets the answers of a run pass that are as its request wants them: in its format, and with a call where it forces one. A text beside
 * calls, one that was cut, and a refusal are no answer.
 *
 * A turn that must call a tool is held until its call begins, also where text streams: whoever forces a call waits for nothing else, and so
 * the model can be asked once more.
 */
export class AnswerGate {
  readonly #format: AnswerFormat | undefined;
  readonly #output: RunOutput;
  readonly #itemsBefore: number;
  /** Each is asked for once more, once. */
  #mayHoldText: boolean;
  #mayHoldCall = true;
  #call: ModelCall | undefined;
  #mark: OutputMark | undefined;
  #from = 0;
  /** True once an answer was refused for good. */
  hasRefused = false;

  constructor(format: AnswerFormat | undefined, holdsText: boolean, output: RunOutput) {
    this.#format = format;
    this.#output = output;
    this.#mayHoldText = holdsText && format !== undefined;
    this.#itemsBefore = output.items.length;
  }

  /** Whether events wait: until the model's turn is over, or calls a tool. */
  get isHolding(): boolean {
    return this.#mark !== undefined && this.#call?.hasCalled !== true;
  }

  /** Before each turn of the model. @param mayAskAgain  false: it is the last one that the run may take. */
  open(call: ModelCall, mayAskAgain: boolean): void {
    const { items } = this.#output;
    this.#call = call;
    // What a run said before its pause was seen already: the rest follows it.
    this.#from = items.length === this.#itemsBefore ? beginningOf(items) : items.length;
    const mayHold = isForcing(call.request.toolChoice) ? this.#mayHoldCall : this.#mayHoldText;
    this.#mark = mayAskAgain && mayHold && this.#from === items.length ? this.#output.mark() : undefined;
  }

  /**
   * Behind each turn of the model, before its items are closed.
   *
   * @returns what to tell the model when it shall answer once more: what it said is unsaid then.
   * @throws ModelError that says what is wrong: the place in the schema, or the call that is missing.
   */
  close(call: ModelCall): readonly ModelMessage[] | undefined {
    const mark = this.#mark;
    const format = this.#format;
    this.#mark = undefined;
    if (!call.isAnswer) return undefined;
    const { toolChoice } = call.request;
    const said = this.#output.textFrom(this.#from);
    if (isForcing(toolChoice)) {
      if (mark === undefined) throw this.#refused('tool_choice', missedCall(toolChoice));
      this.#mayHoldCall = false;
      return this.#again(mark, said, askForCall(toolChoice));
    }
    const fault = format?.faultOf(said);
    if (format === undefined || fault === undefined) return undefined;
    if (mark === undefined) throw this.#refused('text.format', fault);
    this.#mayHoldText = false;
    return this.#again(mark, said, format.askAgain(fault));
  }

  #refused(member: string, fault: string): ModelError {
    this.hasRefused = true;
    return new ModelError('MODEL_ERROR', `The model did not keep to ${member}: its answer ${fault}`, false);
  }

  #again(mark: OutputMark, said: string, content: string): readonly ModelMessage[] {
    this.#output.takeBack(mark);
    const answer: readonly ModelMessage[] = said === '' ? [] : [{ role: 'assistant', content: said }];
    return [...answer, { role: 'user', content }];
  }
}

/** Where the text begins that the next turn goes on with: behind the items so far, or with what was cut off before. */
function beginningOf(items: readonly RunItem[]): number {
  const last = items.findLastIndex((item) => !(item.type === 'message' && item.status === 'incomplete'));
  return last + 1;
}
