import { documents } from '@parley/client';
import { typed } from './client.ts';
import { count } from './format.ts';
import { Panel, Status } from './parts.tsx';
import { useLive } from './use-live.ts';

const query = typed(documents.DataSourcesDocument);
const changes = typed(documents.DataSourcesChangedDocument);

/** The newest sources, also those that are added while one looks, and their progress. */
export function DataSources() {
  const { data, error } = useLive(query, { first: 20 }, changes);
  return (
    <Panel id="sources" title="Data sources" error={error}>
      {data?.dataSources.nodes.length === 0 && (
        <p className="empty">No knowledge yet. Add a file, a site or a drive to an agent.</p>
      )}
      <ul className="plain">
        {data?.dataSources.nodes.map(({ id, name, indexStatus, indexPercentage, errorMessage, statistics }) => (
          <li key={id}>
            <span>{name}</span> <Status value={indexStatus} />
            <progress max={100} value={indexPercentage} aria-label={`${name}: ${indexPercentage} %`} />
            <small>
              {count(statistics.doneCount)} of {count(statistics.totalCount)} items
              {statistics.failedCount > 0 && `, ${count(statistics.failedCount)} failed`}
            </small>
            {errorMessage && <p role="alert">{errorMessage}</p>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
