import type { RunItem } from '../../../entities/runs/event.ts';
import type { ModelRequest, ModelTool } from '../../models/port.ts';

type Choice = ModelRequest['toolChoice'];
/** A choice that leaves the model no answer but a call. */
export type ForcingChoice = 'required' | Extract<Choice, object>;

export function isForcing(choice: Choice): choice is ForcingChoice {
  return choice === 'required' || typeof choice === 'object';
}

/**
 * What the next model call may choose among these tools. A choice that forces a call holds until one was made: forced at every step, a run
 * that answers its calls itself would never end. What is not offered, because nothing is behind it or the chat mode takes it away, cannot
 * be forced either: a provider refuses that.
 */
export function choiceFor(wanted: Choice, hasCalled: boolean, offered: readonly ModelTool[]): Choice {
  if (wanted === undefined || wanted === 'none') return wanted;
  if (hasCalled) return 'auto';
  if (typeof wanted === 'object') return offered.some(({ name }) => name === wanted.name) ? wanted : undefined;
  return wanted === 'required' && offered.length === 0 ? undefined : wanted;
}

export function isCall({ type }: RunItem): boolean {
  return type === 'function_call' || type === 'server_tool_call';
}

/** What a model is told that answered without the call it had to make; ends a sentence: "the answer …". */
export function missedCall(choice: ForcingChoice): string {
  return choice === 'required' ? 'calls no tool' : `does not call ${choice.name}`;
}

export function askForCall(choice: ForcingChoice): string {
  const wanted = choice === 'required' ? 'a call of one of your tools' : `a call of the tool ${choice.name}`;
  return `This answer cannot be used: it ${missedCall(choice)}. Answer again, with ${wanted} and nothing else.`;
}
