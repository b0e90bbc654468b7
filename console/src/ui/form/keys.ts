import type { KeyboardEvent } from 'react';

/** What browsers give as the code of a key that an input method took, such as the Enter that confirms a Japanese word. */
const inputMethodKeyCode = 229;

/**
 * Whether a key was pressed to do something, and not to write a word with an input method. Safari ends the composition before it tells of the key, so
 * that only the old `keyCode` says whose key it was.
 */
export function isPressed(event: KeyboardEvent, key: 'Enter' | 'Escape'): boolean {
  return event.key === key && !isOfInputMethod(event);
}

/** Whether an input method took the key: it confirms, leaves or chooses a word. */
export function isOfInputMethod({ nativeEvent: { isComposing, keyCode } }: KeyboardEvent): boolean {
  return isComposing || keyCode === inputMethodKeyCode;
}

/** Sends what is written in a box by Enter. With Shift it begins a new line. */
export function sendByEnter(event: KeyboardEvent, send: () => void): void {
  if (!isPressed(event, 'Enter') || event.shiftKey) return;
  event.preventDefault();
  send();
}
