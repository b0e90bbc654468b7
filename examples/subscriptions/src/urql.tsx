import { createRoot } from 'react-dom/client';
import { Client, fetchExchange, gql, Provider, subscriptionExchange, useSubscription } from 'urql';
import { stream } from './stream.ts';
import { Tokens } from './tokens.tsx';

const client = new Client({
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

interface UsageChanged {
  usageChanged: { node: { apiTokensUsed: number } };
}
const query = gql<UsageChanged, Record<string, never>>`
  subscription UsageChanged {
    usageChanged {
      node {
        apiTokensUsed
      }
    }
  }
`;

function Usage() {
  const [{ data, error }] = useSubscription({ query });
  return <Tokens used={data?.usageChanged.node.apiTokensUsed} error={error} />;
}

createRoot(document.body).render(
  <Provider value={client}>
    <Usage />
  </Provider>,
);
