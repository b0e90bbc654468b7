import { useEffect, useState } from 'react';

/** How long something runs that began at a moment, counted by the second while it is on. */
export function useElapsedMs(since: string, isOn: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isOn]);
  return Math.max(0, now - Date.parse(since));
}

/** Calls again and again while it is on and the page is seen. */
export function useRepeat(call: () => void, everyMs: number, isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && call(), everyMs);
    return () => clearInterval(timer);
  }, [call, everyMs, isOn]);
}
