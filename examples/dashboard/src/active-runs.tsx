import { documents } from '@parley/client';
import { useSubscription } from 'urql';
import { typed } from './client.ts';
import { useAgentNames } from './use-agent-names.ts';

const query = typed(documents.RunsUpdatedDocument);

/** The runs that are not over. Each event is the whole list, so the newest one is all there is to show. */
export function ActiveRuns() {
  const [{ data, error }] = useSubscription({ query });
  const nameOf = useAgentNames();
  return (
    <section id="runs">
      <h2>Active runs: {data?.runsUpdated.length ?? '…'}</h2>
      {error && <p role="alert">{error.message}</p>}
      <ul>
        {data?.runsUpdated.map(({ id, agentId, modelId, status, createdAt }) => (
          <li key={id}>
            {agentId === null ? modelId : nameOf(agentId)}, {status} since {new Date(createdAt).toLocaleTimeString()}
          </li>
        ))}
      </ul>
    </section>
  );
}
