import { useState } from 'react';

/** A value that stays as it is while it is held: what somebody points at does not move away under the pointer. */
export function useHeld<Value>(value: Value, isHeld: boolean): Value {
  const [held, setHeld] = useState(value);
  if (!isHeld && held !== value) setHeld(value);
  return isHeld ? held : value;
}
