import { ScrollText } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useList } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { AuditFilters, type AuditWishes, noWishes, toFilter } from './AuditFilters.tsx';
import { AuditRow, ReadsRow } from './AuditRow.tsx';
import { AuditLogDocument } from './documents.ts';
import { foldReads, useFilledPage } from './folded-reads.ts';

/** Who did what in the organization. */
export function AuditLog() {
  const { t } = useText();
  const [, go] = useLocation();
  const targetId = new URLSearchParams(useSearch()).get('target');
  const [wishes, setWishes] = useState<AuditWishes>(noWishes);
  const filter = { ...toFilter(wishes), targetId };
  const { error, isLoading, reload, pages, isEmpty } = useList(AuditLogDocument, { filter }, (data) => data.auditLog);
  const groups = useMemo(() => foldReads(pages.nodes), [pages.nodes]);
  useFilledPage(pages, groups.length);
  const isFiltered = targetId !== null || wishes !== noWishes;
  return (
    <PeoplePage
      title={t('Audit log')}
      lead={t('Who changed what, which administrator read what others have, and what was refused.')}
      actions={<Button onClick={reload}>{t('Look for new entries')}</Button>}
    >
      <AuditFilters wishes={wishes} onChange={setWishes} />
      {targetId === null ? null : (
        <div>
          <Button size="small" onClick={() => go('/administration/audit')}>
            {t('Only one thing is shown. Show everything')}
          </Button>
        </div>
      )}
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={8} /> : null}
      {isEmpty ? (
        <EmptyState
          icon={<ScrollText size={26} aria-hidden />}
          title={isFiltered ? t('No entry fits') : t('Nothing has happened yet')}
        >
          {isFiltered
            ? t('Take a filter away to see more.')
            : t('Every change of people, agents, knowledge and settings is written here.')}
        </EmptyState>
      ) : null}
      {pages.nodes.length === 0 ? null : (
        <ol className={styles.rows} aria-label={t('Entries')}>
          {groups.map(({ id, entries }) =>
            entries.length === 1 ? (
              entries.map((entry) => <AuditRow key={id} entry={entry} />)
            ) : (
              <ReadsRow key={id} entries={entries} />
            ),
          )}
        </ol>
      )}
      <ShowMore pages={pages} />
    </PeoplePage>
  );
}
