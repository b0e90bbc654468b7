import type { ParleyError } from '@parley/client';
import { Download } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link, useSearch } from 'wouter';
import { readableError } from '../../graphql/client.ts';
import { useSession } from '../../parts/session/session.tsx';
import { type Text, useText } from '../../text/text.ts';
import { formatCost } from '../../ui/cost.ts';
import { ErrorNote } from '../../ui/feedback.tsx';
import { Button } from '../../ui/form/button.tsx';
import { Section, Table } from '../../ui/page.tsx';
import { TabLinks } from '../../ui/tabs.tsx';
import { download, writeCsv } from './csv.ts';
import type { UsageLedgerQuery, UsageOfRunsQuery } from './documents.ts';
import { allRows, buildRows, countTokens, getLedgerPage, readCost, type UsageRow } from './rows.ts';
import styles from './usage.module.css';
import { buildAddress, type Part, parts, type UsageView } from './view.ts';

const partWords = (t: Text['t']): Readonly<Record<Part, string>> => ({
  agent: t('Agents'),
  person: t('People'),
  key: t('Keys'),
  model: t('Models'),
});

/** Runs are listed in full for so many; what the ledger knows besides is brought on demand. */
const groupsMax = 100;

/** The range by agent, person, key or model: bars in a table, the dearest first. */
export function Parts({
  view,
  runs,
  ledger,
}: {
  readonly view: UsageView;
  readonly runs: UsageOfRunsQuery | undefined;
  readonly ledger: UsageLedgerQuery | undefined;
}) {
  const { t } = useText();
  const { viewer } = useSession();
  const search = useSearch();
  const page = getLedgerPage(ledger?.usage);
  // Of a member, the ledger also knows what others used of shared agents and models: that is not among the runs that the member sees.
  const withLedger = viewer.role !== 'MEMBER' || runs === undefined || view.by === 'person' || view.by === 'key';
  const visibleRows = buildRows(runs?.parts.groups, page.rows, { by: view.by, withLedger });
  const [further, setFurther] = useState<readonly UsageRow[]>();
  const [error, setError] = useState<ParleyError>();
  const [isBusy, setBusy] = useState(false);
  const key = `${view.by} ${view.from} ${view.to}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was brought belongs to one list
  useEffect(() => setFurther(undefined), [key]);
  const rowIds = new Set(visibleRows.map(({ id }) => id));
  const rows = [...visibleRows, ...(further ?? []).filter(({ id }) => !rowIds.has(id))];
  const hasMore = withLedger && further === undefined && (page.hasNextPage || (runs?.parts.groups.length ?? 0) >= groupsMax);
  const currency = ledger?.viewer.costCurrency ?? 'USD';
  const bring = async (): Promise<readonly UsageRow[] | undefined> => {
    if (!hasMore) return rows;
    setBusy(true);
    setError(undefined);
    try {
      const all = await allRows(visibleRows, page, view, { userId: viewer.user.id, isOwn: viewer.role === 'MEMBER' });
      setFurther(all);
      return all;
    } catch (cause) {
      setError(readableError(cause));
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  const save = async () => {
    const all = await bring();
    if (all !== undefined) download(`usage-by-${view.by}-${view.from}-${view.to}.csv`, partsCsv(all, view.by, currency));
  };
  return (
    <Section
      title={t('By agent, person, key and model')}
      actions={
        <Button size="small" icon={<Download size={15} aria-hidden />} isBusy={isBusy} onClick={() => void save()}>
          {t('Download CSV')}
        </Button>
      }
    >
      <TabLinks
        label={t('What usage is counted by')}
        current={buildAddress(search, { by: view.by })}
        tabs={parts.map((part) => ({ href: buildAddress(search, { by: part }), label: partWords(t)[part] }))}
      />
      <ErrorNote error={error} onRetry={() => void bring()} />
      <PartTable view={view} rows={rows} currency={currency} />
      {hasMore ? (
        <div className={styles.more}>
          <Button isBusy={isBusy} onClick={() => void bring()}>
            {t('Show all')}
          </Button>
        </div>
      ) : null}
    </Section>
  );
}

function PartTable({
  view,
  rows,
  currency,
}: {
  readonly view: UsageView;
  readonly rows: readonly UsageRow[];
  readonly currency: string;
}) {
  const { t, number } = useText();
  const words = partWords(t)[view.by];
  // Where nothing has a price, the bars show tokens.
  const hasCost = rows.some((row) => (readCost(row) ?? 0) > 0);
  const getBarValue = (row: UsageRow) => (hasCost ? (readCost(row) ?? 0) : countTokens(row));
  const most = Math.max(0, ...rows.map(getBarValue));
  const hasIndexing = rows.some(({ dataTokens }) => dataTokens > 0);
  if (rows.length === 0) return <p className={styles.quiet}>{t('No usage in this period.')}</p>;
  return (
    <Table label={t('Usage: {part}', { part: words })}>
      <thead>
        <tr>
          <th scope="col">{words}</th>
          <th scope="col" className={styles.number}>
            {t('Runs')}
          </th>
          <th scope="col" className={styles.number}>
            {t('Tokens')}
          </th>
          {hasIndexing ? (
            <th scope="col" className={styles.number}>
              {t('Tokens of indexing')}
            </th>
          ) : null}
          <th scope="col" className={styles.number}>
            {t('Cost')}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id ?? ''}>
            <th scope="row" className={styles.part}>
              <PartName row={row} view={view} />
              <span className={styles.barTrack} aria-hidden>
                <span style={{ width: `${most === 0 ? 0 : (getBarValue(row) / most) * 100}%` }} />
              </span>
            </th>
            <td className={styles.number}>{row.figures === undefined ? '–' : number(row.figures.runCount)}</td>
            <td className={styles.number}>{number(countTokens(row))}</td>
            {hasIndexing ? <td className={styles.number}>{number(row.dataTokens)}</td> : null}
            <td className={styles.number}>{writeCost(row, (cost) => formatCost(cost, currency, number))}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function writeCost(row: UsageRow, format: (cost: number) => string): string {
  const cost = readCost(row);
  return cost === undefined ? '–' : format(cost);
}

function PartName({ row: { id, name }, view }: { readonly row: UsageRow; readonly view: UsageView }) {
  const { t } = useText();
  const { may } = useSession();
  const without = { agent: t('Without an agent'), person: t('Nobody'), key: t('Without a key'), model: t('Without a model') };
  const gone = { agent: t('Deleted agent'), person: t('Person who left'), key: t('Deleted key'), model: t('Model') };
  if (id === null) return <>{without[view.by]}</>;
  const words = name ?? gone[view.by];
  if (!may('CHATS_READ')) return <>{words}</>;
  const params = new URLSearchParams({ [view.by]: id, since: view.from, until: view.to });
  return <Link href={`/runs?${params}`}>{words}</Link>;
}

/** The names of columns are English in every language: programs read them. */
function partsCsv(rows: readonly UsageRow[], part: Part, currency: string): string {
  const name = { agent: 'Agent', person: 'Person', key: 'Key', model: 'Model' }[part];
  return writeCsv([
    [
      name,
      'Id',
      'Runs',
      'Failed',
      'Input tokens',
      'Output tokens',
      `Cost (${currency})`,
      'Runs without a price',
      'Indexing tokens',
      'Input tokens from caches',
      'Input tokens into caches',
      'Tokens',
    ],
    ...rows.map((row) => [
      row.name,
      row.id,
      row.figures?.runCount ?? null,
      row.figures?.failedCount ?? null,
      row.figures?.inputTokens ?? null,
      row.figures?.outputTokens ?? null,
      readCost(row) ?? null,
      row.figures?.unpricedCount ?? null,
      row.dataTokens,
      row.figures?.cachedTokens ?? null,
      row.figures?.cacheWriteTokens ?? null,
      countTokens(row),
    ]),
  ]);
}
