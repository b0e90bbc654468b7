import { ApolloClient, ApolloLink, gql, InMemoryCache, Observable, type TypedDocumentNode } from '@apollo/client';
import { ApolloProvider, useSubscription } from '@apollo/client/react';
import { print } from 'graphql';
import { createRoot } from 'react-dom/client';
import { stream } from './stream.ts';
import { Tokens } from './tokens.tsx';

const link = new ApolloLink(
  ({ query, variables }) => new Observable((sink) => stream.subscribe({ query: print(query), variables }, sink)),
);
// Queries and mutations need an HttpLink beside it: ApolloLink.split(({ operationType }) => operationType === 'subscription', link, httpLink)
const client = new ApolloClient({ link, cache: new InMemoryCache() });

interface UsageChanged {
  usageChanged: { node: { apiTokensUsed: number } };
}
const query: TypedDocumentNode<UsageChanged> = gql`
  subscription UsageChanged {
    usageChanged {
      node {
        apiTokensUsed
      }
    }
  }
`;

function Usage() {
  const { data, error } = useSubscription(query);
  return <Tokens used={data?.usageChanged.node.apiTokensUsed} error={error} />;
}

createRoot(document.body).render(
  <ApolloProvider client={client}>
    <Usage />
  </ApolloProvider>,
);
