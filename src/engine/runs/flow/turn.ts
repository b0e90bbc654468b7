import type { ModelMessage } from '../../models/port.ts';

/** The conversation, as the model steps of a flow use it. */
export interface Turn {
  /** The instructions. */
  readonly system: readonly ModelMessage[];
  readonly history: readonly ModelMessage[];
  /** What the user says in this turn, with files and images. */
  readonly said: readonly ModelMessage[];
}

/** Finds the turn that the flow answers: the last messages of the user. Calls of the flow's own tools behind them are left out. */
export function toTurn(messages: readonly ModelMessage[]): Turn {
  const firstSaid = messages.findIndex(({ role }) => role !== 'system');
  const from = firstSaid < 0 ? messages.length : firstSaid;
  const end = messages.findLastIndex(({ role }) => role === 'user') + 1;
  let start = end;
  while (start > from && messages[start - 1]?.role === 'user') start -= 1;
  return {
    system: messages.slice(0, from),
    history: messages.slice(from, Math.max(from, start)),
    said: messages.slice(start, end),
  };
}

/**
 * The messages of one model call.
 *
 * @param prompt  the text of the step as models read it; undefined: what the user said, as it came.
 */
export function messagesFor(
  { system, history, said: turnMessages }: Turn,
  prompt: string | undefined,
  input: string,
): readonly ModelMessage[] {
  const before = [...system, ...history];
  if (prompt === undefined) return [...before, ...turnMessages];
  // Files and images of the user stay: the prompt has the user's text only.
  const isPlain = turnMessages.length === 1 && turnMessages[0]?.content === input;
  return [...before, ...(isPlain ? [] : turnMessages), { role: 'user', content: prompt }];
}
