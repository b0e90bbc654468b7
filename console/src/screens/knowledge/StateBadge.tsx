import { useText } from '../../text/text.ts';
import { Badge } from '../../ui/feedback.tsx';
import { Progress } from '../../ui/progress.tsx';
import type { SourceEntryFragment } from './documents.ts';
import styles from './knowledge.module.css';
import { useWords } from './words.ts';

/** The state of a source in a word, with its progress while it is read. */
export function StateBadge({ source }: { readonly source: SourceEntryFragment }) {
  const { t, number } = useText();
  const { label, tone, isBusy } = useWords().describeState(source);
  const { totalCount, doneCount } = source.statistics;
  return (
    <div className={styles.state}>
      <Badge tone={tone}>{label}</Badge>
      {isBusy && totalCount > 0 ? (
        <div className={styles.stateProgress}>
          <Progress
            percent={source.indexPercentage}
            label={t('{done} of {total} documents', { done: doneCount, total: totalCount })}
          />
          <span aria-hidden>{number(source.indexPercentage / 100, { style: 'percent' })}</span>
        </div>
      ) : null}
    </div>
  );
}
