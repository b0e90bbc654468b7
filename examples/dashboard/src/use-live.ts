import { useEffect, useRef } from 'react';
import { type AnyVariables, type TypedDocumentNode, useQuery, useSubscription } from 'urql';
import { onConnected } from './stream.ts';

/** A list is read again at most this often, however many changes are told. */
const pauseMs = 1_000;

/**
 * A page that is live: read now, a moment after changes of it, and when the connection was opened anew, because changes in between were not told.
 * A page of many rows would take the `node` of a change into its list instead of reading the list again.
 */
export function useLive<Result, Variables extends AnyVariables>(
  query: TypedDocumentNode<Result, Variables>,
  variables: Variables,
  changes: TypedDocumentNode<unknown, Record<string, never>>,
) {
  const [{ data, error }, readAgain] = useQuery({ query, variables });
  const waiting = useRef(0);
  const soon = () => {
    if (waiting.current !== 0) return;
    waiting.current = window.setTimeout(() => {
      waiting.current = 0;
      readAgain({ requestPolicy: 'network-only' });
    }, pauseMs);
  };
  const [change] = useSubscription({ query: changes, variables: {} }, (_, told) => {
    soon();
    return told;
  });
  useEffect(() => onConnected(() => readAgain({ requestPolicy: 'network-only' })), [readAgain]);
  useEffect(() => () => window.clearTimeout(waiting.current), []);
  return { data, error: error ?? change.error };
}
