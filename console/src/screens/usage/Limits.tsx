import { useText } from '../../text/text.ts';
import { Badge } from '../../ui/feedback.tsx';
import { Card } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import type { UsageLimitsQuery } from './documents.ts';
import styles from './usage.module.css';

type ShownLimits = UsageLimitsQuery['viewer']['limits'];
/** From here on a limit is said to be near. */
const nearPercent = 80;

/** The limits of the organization and how near they are. Those that are not set are not shown. */
export function Limits({ limits: { runTokens, dataTokens, organizationRate } }: { readonly limits: ShownLimits }) {
  const { t, number } = useText();
  const lines = [
    { name: t('Tokens of runs'), tokens: runTokens },
    { name: t('Tokens of indexing'), tokens: dataTokens },
  ].flatMap(({ name, tokens }) =>
    tokens === null || tokens.limit === null ? [] : [{ name, used: tokens.used, limit: tokens.limit }],
  );
  if (lines.length === 0 && organizationRate === null) {
    return <p className={styles.quiet}>{t('No limit is set for your organization.')}</p>;
  }
  return (
    <Card>
      <h2>{t('Limits of your organization')}</h2>
      {lines.map(({ name, used, limit }) => (
        <Limit key={name} name={name} used={used} limit={limit} />
      ))}
      {organizationRate === null ? null : (
        <p className={styles.quiet}>
          {t('{count} requests per minute, of which {left} are left now.', {
            count: number(organizationRate.requestsPerMinute),
            left: number(organizationRate.requestsLeft),
          })}
        </p>
      )}
    </Card>
  );
}

function Limit({ name, used, limit }: { readonly name: string; readonly used: number; readonly limit: number }) {
  const { t, number } = useText();
  const percent = limit === 0 ? 100 : (used / limit) * 100;
  return (
    <div className={styles.limit}>
      <span className={styles.limitWords}>
        <span>{name}</span>
        <span>
          {percent >= 100 ? (
            <Badge tone="bad">{t('Used up')}</Badge>
          ) : percent >= nearPercent ? (
            <Badge tone="warn">{t('Nearly used up')}</Badge>
          ) : null}{' '}
          {t('{used} of {limit} ({percent})', {
            used: number(used),
            limit: number(limit),
            percent: number(percent / 100, { style: 'percent', maximumFractionDigits: percent < 10 ? 1 : 0 }),
          })}
        </span>
      </span>
      <Progress percent={Math.min(100, percent)} label={name} />
    </div>
  );
}
