import { useText } from '../../text/text.ts';
import { Badge } from '../../ui/feedback.tsx';
import { Section, Table } from '../../ui/page.tsx';
import type { InstallationQuery } from './documents.ts';
import styles from './installation.module.css';

/** The queues of background jobs. */
export function Jobs({ jobs }: Pick<InstallationQuery['installation'], 'jobs'>) {
  const { t, number } = useText();
  return (
    <Section title={t('Background jobs')}>
      <Table label={t('Background jobs')}>
        <thead>
          <tr>
            <th scope="col">{t('Queue')}</th>
            <th scope="col" className={styles.number}>
              {t('Waiting')}
            </th>
            <th scope="col" className={styles.number}>
              {t('At work')}
            </th>
            <th scope="col" className={styles.number}>
              {t('Failed')}
            </th>
          </tr>
        </thead>
        <tbody>
          {jobs.map(({ queue, waitingCount, activeCount, failedCount }) => (
            <tr key={queue}>
              <th scope="row">{queue.replaceAll(/[.-]/g, ' ')}</th>
              <td className={styles.number}>{number(waitingCount)}</td>
              <td className={styles.number}>{number(activeCount)}</td>
              <td className={styles.number}>
                {failedCount > 0 ? <Badge tone="warn">{number(failedCount)}</Badge> : number(failedCount)}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Section>
  );
}
