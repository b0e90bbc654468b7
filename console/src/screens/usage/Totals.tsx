import { useText } from '../../text/text.ts';
import { formatCost } from '../../ui/cost.ts';
import type { UsageLedgerQuery, UsageOfRunsQuery } from './documents.ts';
import styles from './usage.module.css';

/** The sums of the range. */
export function Totals({
  runs,
  ledger,
}: {
  readonly runs: UsageOfRunsQuery | undefined;
  readonly ledger: UsageLedgerQuery | undefined;
}) {
  const { t, number } = useText();
  const total = runs?.days.total;
  const items: readonly (readonly [string, string, string?])[] = [
    ...(total === undefined || runs === undefined
      ? []
      : [
          [t('Cost'), formatCost(total.cost, runs.viewer.costCurrency, number)] as const,
          [
            t('Runs'),
            number(total.runCount),
            total.failedCount === 0 ? '' : t('{count} failed', { count: number(total.failedCount) }),
          ] as const,
          [
            t('Tokens'),
            number(total.inputTokens + total.outputTokens),
            t('{input} in, {output} out', { input: number(total.inputTokens), output: number(total.outputTokens) }),
          ] as const,
          ...(total.cachedTokens + total.cacheWriteTokens === 0
            ? []
            : [
                [
                  t('Tokens from caches'),
                  number(total.cachedTokens),
                  t('{count} written to them', { count: number(total.cacheWriteTokens) }),
                ] as const,
              ]),
        ]),
    ...(ledger === undefined || ledger.usage.dataTokensUsed === 0
      ? []
      : [[t('Tokens of indexing'), number(ledger.usage.dataTokensUsed), t('of the whole organization')] as const]),
  ];
  return (
    <dl className={styles.totals}>
      {items.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            <small>{note}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}
