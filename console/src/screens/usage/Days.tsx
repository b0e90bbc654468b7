import { Download } from 'lucide-react';
import { lazy, Suspense, useMemo } from 'react';
import { Link, useSearch } from 'wouter';
import { useText } from '../../text/text.ts';
import { formatCost } from '../../ui/cost.ts';
import { Button } from '../../ui/form/button.tsx';
import { Section, Table } from '../../ui/page.tsx';
import { download, writeCsv } from './csv.ts';
import type { UsageLedgerQuery, UsageOfRunsQuery } from './documents.ts';
import { countTokens, readCost, type UsageRow } from './rows.ts';
import styles from './usage.module.css';
import { buildAddress, listDays, type Measure, measures, type UsageView } from './view.ts';

const Plot = lazy(() => import('./Plot.tsx').then(({ Plot: plot }) => ({ default: plot })));

/** The days of the range as bars, and the same numbers as a table. */
export function Days({
  view,
  runs,
  ledger,
}: {
  readonly view: UsageView;
  readonly runs: UsageOfRunsQuery | undefined;
  readonly ledger: UsageLedgerQuery | undefined;
}) {
  const { t, number, date } = useText();
  const search = useSearch();
  const hasRuns = runs !== undefined;
  // Cost says nothing where no model has a price.
  const rows = useMemo(() => buildDayRows(view, runs, ledger), [view, runs, ledger]);
  const isPriced = rows.some((row) => (readCost(row) ?? 0) > 0);
  const shownMeasures = hasRuns ? measures : measures.filter((each) => each !== 'runs');
  const measure = shownMeasures.find((each) => each === view.measure) ?? (isPriced ? 'cost' : 'tokens');
  const currency = ledger?.viewer.costCurrency ?? 'USD';
  const values = useMemo(() => rows.map((row) => getBarValue(row, measure)), [rows, measure]);
  const words = { cost: t('Cost'), tokens: t('Tokens'), runs: t('Runs') };
  const format = (value: number) => (measure === 'cost' ? formatCost(value, currency, number) : number(value));
  const dayWords = (day: string) => date(day, { dateStyle: 'medium', timeZone: 'UTC' });
  const tickWords = (day: Date) => date(day, { day: 'numeric', month: 'short', timeZone: 'UTC' });
  return (
    <Section
      title={t('By day')}
      actions={
        <>
          <nav className={styles.choice} aria-label={t('What is shown')}>
            {shownMeasures.map((each) => (
              <Link
                key={each}
                href={buildAddress(search, { measure: each })}
                replace
                aria-current={each === measure ? 'true' : undefined}
              >
                {words[each]}
              </Link>
            ))}
          </nav>
          <Button size="small" icon={<Download size={15} aria-hidden />} onClick={() => saveDays(view, rows, currency)}>
            {t('CSV of the days')}
          </Button>
        </>
      }
    >
      <figure
        className={styles.plot}
        aria-label={t('{measure} by day: the numbers are in the table below', { measure: words[measure] })}
      >
        <Suspense fallback={null}>
          <Plot
            days={rows.map(({ id }) => id ?? '')}
            values={values}
            format={format}
            formatDay={dayWords}
            formatTick={tickWords}
          />
        </Suspense>
      </figure>
      <details className={styles.numbers}>
        <summary>{t('The days as a table')}</summary>
        <DayTable rows={rows} currency={currency} dayWords={dayWords} zone={ledger?.viewer.organization.timeZone ?? 'UTC'} />
      </details>
    </Section>
  );
}

function DayTable({
  rows,
  currency,
  dayWords,
  zone,
}: {
  readonly rows: readonly UsageRow[];
  readonly currency: string;
  readonly dayWords: (day: string) => string;
  /** By whose clock the ledger counts days. */
  readonly zone: string;
}) {
  const { t, number } = useText();
  return (
    <Table label={t('Usage by day')}>
      <thead>
        <tr>
          <th scope="col">{t('Day ({zone})', { zone })}</th>
          <th scope="col" className={styles.number}>
            {t('Runs')}
          </th>
          <th scope="col" className={styles.number}>
            {t('Tokens')}
          </th>
          <th scope="col" className={styles.number}>
            {t('Cost')}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <th scope="row">{dayWords(row.id ?? '')}</th>
            <td className={styles.number}>{row.figures === undefined ? '–' : number(row.figures.runCount)}</td>
            <td className={styles.number}>{number(countTokens(row))}</td>
            <td className={styles.number}>{formatCost(readCost(row) ?? 0, currency, number)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function saveDays(view: UsageView, rows: readonly UsageRow[], currency: string): void {
  download(
    `usage-by-day-${view.from}-${view.to}.csv`,
    writeCsv([
      [
        ...['Day', 'Runs', 'Failed', 'Input tokens', 'Output tokens', `Cost (${currency})`, 'Indexing tokens'],
        ...['Input tokens from caches', 'Input tokens into caches', 'Tokens'],
      ],
      ...rows.map(({ figures, dataTokens, ...row }) => [
        row.id,
        figures?.runCount ?? null,
        figures?.failedCount ?? null,
        figures?.inputTokens ?? null,
        figures?.outputTokens ?? null,
        readCost({ figures, ...row }) ?? null,
        dataTokens,
        figures?.cachedTokens ?? null,
        figures?.cacheWriteTokens ?? null,
        countTokens({ figures, ...row }),
      ]),
    ]),
  );
}

const noFigures = {
  ...{ runCount: 0, failedCount: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0 },
  ...{ cost: 0, unpricedCount: 0 },
};

/** A row for each day, those without use too. */
function buildDayRows(
  view: UsageView,
  runs: UsageOfRunsQuery | undefined,
  ledger: UsageLedgerQuery | undefined,
): readonly UsageRow[] {
  const figures = new Map(runs?.days.groups.map((group) => [group.startsAt?.slice(0, 10), group.figures]));
  const counted = new Map((ledger?.ownDays ?? ledger?.usage.days)?.nodes.map((day) => [day.day, day]));
  return listDays(view).map((day) => ({
    id: day,
    name: day,
    figures: runs === undefined ? undefined : (figures.get(day) ?? noFigures),
    runTokens: counted.get(day)?.apiTokensUsed,
    ledgerCost: counted.get(day)?.cost,
    dataTokens: counted.get(day)?.dataTokensUsed ?? 0,
  }));
}

/** What a bar shows. */
export function getBarValue(row: UsageRow, measure: Measure): number {
  if (measure === 'tokens') return countTokens(row);
  return (measure === 'cost' ? readCost(row) : row.figures?.runCount) ?? 0;
}
