import { useText } from '../../../text/text.ts';
import { Note } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useFaultWords } from '../../../ui/form/faults/words.ts';
import { Progress } from '../../../ui/progress.tsx';
import { formatBytes } from '../../../ui/small.tsx';
import styles from './add.module.css';
import { uploads, useUploads } from './uploads.ts';

/** How far the files are that are being sent, and those that were refused. */
export function UploadStrip() {
  const { t, number } = useText();
  const { describeError } = useFaultWords();
  const entries = useUploads();
  if (entries.length === 0) return null;
  const finishedEntries = entries.filter(({ state }) => state === 'done');
  const failedEntries = entries.filter(({ state }) => state === 'failed');
  const isBusy = finishedEntries.length + failedEntries.length < entries.length;
  const sum = (of: 'sentBytes' | 'sizeBytes') => entries.reduce((total, entry) => total + entry[of], 0);
  const [sent, total] = [sum('sentBytes'), sum('sizeBytes')];
  return (
    <section className={styles.strip} aria-label={t('Uploads')}>
      {isBusy ? (
        <>
          <p className={styles.stripLine}>
            <span>
              {t('Sending {done} of {total} files', {
                done: Math.min(finishedEntries.length + 1, entries.length),
                total: entries.length,
              })}
            </span>
            <span>
              {formatBytes(sent, number)} / {formatBytes(total, number)}
            </span>
          </p>
          <Progress percent={total === 0 ? undefined : (100 * sent) / total} label={t('Uploads')} />
        </>
      ) : failedEntries.length === 0 ? (
        <Note
          tone="good"
          action={
            <Button size="small" onClick={() => uploads.clear()}>
              {t('Close')}
            </Button>
          }
        >
          {t('{count, plural, one {# file is sent} other {# files are sent}}. What is in them is being read.', {
            count: finishedEntries.length,
          })}
        </Note>
      ) : null}
      {failedEntries.length === 0 ? null : (
        <Note
          tone="bad"
          action={
            <span className={styles.stripActions}>
              <Button size="small" onClick={() => uploads.retry()}>
                {t('Try again')}
              </Button>
              <Button size="small" onClick={() => uploads.clear()}>
                {t('Close')}
              </Button>
            </span>
          }
        >
          <p>
            {t('{count, plural, one {# file was not taken} other {# files were not taken}}:', { count: failedEntries.length })}
          </p>
          <ul className={styles.failures}>
            {failedEntries.map(({ id, name, error }) => (
              <li key={id}>
                <b>{name}</b>: {error === undefined ? null : describeError(error).join(' ')}
              </li>
            ))}
          </ul>
        </Note>
      )}
    </section>
  );
}
