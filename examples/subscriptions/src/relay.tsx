import type { Sink } from 'graphql-sse';
import { useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { graphql, RelayEnvironmentProvider, useSubscription } from 'react-relay';
import { Environment, Network, Observable, RecordSource, Store } from 'relay-runtime';
import type { relayUsageSubscription } from './__generated__/relayUsageSubscription.graphql.ts';
import { stream } from './stream.ts';
import { Tokens } from './tokens.tsx';

const environment = new Environment({
  network: Network.create(
    async ({ text, name }, variables) => {
      const body = JSON.stringify({ query: text, operationName: name, variables });
      return (await fetch('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body })).json();
    },
    ({ text, name }, variables) =>
      Observable.create((sink) => stream.subscribe({ query: text ?? '', operationName: name, variables }, sink as Sink)),
  ),
  store: new Store(new RecordSource()),
});

const subscription = graphql`
  subscription relayUsageSubscription {
    usageChanged {
      node {
        apiTokensUsed
      }
    }
  }
`;

function Usage() {
  const [used, setUsed] = useState<number>();
  const [error, setError] = useState<Error>();
  // Relay subscribes anew when this object is another one.
  const config = useMemo(
    () => ({
      subscription,
      variables: {},
      onNext: (data?: relayUsageSubscription['response'] | null) => setUsed(data?.usageChanged.node.apiTokensUsed),
      onError: setError,
    }),
    [],
  );
  useSubscription<relayUsageSubscription>(config);
  return <Tokens used={used} error={error} />;
}

createRoot(document.body).render(
  <RelayEnvironmentProvider environment={environment}>
    <Usage />
  </RelayEnvironmentProvider>,
);
