import { documents } from '@parley/client';
import { useEffect } from 'react';
import { useQuery, useSubscription } from 'urql';
import { typed } from './client.ts';

const list = typed(documents.DataSourcesDocument);
const changes = typed(documents.DataSourceUpdatedDocument);
const newSourcesMs = 5_000;

/** The newest sources. No subscription tells of a new one, so the list is read again from time to time; progress comes by itself. */
export function DataSources() {
  const [{ data, error }, readAgain] = useQuery({ query: list, variables: { first: 20 } });
  useEffect(() => {
    const timer = setInterval(() => readAgain({ requestPolicy: 'network-only' }), newSourcesMs);
    return () => clearInterval(timer);
  }, [readAgain]);
  return (
    <section id="sources">
      <h2>Data sources</h2>
      {error && <p role="alert">{error.message}</p>}
      <ul>
        {data?.dataSources.nodes.map(({ id, name }) => (
          <DataSource key={id} id={id} name={name} />
        ))}
      </ul>
    </section>
  );
}

/** One source. The subscription tells its state at once, then each change. */
function DataSource({ id, name }: { readonly id: string; readonly name: string }) {
  const [{ data, error }] = useSubscription({ query: changes, variables: { dataSourceId: id } });
  const { indexStatus, indexPercentage, errorMessage } = data?.dataSourceUpdated ?? {};
  return (
    <li>
      {name}: {indexStatus ?? '…'} <progress max={100} value={Number(indexPercentage ?? 0)} title={`${indexPercentage ?? 0} %`} />
      {(error ?? errorMessage) && <p role="alert">{error?.message ?? errorMessage}</p>}
    </li>
  );
}
