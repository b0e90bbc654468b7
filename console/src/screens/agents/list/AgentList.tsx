import { Bot, LayoutGrid, Plus, Rows3, Upload } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { run } from '../../../graphql/client.ts';
import { useLiveReload, useMorePages, usePage } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { SearchInput, Select } from '../../../ui/form/field.tsx';
import { Page, Toolbar } from '../../../ui/page.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import { AgentGallery } from './AgentGallery.tsx';
import { AgentTable } from './AgentTable.tsx';
import {
  type AgentCardFragment,
  AgentListChangedDocument,
  AgentListDocument,
  type AgentListQuery,
  type AgentListScope,
  MoreAgentsDocument,
} from './documents.ts';
import { ImportAgent } from './ImportAgent.tsx';
import styles from './list.module.css';
import { NewAgent } from './NewAgent.tsx';

const viewStoredAs = 'parley.agents.view';

/** All agents that the reader may use, as cards or as a table. */
export function AgentList() {
  const { t } = useText();
  const session = useSession();
  const [, go] = useLocation();
  const isNewAsked = new URLSearchParams(useSearch()).has('new');
  const [isImporting, setImporting] = useState(false);
  const [view, setView] = useState(() => localStorage.getItem(viewStoredAs) ?? 'gallery');
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim());
  const [scope, setScope] = useState<AgentListScope>('ALL');
  const [categoryId, setCategory] = useState('');
  const filter = { scope, ...(search === '' ? {} : { search }), ...(categoryId === '' ? {} : { categoryId }) };
  const isTable = view === 'table';
  const { data, error, isLoading, reload } = usePage(AgentListDocument, { filter, isTable });
  useLiveReload(AgentListChangedDocument, {}, reload);
  const pages = useMorePages<AgentCardFragment>(
    data?.agents,
    async (after) => (await run(MoreAgentsDocument, { after, filter, isTable })).agents,
  );
  const choose = (next: 'gallery' | 'table') => {
    localStorage.setItem(viewStoredAs, next);
    setView(next);
  };
  const mayWrite = session.may('AGENTS_WRITE');
  const isNarrowed = search !== '' || scope !== 'ALL' || categoryId !== '';
  const isEmpty = data !== undefined && pages.nodes.length === 0 && !isNarrowed;
  const newAgent = (
    <Button variant="primary" icon={<Plus size={17} aria-hidden />} onClick={() => go('/agents?new')}>
      {t('New agent')}
    </Button>
  );
  return (
    <Page
      title={t('Agents')}
      lead={t('Assistants with instructions, knowledge and tools of their own.')}
      actions={
        mayWrite ? (
          <>
            <Button icon={<Upload size={16} aria-hidden />} onClick={() => setImporting(true)}>
              {t('Import')}
            </Button>
            {isEmpty ? null : newAgent}
          </>
        ) : undefined
      }
    >
      <Toolbar>
        <SearchInput label={t('Search agents')} value={typed} onChange={setTyped} />
        <ScopeSelect value={scope} onChange={setScope} />
        {(data?.agentCategories.length ?? 0) > 0 ? (
          <CategorySelect categories={data?.agentCategories ?? []} value={categoryId} onChange={setCategory} />
        ) : null}
        <ListView totals={data?.agents} isTable={isTable} onChoose={choose} />
      </Toolbar>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={8} /> : null}
      {data !== undefined && pages.nodes.length === 0 ? (
        <NoAgents isNarrowed={isNarrowed} action={mayWrite ? newAgent : undefined} />
      ) : null}
      {pages.nodes.length === 0 ? null : isTable ? (
        <AgentTable agents={pages.nodes} currency={data?.viewer.costCurrency ?? 'USD'} />
      ) : (
        <AgentGallery agents={pages.nodes} categories={data?.agentCategories ?? []} />
      )}
      <ShowMore pages={pages} />
      {isNewAsked && mayWrite ? <NewAgent onClose={() => go('/agents', { replace: true })} /> : null}
      {isImporting ? <ImportAgent onClose={() => setImporting(false)} /> : null}
    </Page>
  );
}

function CategorySelect({
  categories,
  value,
  onChange,
}: {
  readonly categories: AgentListQuery['agentCategories'];
  /** '' for all. */
  readonly value: string;
  readonly onChange: (categoryId: string) => void;
}) {
  const { t } = useText();
  return (
    <Select aria-label={t('Category')} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{t('All categories')}</option>
      {categories.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  );
}

function ScopeSelect({
  value,
  onChange,
}: {
  readonly value: AgentListScope;
  readonly onChange: (scope: AgentListScope) => void;
}) {
  const { t } = useText();
  return (
    <Select aria-label={t('Whose agents')} value={value} onChange={(event) => onChange(getScope(event.target.value))}>
      <option value="ALL">{t('All agents')}</option>
      <option value="OWNED">{t('Mine')}</option>
      <option value="SHARED">{t('Shared with me')}</option>
      <option value="ORGANIZATION">{t('Of the organization')}</option>
    </Select>
  );
}

/** How many agents there are, and whether they are shown as cards or as a table. */
function ListView({
  totals,
  isTable,
  onChoose,
}: {
  readonly totals: AgentListQuery['agents'] | undefined;
  readonly isTable: boolean;
  readonly onChoose: (view: 'gallery' | 'table') => void;
}) {
  const { t, number } = useText();
  return (
    <div className={styles.views}>
      {totals?.totalCount == null ? null : (
        <span className={styles.count}>
          {totals.isTotalCountExact === false
            ? t('More than {count} agents', { count: number(totals.totalCount) })
            : t('{count, plural, one {# agent} other {# agents}}', { count: totals.totalCount })}
        </span>
      )}
      <IconButton label={t('Cards')} isActive={!isTable} onClick={() => onChoose('gallery')}>
        <LayoutGrid size={18} aria-hidden />
      </IconButton>
      <IconButton label={t('Table')} isActive={isTable} onClick={() => onChoose('table')}>
        <Rows3 size={18} aria-hidden />
      </IconButton>
    </div>
  );
}

function NoAgents({ isNarrowed, action }: { readonly isNarrowed: boolean; readonly action: ReactNode }) {
  const { t } = useText();
  return isNarrowed ? (
    <EmptyState icon={<Bot size={26} aria-hidden />} title={t('No agent fits')}>
      {t('Search for another word, or look at all agents.')}
    </EmptyState>
  ) : (
    <EmptyState icon={<Bot size={26} aria-hidden />} title={t('Make your first agent')} action={action}>
      {t(
        'An agent answers by your instructions: give it knowledge to cite and tools to call, try it beside the editor, then share it.',
      )}
    </EmptyState>
  );
}

function getScope(value: string): AgentListScope {
  return value === 'OWNED' || value === 'SHARED' || value === 'ORGANIZATION' ? value : 'ALL';
}
