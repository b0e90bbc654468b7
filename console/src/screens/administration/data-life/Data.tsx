import { Link } from 'wouter';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import { ExportState } from '../../../parts/people/ExportState.tsx';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { usePolling } from '../../../parts/people/polling.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, ErrorNote, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Section } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import { DataJobsDocument, ExportOrganizationDocument, OrganizationDataDocument } from './documents.ts';
import { Holds } from './Holds.tsx';
import { Retention } from './Retention.tsx';

/** How long the organization keeps what, what must stay, and what was exported and erased. */
export function Data() {
  const { t } = useText();
  const { data, error, isLoading, reload } = usePage(OrganizationDataDocument, {});
  return (
    <PeoplePage title={t('Data')} lead={t('How long things are kept, what must stay, and copies of everything.')}>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={8} /> : null}
      {data === undefined ? null : (
        <>
          <Retention retention={data.viewer.organization.dataRetention} onChanged={reload} />
          <Holds holds={data.legalHolds.nodes} onChanged={reload} />
        </>
      )}
      <Jobs />
    </PeoplePage>
  );
}

function Jobs() {
  const { t } = useText();
  const { may } = useSession();
  const { data, error, reload } = usePage(DataJobsDocument, {});
  const begin = useMutate(ExportOrganizationDocument);
  const isWorking = [...(data?.dataExports.nodes ?? []), ...(data?.erasures.nodes ?? [])].some(
    ({ status }) => status === 'PENDING' || status === 'RUNNING',
  );
  usePolling(isWorking, reload);
  const onExport = async () => {
    if ((await begin.run({})) !== undefined) reload();
  };
  const erasureWords = { DONE: t('Done'), PENDING: t('Waiting'), RUNNING: t('At work'), STOPPED: t('Stopped by a legal hold') };
  return (
    <>
      <Section
        title={t('Exports')}
        lead={t('ZIPs of what a person or the whole organization has. They are kept for seven days.')}
        actions={
          may('ADMIN_WRITE') ? (
            <Button isBusy={begin.isBusy} onClick={() => void onExport()}>
              {t('Export the organization')}
            </Button>
          ) : undefined
        }
      >
        <ErrorNote error={error ?? begin.error} />
        {data?.dataExports.nodes.length === 0 ? <p className={styles.quiet}>{t('No exports.')}</p> : null}
        <ul className={data?.dataExports.nodes.length ? styles.rows : styles.plain}>
          {data?.dataExports.nodes.map((dataExport) => (
            <li key={dataExport.id}>
              <strong>
                {dataExport.userId === null ? t('The whole organization') : (dataExport.user?.name ?? t('Somebody who left'))}
              </strong>
              <div className={styles.grow}>
                <ExportState state={dataExport} />
              </div>
            </li>
          ))}
        </ul>
      </Section>
      <Section title={t('Erasures')} lead={t('People whose data was erased. Their pages have the reports.')}>
        {data?.erasures.nodes.length === 0 ? <p className={styles.quiet}>{t('Nobody was erased.')}</p> : null}
        <ul className={data?.erasures.nodes.length ? styles.rows : styles.plain}>
          {data?.erasures.nodes.map(({ id, status, createdAt, userId, user }) => (
            <li key={id}>
              <Link href={`/people/${userId}`}>{user?.name ?? t('Report of the erasure')}</Link>
              <span>
                <Badge tone={status === 'DONE' ? 'good' : status === 'STOPPED' ? 'warn' : 'neutral'}>
                  {erasureWords[status]}
                </Badge>{' '}
                <span className={styles.quiet}>
                  <Time at={createdAt} />
                </span>
              </span>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}
