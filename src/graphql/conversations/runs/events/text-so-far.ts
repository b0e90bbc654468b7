import type { RunEvent } from '../../../../entities/conversations/runs/event.ts';

/** Every event repeats the text: without an end to it a long answer would send its length squared. */
export const textSoFarMaxChars = 10_000;

type TextDelta = Extract<RunEvent, { readonly type: 'response.output_text.delta' }>;

interface Gathered {
  readonly sequence: number;
  readonly text: string;
}

/** By the signal that ends an operation: each subscription has its own, and sees its events in order. */
const gatheredTexts = new WeakMap<AbortSignal, Gathered>();

/**
 * The text of an answer up to a piece of it. Gathered only for operations that select it.
 *
 * @returns null once the text has more than `textSoFarMaxChars` UTF-16 code units.
 */
export function textSoFar(event: TextDelta, signal: AbortSignal): string | null {
  let before = gatheredTexts.get(signal) ?? { sequence: -1, text: '' };
  // Two aliases ask for the same event twice.
  if (event.sequence > before.sequence) {
    const delta = JSON.parse(event.json) as string;
    const isFull = before.text.length > textSoFarMaxChars;
    before = { sequence: event.sequence, text: isFull ? before.text : before.text + delta };
    gatheredTexts.set(signal, before);
  }
  return before.text.length > textSoFarMaxChars ? null : before.text;
}
