import { documents } from '@parley/client';
import { useState } from 'react';
import { typed } from './client.ts';
import { compact, count } from './format.ts';
import { Panel } from './parts.tsx';
import { useLive } from './use-live.ts';

const query = typed(documents.UsageQueryDocument);
const changes = typed(documents.UsageSubscriptionDocument);
const groupings = { agents: 'Agents', models: 'Models', users: 'People' } as const;
type Usage = documents.UsageQuery['usage'];

/** Tokens of the period of the limits, by agent, model or person. */
export function UsageShares() {
  const { data, error } = useLive(query, {}, changes);
  const [by, choose] = useState<keyof typeof groupings>('agents');
  const usage = data?.usage;
  const rows = usage === undefined ? [] : rowsOf(usage, by);
  const most = Math.max(1, ...rows.map(({ tokens }) => tokens));
  return (
    <Panel
      id="usage"
      title={`Tokens used: ${usage ? count(usage.apiTokensUsed) : '…'}`}
      error={error}
      aside={
        <fieldset className="choice">
          <legend>By</legend>
          {Object.entries(groupings).map(([value, name]) => (
            <label key={value}>
              <input type="radio" name="by" checked={by === value} onChange={() => choose(value as keyof typeof groupings)} />
              {name}
            </label>
          ))}
        </fieldset>
      }
    >
      {usage?.apiUsageTokenLimit != null && <Limit used={usage.apiTokensUsed} limit={usage.apiUsageTokenLimit} />}
      {usage && rows.length === 0 && <p className="empty">Nothing was used yet.</p>}
      <ol className="bars">
        {rows.map(({ id, name, tokens }) => (
          <li key={id} style={{ '--share': tokens / most } as React.CSSProperties}>
            <span>{name}</span> <b>{count(tokens)}</b>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function Limit({ used, limit }: { used: number; limit: number }) {
  return (
    <p>
      <meter max={limit} high={limit * 0.8} value={used} aria-label="Of the limit" /> of {compact(limit)}
    </p>
  );
}

function rowsOf(usage: Usage, by: keyof typeof groupings) {
  if (by === 'agents') {
    return usage.agents.nodes.map(({ agent, apiTokensUsed: tokens }, index) => ({
      id: agent?.id ?? String(index),
      name: agent?.name ?? 'An agent that you may not see',
      tokens,
    }));
  }
  if (by === 'models')
    return usage.models.nodes.map(({ modelId, apiTokensUsed: tokens }) => ({ id: modelId, name: modelId, tokens }));
  return usage.users.nodes.map(({ user, apiTokensUsed: tokens }, index) => ({
    id: user?.id ?? String(index),
    name: user?.name ?? 'Somebody who left',
    tokens,
  }));
}
