import { Download } from 'lucide-react';
import { useText } from '../../text/text.ts';
import { Note } from '../../ui/feedback.tsx';
import { Progress } from '../../ui/progress.tsx';
import { formatBytes, Time } from '../../ui/small.tsx';
import styles from './people.module.css';

/** An export of what is stored of a person or of an organization. */
interface DataExport {
  readonly status: 'PENDING' | 'RUNNING' | 'READY' | 'FAILED';
  readonly counts: readonly { readonly count: number }[];
  readonly sizeBytes: number | null;
  /** Null for who may not download it. */
  readonly url: string | null;
  readonly expiresAt: string | null;
  readonly createdAt: string;
}

/** How far an export is, and the way to its file. */
export function ExportState({ state }: { readonly state: DataExport }) {
  const { t, number, date } = useText();
  const { status, counts, sizeBytes, url, expiresAt, createdAt } = state;
  const rows = counts.reduce((sum, { count }) => sum + count, 0);
  if (status === 'FAILED') return <Note tone="bad">{t('The export could not be written. Ask for it again.')}</Note>;
  if (status !== 'READY') {
    return (
      <div className={styles.stack}>
        <p role="status">
          {status === 'PENDING'
            ? t('The export begins soon.')
            : t('The export is being written: {rows} entries so far.', { rows: number(rows) })}
        </p>
        <Progress percent={undefined} label={t('Writing the export')} />
      </div>
    );
  }
  return (
    <div className={styles.inline}>
      <div className={styles.grow}>
        <p>
          {t('{rows} entries', { rows: number(rows) })}
          {sizeBytes === null ? '' : ` · ${formatBytes(sizeBytes, number)}`}
        </p>
        <p className={styles.quiet}>
          <Time at={createdAt} />
          {expiresAt === null ? '' : ` · ${t('kept until {date}', { date: date(expiresAt, { dateStyle: 'medium' }) })}`}
        </p>
      </div>
      {url === null ? (
        <span className={styles.quiet}>{t('You may not download it.')}</span>
      ) : (
        <a className={styles.download} href={url} download>
          <Download size={16} aria-hidden />
          {t('Download')}
        </a>
      )}
    </div>
  );
}
