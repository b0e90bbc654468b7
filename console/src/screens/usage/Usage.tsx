import { ChartColumn } from 'lucide-react';
import { useMemo } from 'react';
import { useSearch } from 'wouter';
import { useLiveReload, usePage } from '../../graphql/hooks.ts';
import { OwnBudgets } from '../../parts/budgets/OwnBudgets.tsx';
import { useSession } from '../../parts/session/session.tsx';
import { useText } from '../../text/text.ts';
import { EmptyState, ErrorNote, Note, Skeleton } from '../../ui/feedback.tsx';
import { ButtonLink } from '../../ui/form/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Days } from './Days.tsx';
import { UsageChangedDocument, UsageLedgerDocument, UsageLimitsDocument, UsageOfRunsDocument } from './documents.ts';
import { Limits } from './Limits.tsx';
import { Parts } from './Parts.tsx';
import { Range } from './Range.tsx';
import { Totals } from './Totals.tsx';
import { getPeriod, groupings, readView, toLedger } from './view.ts';

/** Sums are read from many rows: not more often than this. */
const reloadEveryMs = 3_000;

/** What was used and what it cost: by day, and by agent, person, key or model. */
export function Usage() {
  const { t } = useText();
  const { viewer, may } = useSession();
  const search = useSearch();
  const view = useMemo(() => readView(search), [search]);
  const { since, until } = getPeriod(view);
  const runs = usePage(UsageOfRunsDocument, { filter: { since, until }, by: groupings[view.by] }, { pause: !may('CHATS_READ') });
  const isMember = viewer.role === 'MEMBER';
  const ledger = usePage(UsageLedgerDocument, {
    ...{ userId: viewer.user.id, isOwn: isMember },
    ...{ from: since, to: until, ...toLedger(view.by) },
  });
  const limits = usePage(UsageLimitsDocument, {});
  const reload = () => {
    if (may('CHATS_READ')) runs.reload();
    ledger.reload();
    limits.reload();
  };
  useLiveReload(UsageChangedDocument, {}, reload, { pauseMs: reloadEveryMs });
  const total = runs.data?.days.total;
  const used = ledger.data?.usage;
  const isEmpty = total?.runCount === 0 && used?.apiTokensUsed === 0 && used.dataTokensUsed === 0 && used.cost === 0;
  return (
    <Page
      title={t('Usage')}
      lead={
        isMember
          ? t('What you used and what it cost by day; below also the runs of agents that you may edit.')
          : t('What everybody in your organization used, and what it cost.')
      }
    >
      <Range view={view} />
      <ErrorNote error={runs.error ?? ledger.error} onRetry={reload} />
      {limits.data === undefined ? null : <Limits limits={limits.data.viewer.limits} />}
      <OwnBudgets />
      {runs.data?.days.isComplete === false ? (
        <Note tone="warn">{t('There were too many runs to count all: these are the newest. Choose a shorter time.')}</Note>
      ) : null}
      {total === undefined || total.unpricedCount === 0 ? null : (
        <Note>
          {t(
            '{count, plural, one {# run used a model without a price: what it cost is not counted.} other {# runs used models without a price: what they cost is not counted.}}',
            { count: total.unpricedCount },
          )}
        </Note>
      )}
      {runs.isLoading || ledger.isLoading ? <Skeleton lines={8} /> : null}
      {isEmpty ? (
        <EmptyState
          icon={<ChartColumn aria-hidden />}
          title={t('No usage in this period')}
          action={
            <ButtonLink href="/" variant="primary">
              {t('Ask something')}
            </ButtonLink>
          }
        >
          {t(
            'Each answer uses tokens of a model. How many, and what they cost, stands here by day, agent, person, key and model.',
          )}
        </EmptyState>
      ) : (
        <>
          <Totals runs={runs.data} ledger={ledger.data} />
          <Days view={view} runs={runs.data} ledger={ledger.data} />
          <Parts view={view} runs={runs.data} ledger={ledger.data} />
        </>
      )}
    </Page>
  );
}
