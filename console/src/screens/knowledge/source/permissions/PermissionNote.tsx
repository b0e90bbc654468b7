import { Link } from 'wouter';
import { useText } from '../../../../text/text.ts';
import { Note } from '../../../../ui/feedback.tsx';
import { Card } from '../../../../ui/page.tsx';
import { Progress } from '../../../../ui/progress.tsx';
import { Time } from '../../../../ui/small.tsx';
import styles from '../source.module.css';
import type { Source } from '../source.ts';

/** How far the permissions of a source are read, where that is news: they are read now, never were, or were not for too long. */
export function PermissionNote({
  source: { id, permissionReading, statistics },
  isLinked = false,
}: {
  readonly source: Source;
  /** Elsewhere than on the page that says the rest. */
  readonly isLinked?: boolean;
}) {
  const { t, number } = useText();
  if (permissionReading === null) return null;
  const { isRunning, startedAt, itemCount, readAt, failedAt, latenessMs, closesAt } = permissionReading;
  // Where permissions are pushed, nothing is read.
  if (latenessMs === 0) return null;
  const isFirst = readAt === null;
  if (isRunning && (isFirst || itemCount > 0)) {
    const { totalCount } = statistics;
    const percent = totalCount === 0 ? undefined : Math.min(100, (itemCount / totalCount) * 100);
    return (
      <Card>
        <div className={styles.reading}>
          <h2>{t('Permissions are being read')}</h2>
          <span className={styles.quiet}>
            {t('{count} of {total} documents', { count: number(itemCount), total: number(totalCount) })}
          </span>
        </div>
        <Progress percent={percent} label={t('Progress of reading permissions')} />
        <p className={styles.quiet}>
          {isFirst ? t('Until the end, nobody finds any of it.') : t('Until then, what was known before applies.')}
        </p>
      </Card>
    );
  }
  const more = isLinked ? <Link href={`/knowledge/${id}/permissions`}>{t('What is known')}</Link> : null;
  if (isFirst) {
    return (
      <Note tone="warn">
        {failedAt === null && startedAt === null
          ? t('Permissions are read within a minute. Until then nobody finds any of it.')
          : t('Permissions could not be read yet, and nobody finds any of it. It is tried again.')}{' '}
        {failedAt === null ? null : more}
      </Note>
    );
  }
  if (closesAt !== null && Date.parse(closesAt) < Date.now()) {
    return (
      <Note tone="bad">
        {t('Permissions were not read for too long: nobody finds any of it until they are.')} {more}
      </Note>
    );
  }
  if (failedAt === null) return null;
  return (
    <Note tone="warn">
      {t('Permissions could not be read lately. What was known still applies.')}{' '}
      {closesAt === null ? null : (
        <>
          {t('The source closes:')} <Time at={closesAt} />.{' '}
        </>
      )}
      {more}
    </Note>
  );
}
