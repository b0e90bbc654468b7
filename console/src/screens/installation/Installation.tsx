import { Redirect } from 'wouter';
import { usePage } from '../../graphql/hooks.ts';
import { PeoplePage } from '../../parts/people/PeoplePage.tsx';
import { useSession } from '../../parts/session/session.tsx';
import { useText } from '../../text/text.ts';
import { ErrorNote, Note, Skeleton } from '../../ui/feedback.tsx';
import { Button } from '../../ui/form/button.tsx';
import { Facts, Section } from '../../ui/page.tsx';
import { formatBytes, Time } from '../../ui/small.tsx';
import { InstallationDocument, type InstallationQuery } from './documents.ts';
import { Jobs } from './Jobs.tsx';
import { Models } from './Models.tsx';
import { Organizations } from './Organizations.tsx';

/** The installation, for its operators: whether it is well, and what runs on it. */
export function Installation() {
  const { t } = useText();
  const { isOperator } = useSession();
  const { data, error, isLoading, reload } = usePage(InstallationDocument, {}, { pause: !isOperator });
  if (!isOperator) return <Redirect to="/" replace />;
  const installation = data?.installation;
  return (
    <PeoplePage
      title={t('Installation')}
      lead={installation === undefined ? undefined : t('Parley {version}', { version: installation.version })}
      actions={<Button onClick={reload}>{t('Refresh')}</Button>}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={8} /> : null}
      {installation === undefined ? null : (
        <>
          <Health health={installation.health} />
          <Machine installation={installation} />
        </>
      )}
      <Organizations />
      {installation === undefined ? null : (
        <>
          <Models models={installation.models} currency={installation.costCurrency} />
          <Jobs jobs={installation.jobs} />
        </>
      )}
    </PeoplePage>
  );
}

type InstallationData = InstallationQuery['installation'];

function Health({ health: { state, problems } }: Pick<InstallationData, 'health'>) {
  const { t } = useText();
  if (state === 'READY') return <Note tone="good">{t('Everything works.')}</Note>;
  return (
    <Note tone={state === 'DEGRADED' ? 'warn' : 'bad'}>
      <p>{state === 'DEGRADED' ? t('It works, and something needs attention:') : t('It does not work:')}</p>
      <ul>
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
    </Note>
  );
}

function Machine({ installation: { database, storage, startedAt, nodeVersion } }: { readonly installation: InstallationData }) {
  const { t, number } = useText();
  const databases = { EMBEDDED: t('Embedded'), POSTGRESQL: t('PostgreSQL') };
  const storages = { FOLDER: t('Folder'), S3: t('S3') };
  const bytes = (value: number | null) => (value === null ? t('unknown') : formatBytes(value, number));
  return (
    <Section title={t('Machine')}>
      <Facts
        items={[
          [t('Started'), <Time key="started" at={startedAt} />],
          [t('Database'), `${databases[database.kind]} ${database.version}`],
          [t('Size of the database'), bytes(database.sizeBytes)],
          [t('Last migration'), database.migration.replaceAll('_', ' ')],
          [t('Files'), storages[storage.kind]],
          [t('Disk'), bytes(storage.diskBytes)],
          [t('Free'), bytes(storage.freeBytes)],
          [t('Node'), nodeVersion],
        ]}
      />
    </Section>
  );
}
