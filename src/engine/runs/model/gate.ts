import type { RunItem } from '../../../entities/conversations/runs/event.ts';
import { ModelError, type ModelMessage, type ModelRequest, type ResponseFormat } from '../../models/port.ts';
import { askForCall, isForcing, missedCall } from '../../plan/choice.ts';
import type { AnswerCheck, RunPlan } from '../../plan/plan.ts';
import type { OutputMark, RunOutput } from '../output/output.ts';
import { AnswerFormat } from './format.ts';
import type { ModelCall } from './model-call.ts';

/** Undefined for a run without a checked format and without a forced call. */
export function createGate(plan: GatedPlan, output: RunOutput): AnswerGate | undefined {
  const { responseFormat, answerCheck, toolChoice, formatMember = 'text.format' } = plan;
  const isChecked = answerCheck !== undefined && responseFormat !== undefined && responseFormat.type !== 'text';
  const format = isChecked ? new AnswerFormat(responseFormat) : undefined;
  if (format === undefined && !isForcing(toolChoice)) return undefined;
  return new AnswerGate(format, answerCheck === 'held', output, formatMember);
}

interface GatedPlan {
  readonly formatMember?: RunPlan['formatMember'];
  readonly responseFormat?: ResponseFormat;
  readonly answerCheck?: AnswerCheck;
  readonly toolChoice?: ModelRequest['toolChoice'];
}

/**
 * Checks each answer of a run against its request: its format, and the call that the request forces. Text beside calls, a cut text
 * and a refusal are not checked.
 *
 * A round that must call a tool is held until its call begins, also where text streams: the client waits for a call only, and the
 * model can be asked once more.
 */
export class AnswerGate {
  readonly #format: AnswerFormat | undefined;
  readonly #formatMember: string;
  readonly #output: RunOutput;
  readonly #itemsBefore: number;
  /** The model is asked again at most once for its text, and at most once for its call. */
  #mayHoldText: boolean;
  #mayHoldCall = true;
  #call: ModelCall | undefined;
  #mark: OutputMark | undefined;
  #from = 0;
  /** True once an answer was refused and the model is not asked again. */
  hasRefused = false;

  /** @param formatMember  the member of the request that asks for the format. */
  constructor(format: AnswerFormat | undefined, holdsText: boolean, output: RunOutput, formatMember: string) {
    this.#formatMember = formatMember;
    this.#format = format;
    this.#output = output;
    this.#mayHoldText = holdsText && format !== undefined;
    this.#itemsBefore = output.items.length;
  }

  /** Whether events are held back: until the round is over, or calls a tool. */
  get isHolding(): boolean {
    return this.#mark !== undefined && this.#call?.hasCalled !== true;
  }

  /** Called before each round. @param mayAskAgain  false: it is the last round of the run. */
  open(call: ModelCall, mayAskAgain: boolean): void {
    const { items } = this.#output;
    this.#call = call;
    // A reader has seen what the run said before its pause: the rest follows it.
    this.#from = items.length === this.#itemsBefore ? findBeginning(items) : items.length;
    const mayHold = isForcing(call.request.toolChoice) ? this.#mayHoldCall : this.#mayHoldText;
    this.#mark = mayAskAgain && mayHold && this.#from === items.length ? this.#output.mark() : undefined;
  }

  /**
   * Called after each round, before its items are closed.
   *
   * @returns the messages that ask the model again, after its answer was taken back; undefined when the answer passes.
   * @throws ModelError that names the place in the schema, or the missing call.
   */
  close(call: ModelCall): readonly ModelMessage[] | undefined {
    const mark = this.#mark;
    const format = this.#format;
    this.#mark = undefined;
    if (!call.isAnswer) return undefined;
    const { toolChoice } = call.request;
    const writtenText = this.#output.textFrom(this.#from);
    if (isForcing(toolChoice)) {
      if (mark === undefined) throw this.#refused('tool_choice', missedCall(toolChoice));
      this.#mayHoldCall = false;
      return this.#again(mark, writtenText, askForCall(toolChoice));
    }
    const fault = format?.faultOf(writtenText);
    if (format === undefined || fault === undefined) return undefined;
    if (mark === undefined) throw this.#refused(this.#formatMember, fault);
    this.#mayHoldText = false;
    return this.#again(mark, writtenText, format.askAgain(fault));
  }

  #refused(member: string, fault: string): ModelError {
    this.hasRefused = true;
    return new ModelError('MODEL_ERROR', `The model did not keep to ${member}: its answer ${fault}`, false);
  }

  #again(mark: OutputMark, writtenText: string, content: string): readonly ModelMessage[] {
    this.#output.takeBack(mark);
    const answer: readonly ModelMessage[] = writtenText === '' ? [] : [{ role: 'assistant', content: writtenText }];
    return [...answer, { role: 'user', content }];
  }
}

/** Index of the item whose text the next round continues: an item that a pause cut off, else the next new item. */
function findBeginning(items: readonly RunItem[]): number {
  const last = items.findLastIndex((item) => !(item.type === 'message' && item.status === 'incomplete'));
  return last + 1;
}
