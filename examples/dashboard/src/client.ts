import type { documents } from '@parley/client';
import { type AnyVariables, Client, fetchExchange, gql, subscriptionExchange, type TypedDocumentNode } from 'urql';
import { stream } from './stream.ts';

export const client = new Client({
  url: '/graphql',
  preferGetMethod: false,
  exchanges: [
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: ({ query = '', variables }) => ({
        subscribe: (sink) => ({ unsubscribe: stream.subscribe({ query, variables }, sink) }),
      }),
    }),
  ],
});

/** A document of @parley/client as urql takes it, with the types of its result and its variables. */
export function typed<Result, Variables extends AnyVariables>(
  document: documents.TypedDocumentString<Result, Variables>,
): TypedDocumentNode<Result, Variables> {
  return gql<Result, Variables>(document.toString());
}
