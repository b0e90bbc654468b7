import { useEffect } from 'react';

const pollMs = 2_000;

/** Loads a page again every two seconds while something on it goes on that no subscription tells. */
export function usePolling(isWorking: boolean, reload: () => void): void {
  useEffect(() => {
    if (!isWorking) return;
    const timer = setInterval(reload, pollMs);
    return () => clearInterval(timer);
  }, [isWorking, reload]);
}
