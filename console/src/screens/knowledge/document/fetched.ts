import { useEffect, useState } from 'react';

/** What a link gives, once; or why it does not. */
export type Fetched = { readonly bytes: ArrayBuffer } | { readonly failure: string } | undefined;

/** Fetches a file of this service by its signed link. @param refusal  the words for a link that is not answered. */
export function useFetched(path: string, refusal: (status: number) => string): Fetched {
  const [fetched, setFetched] = useState<Fetched>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the words of the refusal change with nothing
  useEffect(() => {
    const leaving = new AbortController();
    const load = async () => {
      try {
        const reply = await fetch(path, { signal: leaving.signal });
        setFetched(reply.ok ? { bytes: await reply.arrayBuffer() } : { failure: refusal(reply.status) });
      } catch {
        if (!leaving.signal.aborted) setFetched({ failure: refusal(0) });
      }
    };
    void load();
    return () => leaving.abort();
  }, [path]);
  return fetched;
}
