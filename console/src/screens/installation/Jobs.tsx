import { type Text, useText } from '../../text/text.ts';
import { Badge } from '../../ui/feedback.tsx';
import { Section, Table } from '../../ui/page.tsx';
import type { InstallationQuery } from './documents.ts';
import styles from './installation.module.css';

/** The queues of background jobs. */
export function Jobs({ jobs }: Pick<InstallationQuery['installation'], 'jobs'>) {
  const { t, number } = useText();
  const words = queueWords(t);
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
              <th scope="row">{words[queue] ?? queue}</th>
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

/** What the jobs of each queue do. A test holds that no queue is missing. */
const queueWords = (t: Text['t']): Readonly<Record<string, string>> => ({
  'accounts.purge-organization': t('Delete organizations'),
  'accounts.purge-user': t('Delete people'),
  'accounts.mail-invitation': t('Mail invitations'),
  'accounts.give-back-tokens': t('Give back tokens of who left'),
  'chats.import': t('Import chats'),
  'chats.undo-import': t('Undo imports of chats'),
  'evaluation.run-experiment': t('Run experiments'),
  'data.export': t('Export data'),
  'data.erase': t('Erase data of a person'),
  'knowledge.index-item': t('Index documents'),
  'knowledge.index-items': t('Index small documents together'),
  'knowledge.sync-source': t('Read sources'),
  'knowledge.sync-permissions': t('Read permissions'),
  'knowledge.embed-source': t('Embed passages'),
  'knowledge.delete-source': t('Delete sources'),
  'knowledge.delete-item': t('Delete documents'),
  'schedules.run': t('Begin scheduled runs'),
  'schedules.delete-chat': t('Delete chats of scheduled runs'),
});
