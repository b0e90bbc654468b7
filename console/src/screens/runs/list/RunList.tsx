import { SquareActivity } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Link, useSearch } from 'wouter';
import { useList, useLiveReload, usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../ui/form/button.tsx';
import { Section, Toolbar } from '../../../ui/page.tsx';
import { RunningRunsDocument, RunsChangedDocument, RunsDocument } from '../documents.ts';
import { useRepeat } from '../elapsed.ts';
import { besideCount, RunTable, type TableRun } from '../RunTable.tsx';
import { buildAddress, readView, toFilter } from '../view.ts';
import { Filters } from './Filters.tsx';

/** How often the tokens of runs that go on are asked for: nothing tells them in a list. */
const usageEveryMs = 4_000;

/** The runs that go on, and the history of the others, narrowed by what the address says. */
export function RunList() {
  const { t } = useText();
  const search = useSearch();
  const view = useMemo(() => readView(search), [search]);
  const filter = useMemo(() => toFilter(view), [view]);
  const page = useList(RunsDocument, { filter }, (data) => data.runs);
  // Whoever asks for a state or for the past finds the runs in the one table.
  const showsRunning = view.status === undefined && view.until === undefined && view.feedback === undefined;
  const active = useMemo(() => ({ ...filter, since: null, status: 'IN_PROGRESS' as const }), [filter]);
  const runningPage = usePage(RunningRunsDocument, { filter: active }, { pause: !showsRunning });
  const reload = () => {
    page.reload();
    if (showsRunning) runningPage.reload();
  };
  useLiveReload(RunsChangedDocument, {}, reload);
  const activeRuns = showsRunning ? (runningPage.data?.runs.nodes ?? []) : [];
  useRepeat(runningPage.reload, usageEveryMs, activeRuns.length > 0);
  const more = page.pages;
  const past = showsRunning ? more.nodes.filter(({ status }) => status !== 'IN_PROGRESS') : more.nodes;
  const currency = page.data?.viewer.costCurrency ?? 'USD';
  const isFiltered = search !== '';
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const choosing = {
    chosen,
    onChoose: (id: string, isChosen: boolean) =>
      setChosen((current) => (isChosen ? [...current, id] : current.filter((each) => each !== id))),
  };
  return (
    <>
      <Filters view={view} />
      <ErrorNote error={page.error} onRetry={page.reload} />
      <ErrorNote error={runningPage.error} onRetry={runningPage.reload} />
      {chosen.length === 0 ? null : <ChosenRuns chosen={chosen} onClear={() => setChosen([])} />}
      {activeRuns.length === 0 ? null : (
        <Section
          title={t('Running now')}
          actions={
            runningPage.data?.runs.pageInfo.hasNextPage === true ? (
              <Link href={buildAddress(search, { status: 'IN_PROGRESS' })}>{t('Show all that are running')}</Link>
            ) : null
          }
        >
          <RunTable
            label={t('Running now')}
            runs={activeRuns.map(withUsageSoFar)}
            currency={currency}
            {...choosing}
            onStopped={reload}
          />
        </Section>
      )}
      {page.isLoading ? <Skeleton lines={8} /> : null}
      {past.length > 0 ? (
        <Section title={activeRuns.length === 0 ? t('History') : t('Before')}>
          <RunTable label={t('History')} runs={past} currency={currency} {...choosing} onStopped={reload} />
        </Section>
      ) : null}
      <ShowMore pages={more} />
      {page.data !== undefined && past.length + activeRuns.length === 0 && !more.hasMore ? (
        isFiltered ? (
          <EmptyState title={t('No matching runs')} action={<ButtonLink href="/runs">{t('Clear the filters')}</ButtonLink>}>
            {t('No runs match all of your filters.')}
          </EmptyState>
        ) : (
          <NothingRan />
        )
      ) : null}
    </>
  );
}

/** What is done with the runs that were chosen. */
function ChosenRuns({ chosen, onClear }: { readonly chosen: readonly string[]; readonly onClear: () => void }) {
  const { t } = useText();
  const [one = '', other = ''] = chosen;
  return (
    <Toolbar>
      {chosen.length < besideCount ? (
        <span>{t('Choose another run to compare it with.')}</span>
      ) : (
        <ButtonLink variant="primary" href={`/runs/beside?${new URLSearchParams({ one, other })}`}>
          {t('Compare these')}
        </ButtonLink>
      )}
      <Button variant="quiet" onClick={onClear}>
        {t('Choose none')}
      </Button>
    </Toolbar>
  );
}

function NothingRan() {
  const { t } = useText();
  return (
    <EmptyState
      icon={<SquareActivity aria-hidden />}
      title={t('No runs yet')}
      action={
        <ButtonLink href="/" variant="primary">
          {t('Ask something')}
        </ButtonLink>
      }
    >
      {t(
        'Each answer in a chat and each call of the API is a run. Here you see it while it goes on, what it did, and what it cost.',
      )}
    </EmptyState>
  );
}

type RunningRun = TableRun & {
  readonly steps: readonly ({ readonly __typename: string } & {
    readonly cost?: number | null;
    readonly usage?: { readonly totalTokens: number } | null;
  })[];
};

/** A run that goes on has no sums yet: those of its calls of models until now. */
function withUsageSoFar({ steps, ...row }: RunningRun): TableRun {
  const calls = steps.filter(({ usage }) => usage !== undefined && usage !== null);
  if (row.usage !== null || calls.length === 0) return row;
  const isPriced = calls.every(({ cost }) => typeof cost === 'number');
  return {
    ...row,
    usage: { totalTokens: calls.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0) },
    cost: isPriced ? calls.reduce((sum, { cost }) => sum + (cost ?? 0), 0) : row.cost,
  };
}
