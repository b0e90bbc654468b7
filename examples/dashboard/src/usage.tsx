import { documents } from '@parley/client';
import { useSubscription } from 'urql';
import { typed } from './client.ts';
import { useAgentNames } from './use-agent-names.ts';

const query = typed(documents.UsageChangedDocument);

/** What the organization and its agents used. The whole report comes at once, and when it changed, at most once a second. */
export function Usage() {
  const [{ data, error }] = useSubscription({ query });
  const nameOf = useAgentNames();
  const { organization, agents } = data?.usageChanged.node ?? {};
  return (
    <section id="usage">
      <h2>Tokens used: {organization?.apiTokensUsed.toLocaleString() ?? '…'}</h2>
      {error && <p role="alert">{error.message}</p>}
      {organization?.apiUsageTokenLimit != null && (
        <meter max={organization.apiUsageTokenLimit} value={organization.apiTokensUsed} title="of the limit" />
      )}
      <table>
        <tbody>
          {agents?.map(({ agentId, apiTokensUsed }) => (
            <tr key={agentId}>
              <th scope="row">{nameOf(agentId)}</th>
              <td>{apiTokensUsed.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
