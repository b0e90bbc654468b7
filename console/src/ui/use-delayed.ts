import { useEffect, useState } from 'react';

const delayMs = 200;

/** A value once it has not changed for a moment: what is typed is searched then. */
export function useDelayed<Value>(value: Value): Value {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), delayMs);
    return () => clearTimeout(timer);
  }, [value]);
  return delayed;
}
