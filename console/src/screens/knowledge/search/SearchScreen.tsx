import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { usePage } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, Skeleton } from '../../../ui/feedback.tsx';
import { SearchInput } from '../../../ui/form/field.tsx';
import { SelectField } from '../../../ui/form/fields.tsx';
import { Page } from '../../../ui/page.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import { AgentChoiceDocument } from '../documents.ts';
import { KnowledgeTabs } from '../Tabs.tsx';
import { TryQuestion } from './TryQuestion.tsx';

/** Tries a question on all knowledge of an agent. */
export function SearchScreen() {
  const { t } = useText();
  const { may } = useSession();
  const [, go] = useLocation();
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim());
  const queryAgentId = new URLSearchParams(useSearch()).get('agent');
  const { data, error, isLoading, reload } = usePage(
    AgentChoiceDocument,
    { search: search === '' ? null : search },
    { pause: !may('AGENTS_READ') },
  );
  const agents = data?.agents.nodes ?? [];
  const hasMany = data?.agents.pageInfo.hasNextPage === true || typed !== '';
  const agent = agents.find(({ id }) => id === queryAgentId) ?? agents[0];
  return (
    <Page
      title={t('Knowledge')}
      lead={t('See which passages an agent would answer from, and why. No model is asked, and nobody else sees it.')}
    >
      <KnowledgeTabs current="/knowledge/search" />
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton /> : null}
      {hasMany ? <SearchInput label={t('Search agents')} value={typed} onChange={setTyped} /> : null}
      {data !== undefined && agent === undefined && !hasMany ? (
        <EmptyState title={t('There is no agent to ask')}>{t('Make one under Agents, and give it knowledge.')}</EmptyState>
      ) : null}
      {agent === undefined ? null : (
        <>
          <SelectField
            label={t('Agent')}
            value={agent.id}
            onChange={(value) => go(`/knowledge/search?agent=${value}`, { replace: true })}
            options={agents.map(({ id, name }) => ({ value: id, label: name }))}
          />
          <TryQuestion key={agent.id} place={{ agentId: agent.id }} agents={[agent]} />
        </>
      )}
    </Page>
  );
}
