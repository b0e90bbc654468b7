import { documents } from '@parley/client';
import { typed } from './client.ts';
import { useLive } from './use-live.ts';

const query = typed(documents.DataSourcesDocument);
const changes = typed(documents.DataSourcesChangedDocument);

/** The newest sources, also those that are added while one looks, and their progress. */
export function DataSources() {
  const { data, error } = useLive(query, { first: 20 }, changes);
  return (
    <section id="sources">
      <h2>Data sources</h2>
      {error && <p role="alert">{error.message}</p>}
      <ul>
        {data?.dataSources.nodes.map(({ id, name, indexStatus, indexPercentage, errorMessage }) => (
          <li key={id}>
            {name}: {indexStatus} <progress max={100} value={indexPercentage} title={`${indexPercentage} %`} />
            {errorMessage && <p role="alert">{errorMessage}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
