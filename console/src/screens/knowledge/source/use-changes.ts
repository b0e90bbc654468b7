import { useEffect, useState } from 'react';
import type { Source } from './source.ts';

const pauseMs = 700;

/** Another value each time that documents of the source may have changed, at most once in a moment. */
export function useChanges({
  statistics,
  activeRun,
  indexStatus,
}: Pick<Source, 'statistics' | 'activeRun' | 'indexStatus'>): string {
  const { totalCount, doneCount, failedCount, indexingCount } = statistics;
  const now = [totalCount, doneCount, failedCount, indexingCount, activeRun?.id, indexStatus].join(' ');
  const [settled, setSettled] = useState(now);
  const isSame = now === settled;
  useEffect(() => {
    if (isSame) return;
    const timer = setTimeout(() => setSettled(now), pauseMs);
    return () => clearTimeout(timer);
  }, [now, isSame]);
  return settled;
}
