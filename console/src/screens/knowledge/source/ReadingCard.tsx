import { useText } from '../../../text/text.ts';
import { Card } from '../../../ui/page.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { formatMs } from '../../../ui/small.tsx';
import { useWords } from '../words.ts';
import styles from './source.module.css';
import type { Source } from './source.ts';

/** How far the reading is that goes on: counts, rate, time left, and what is read now. */
export function ReadingCard({ source }: { readonly source: Source }) {
  const { t, number } = useText();
  const { activeRun, indexPercentage } = source;
  const progress = activeRun?.progress ?? undefined;
  const counts = progress?.statistics ?? source.statistics;
  const { label } = useWords().describeState(source);
  const isListing = activeRun?.status === 'LISTING';
  const percent = isListing ? undefined : (progress?.percent ?? indexPercentage);
  const rate = progress?.documentsPerMinute ?? null;
  const remainingMs = progress?.remainingMs ?? null;
  const parts: readonly (readonly [string, number])[] = [
    [t('Done'), counts.doneCount],
    [t('Being indexed'), counts.indexingCount],
    [t('Waiting'), counts.pendingCount],
    [t('Failed'), counts.failedCount],
  ];
  return (
    <Card>
      <div className={styles.reading}>
        <h2>{isListing ? t('Looking for documents: {count} so far', { count: activeRun.listedCount }) : label}</h2>
        <span className={styles.quiet}>
          {percent === undefined ? '' : number(percent / 100, { style: 'percent' })}
          {rate === null
            ? ''
            : ` · ${t('{rate} per minute', { rate: number(rate, { maximumFractionDigits: rate < 10 ? 1 : 0 }) })}`}
          {remainingMs === null ? '' : ` · ${t('{time} left', { time: formatMs(Math.max(remainingMs, 1_000), number) })}`}
        </span>
      </div>
      <Progress percent={percent} label={t('Progress of reading')} />
      <dl className={styles.counts}>
        {parts.map(([name, count]) => (
          <div key={name}>
            <dd>{number(count)}</dd>
            <dt>{name}</dt>
          </div>
        ))}
      </dl>
      {activeRun?.currentItem == null ? null : <p className={styles.current}>{activeRun.currentItem}</p>}
    </Card>
  );
}
