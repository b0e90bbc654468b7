import type { RunItem } from '../../entities/conversations/runs/event.ts';
import type { ModelRequest, ModelTool } from '../models/port.ts';

type Choice = ModelRequest['toolChoice'];
/** A choice that forces a call. */
export type ForcingChoice = 'required' | Extract<Choice, object>;

export function isForcing(choice: Choice): choice is ForcingChoice {
  return choice === 'required' || typeof choice === 'object';
}

/**
 * The tool choice of the next model call. A forced call holds until one was made: a run that answers its calls itself and forces
 * one in every round would never end. A tool that is not offered cannot be forced: a provider refuses that.
 */
export function choiceFor(choice: Choice, hasCalled: boolean, offeredTools: readonly ModelTool[]): Choice {
  if (choice === undefined || choice === 'none') return choice;
  if (hasCalled) return 'auto';
  if (typeof choice === 'object') return offeredTools.some(({ name }) => name === choice.name) ? choice : undefined;
  return choice === 'required' && offeredTools.length === 0 ? undefined : choice;
}

export function isCall({ type }: RunItem): boolean {
  return type === 'function_call' || type === 'server_tool_call';
}

/** Tells a model which call is missing; ends a sentence: "the answer …". */
export function missedCall(choice: ForcingChoice): string {
  return choice === 'required' ? 'calls no tool' : `does not call ${choice.name}`;
}

export function askForCall(choice: ForcingChoice): string {
  const callPhrase = choice === 'required' ? 'a call of one of your tools' : `a call of the tool ${choice.name}`;
  return `This answer cannot be used: it ${missedCall(choice)}. Answer again, with ${callPhrase} and nothing else.`;
}
