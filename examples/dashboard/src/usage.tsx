import { documents } from '@parley/client';
import { useSubscription } from 'urql';
import { typed } from './client.ts';

const query = typed(documents.UsageChangedDocument);

/** What the organization and its agents used. The whole report comes at once, and when it changed, at most once a second. */
export function Usage() {
  const [{ data, error }] = useSubscription({ query });
  const report = data?.usageChanged.node;
  return (
    <section id="usage">
      <h2>Tokens used: {report?.apiTokensUsed.toLocaleString() ?? '…'}</h2>
      {error && <p role="alert">{error.message}</p>}
      {report?.apiUsageTokenLimit != null && (
        <meter max={report.apiUsageTokenLimit} value={report.apiTokensUsed} title="of the limit" />
      )}
      <table>
        <tbody>
          {report?.agents.nodes.map(({ agentId, agent, apiTokensUsed }) => (
            <tr key={agentId}>
              <th scope="row">{agent?.name ?? agentId}</th>
              <td>{apiTokensUsed.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
