import { type Text, useText } from '../../text/text.ts';
import { formatCost } from '../../ui/cost.ts';
import { Badge } from '../../ui/feedback.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Time } from '../../ui/small.tsx';
import styles from './budgets.module.css';
import type { BudgetBarFragment } from './documents.ts';

/** From here on a budget is said to be near its end. */
const nearPercent = 80;

/** How long a budget lasts before it begins again. */
export const periodWords = (t: Text['t']): Readonly<Record<BudgetBarFragment['period'], string>> => ({
  DAY: t('a day'),
  MONTH: t('a month'),
});

/** What is used of a budget, and when it begins again. */
export function BudgetBar({
  name,
  budget: { period, unit, limit, used, resetsAt },
  currency,
}: {
  readonly name: string;
  readonly budget: BudgetBarFragment;
  readonly currency: string;
}) {
  const { t, number } = useText();
  const percent = limit === 0 ? 100 : (used / limit) * 100;
  const show = (amount: number) => (unit === 'MONEY' ? formatCost(amount, currency, number) : number(amount));
  const amounts = { used: show(used), limit: show(limit), period: periodWords(t)[period] };
  return (
    <div className={styles.budget}>
      <span className={styles.words}>
        <strong>{name}</strong>
        <span>
          {percent >= 100 ? (
            <Badge tone="bad">{t('Used up')}</Badge>
          ) : percent >= nearPercent ? (
            <Badge tone="warn">{t('Nearly used up')}</Badge>
          ) : null}{' '}
          {unit === 'MONEY' ? t('{used} of {limit} {period}', amounts) : t('{used} of {limit} tokens {period}', amounts)}
        </span>
      </span>
      <Progress percent={Math.min(100, percent)} label={name} />
      <span className={styles.quiet}>
        {t('Begins again:')} <Time at={resetsAt} />
      </span>
    </div>
  );
}
