import type { ParleyError } from '@parley/client';
import { useCallback, useEffect, useState } from 'react';
import { readableError, run } from '../../../../graphql/client.ts';
import type { Change } from './Diff.tsx';
import { AgentVersionDiffDocument } from './documents.ts';

export interface Changes {
  /** The revision of the draft that they were read at. It is told when they are published: what nobody saw is not. */
  readonly revision: number | null;
  readonly changes: readonly Change[];
}

/** What differs between two versions; read anew when the draft has another revision. */
export function useChanges(agentId: string, from: string, to: string, revision: number | null) {
  const [changes, setChanges] = useState<Changes>();
  const [error, setError] = useState<ParleyError>();
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt asks again
  useEffect(() => {
    let isGone = false;
    setError(undefined);
    run(AgentVersionDiffDocument, { id: agentId, from, to })
      .then(({ agentVersionDiff }) => isGone || setChanges({ revision, changes: agentVersionDiff }))
      .catch((cause: unknown) => isGone || setError(readableError(cause)));
    return () => {
      isGone = true;
    };
  }, [agentId, from, to, revision, attempt]);
  const retry = useCallback(() => setAttempt((count) => count + 1), []);
  const isCurrent = changes !== undefined && changes.revision === revision;
  return { changes, error, isCurrent, retry };
}
