import { useText } from '../../text/text.ts';
import { formatCost } from '../../ui/cost.ts';
import type { UsageLedgerQuery, UsageOfRunsQuery } from './documents.ts';
import styles from './usage.module.css';

/** The sums of the range: tokens and cost of the ledger, which keeps those of deleted runs; the others of the runs that are there. */
export function Totals({
  runs,
  ledger,
}: {
  readonly runs: UsageOfRunsQuery | undefined;
  readonly ledger: UsageLedgerQuery | undefined;
}) {
  const { t, number } = useText();
  const total = runs?.days.total;
  const kept = ledger === undefined ? undefined : sumLedger(ledger);
  const items: readonly (readonly [string, string, string?])[] = [
    ...(kept === undefined || ledger === undefined
      ? []
      : [
          [t('Cost'), formatCost(kept.cost, ledger.viewer.costCurrency, number)] as const,
          [t('Tokens'), number(kept.tokens)] as const,
        ]),
    ...(total === undefined
      ? []
      : [
          [
            t('Runs'),
            number(total.runCount),
            total.failedCount === 0 ? '' : t('{count} failed', { count: number(total.failedCount) }),
          ] as const,
          [
            t('Tokens of these runs'),
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

/** Of members their own days, of others the sum of everybody. */
function sumLedger({ usage, ownDays }: UsageLedgerQuery): { readonly tokens: number; readonly cost: number } {
  if (ownDays === undefined) return { tokens: usage.apiTokensUsed, cost: usage.cost };
  const { nodes } = ownDays;
  const sum = (read: (day: (typeof nodes)[number]) => number) => nodes.reduce((all, day) => all + read(day), 0);
  return { tokens: sum((day) => day.apiTokensUsed), cost: sum((day) => day.cost) };
}
