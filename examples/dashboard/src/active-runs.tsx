import { documents } from '@parley/client';
import { typed } from './client.ts';
import { useAgentNames } from './use-agent-names.ts';
import { useLive } from './use-live.ts';

const query = typed(documents.ActiveRunsDocument);
const changes = typed(documents.RunsChangedDocument);

/** The runs that are not over. */
export function ActiveRuns() {
  const { data, error } = useLive(query, {}, changes);
  const nameOf = useAgentNames();
  return (
    <section id="runs">
      <h2>Active runs: {data?.activeRuns.length ?? '…'}</h2>
      {error && <p role="alert">{error.message}</p>}
      <ul>
        {data?.activeRuns.map(({ id, agentId, modelId, status, createdAt }) => (
          <li key={id}>
            {agentId === null ? modelId : nameOf(agentId)}, {status} since {new Date(createdAt).toLocaleTimeString()}
          </li>
        ))}
      </ul>
    </section>
  );
}
