import { useEffect } from 'react';
import { type AnyVariables, type TypedDocumentNode, useQuery, useSubscription } from 'urql';
import { onConnected } from './stream.ts';

/**
 * A list that is live: read now, after each change of it, and when the connection was opened anew, because changes in between were not told. A change
 * says only which thing it is about; a page of many rows takes its `node` into the list instead of reading the list again.
 */
export function useLive<Result, Variables extends AnyVariables>(
  query: TypedDocumentNode<Result, Variables>,
  variables: Variables,
  changes: TypedDocumentNode<unknown, Record<string, never>>,
) {
  const [list, readAgain] = useQuery({ query, variables });
  const [{ data: change, error }] = useSubscription({ query: changes, variables: {} });
  useEffect(() => {
    if (change !== undefined) readAgain({ requestPolicy: 'network-only' });
  }, [change, readAgain]);
  useEffect(() => onConnected(() => readAgain({ requestPolicy: 'network-only' })), [readAgain]);
  return { data: list.data, error: list.error ?? error };
}
