import { Link } from 'wouter';
import { useLiveReload, usePage } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { usePolling } from '../../../parts/people/polling.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, Note, Skeleton } from '../../../ui/feedback.tsx';
import { Facts, Section } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import { PeopleChangedDocument } from '../members/documents.ts';
import { RoleSelect } from '../members/RoleSelect.tsx';
import {
  DeactivatedPeopleDocument,
  PersonDataDocument,
  PersonDocument,
  PersonKeysDocument,
  type PersonQuery,
} from './documents.ts';
import { ErasureState } from './ErasureState.tsx';
import { LeaveActions } from './LeaveActions.tsx';
import { PersonActions } from './PersonActions.tsx';

/** One person: what they are here, what they have, and how they leave. */
export function PersonPage({ id }: { readonly id: string }) {
  const { t } = useText();
  const { viewer } = useSession();
  const orgId = viewer.organization.id;
  const { data, error, isLoading, reload } = usePage(PersonDocument, { id, orgId });
  const jobs = usePage(PersonDataDocument, { orgId });
  const erasure = jobs.data?.erasures.nodes.find(({ userId }) => userId === id);
  const dataExport = jobs.data?.dataExports.nodes.find(({ userId }) => userId === id);
  const isWorking = [erasure?.status, dataExport?.status].some((status) => status === 'PENDING' || status === 'RUNNING');
  const reloadJobs = jobs.reload;
  usePolling(isWorking, reloadJobs);
  const gone = usePage(DeactivatedPeopleDocument, { orgId }, { pause: data?.user !== null });
  const deactivated = gone.data?.users.nodes.find((each) => each.id === id);
  // Who is deactivated is found in the list of those only, and has nothing but the name here.
  const reloadAll = () => {
    reload();
    gone.reload();
    reloadJobs();
  };
  useLiveReload(PeopleChangedDocument, {}, reloadAll);
  const person =
    data?.user ??
    (deactivated === undefined ? data?.user : { ...deactivated, memberships: null, groups: null, identities: null, usage: null });
  if (person === undefined || person === null) {
    return (
      <PeoplePage title={t('Person')}>
        <ErrorNote error={error} onRetry={reload} />
        {isLoading || gone.isLoading ? <Skeleton lines={8} /> : null}
        {person === null && erasure === undefined && !gone.isLoading ? (
          <EmptyState title={t('There is no such person')}>{t('The person is erased, or in another organization.')}</EmptyState>
        ) : null}
        {person === null && erasure !== undefined ? (
          <Section title={t('This person is erased')}>
            <ErasureState erasure={erasure} />
          </Section>
        ) : null}
      </PeoplePage>
    );
  }
  return (
    <PersonView
      person={person}
      holds={data?.legalHolds.nodes ?? []}
      onChanged={reloadAll}
      jobs={<ErrorNote error={jobs.error} onRetry={reloadJobs} />}
      exported={dataExport}
      erasure={erasure}
    />
  );
}

type Person = NonNullable<PersonQuery['user']>;

function PersonView({
  person,
  holds,
  onChanged,
  jobs,
  exported,
  erasure,
}: {
  readonly person: Person;
  readonly holds: PersonQuery['legalHolds']['nodes'];
  readonly onChanged: () => void;
  readonly jobs: React.ReactNode;
} & Pick<React.ComponentProps<typeof LeaveActions>, 'exported' | 'erasure'>) {
  const { t, number, date } = useText();
  const { viewer } = useSession();
  const membership = person.memberships?.nodes.find(({ orgId }) => orgId === viewer.organization.id);
  const isOwn = person.id === viewer.user.id;
  return (
    <PeoplePage
      title={person.name}
      lead={person.email}
      actions={<PersonActions person={person} membership={membership} onChanged={onChanged} />}
    >
      {person.isActive ? null : (
        <Note tone="warn">
          {t('This person is deactivated or has left: nobody can sign in as them here. What they made stays.')}
        </Note>
      )}
      {holds.map(({ id, reason, createdAt }) => (
        <Note key={id} tone="warn">
          {t('A legal hold since {date} keeps what this person has: {reason}', {
            date: date(createdAt, { dateStyle: 'medium' }),
            reason,
          })}
        </Note>
      ))}
      <Facts
        items={[
          [
            t('Role'),
            membership === undefined ? (
              t('None')
            ) : (
              <RoleSelect key="role" membership={membership} userId={person.id} name={person.name} onChanged={onChanged} />
            ),
          ],
          [t('Member since'), membership === undefined ? '–' : date(membership.createdAt, { dateStyle: 'medium' })],
          [t('Tokens in 30 days'), number((person.usage?.apiTokensUsed ?? 0) + (person.usage?.dataTokensUsed ?? 0))],
          [t('Groups'), <GroupChips key="groups" groups={person.groups} />],
        ]}
      />
      <div className={styles.split}>
        <SignIns identities={person.identities?.nodes ?? []} />
        <PersonKeys id={person.id} orgId={viewer.organization.id} />
      </div>
      {jobs}
      <LeaveActions person={person} isOwn={isOwn} exported={exported} erasure={erasure} onChanged={onChanged} />
    </PeoplePage>
  );
}

function GroupChips({ groups }: { readonly groups: Person['groups'] }) {
  const { t } = useText();
  if (groups === null || groups.nodes.length === 0) return t('None');
  const more = (groups.totalCount ?? 0) - groups.nodes.length;
  return (
    <span className={styles.chips}>
      {groups.nodes.map(({ id, name }) => (
        <Link key={id} href={`/people/groups/${id}`}>
          <Badge>{name}</Badge>
        </Link>
      ))}
      {more > 0 ? <Badge>{t('{count} more', { count: more })}</Badge> : null}
    </span>
  );
}

function SignIns({ identities }: { readonly identities: NonNullable<Person['identities']>['nodes'] }) {
  const { t } = useText();
  return (
    <Section title={t('Signs in by')}>
      {identities.length === 0 ? (
        <p className={styles.quiet}>{t('No sign-in by a provider. A password, a passkey or a link leads in.')}</p>
      ) : (
        <ul className={styles.rows}>
          {identities.map(({ provider, email, lastUsedAt, isAdminByGroup }) => (
            <li key={provider}>
              <span className={styles.grow}>
                {provider} <span className={styles.quiet}>{email}</span>{' '}
                {isAdminByGroup ? <Badge tone="accent">{t('Administrator by a group')}</Badge> : null}
              </span>
              <span className={styles.quiet}>
                <Time at={lastUsedAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function PersonKeys({ id, orgId }: { readonly id: string; readonly orgId: string }) {
  const { t } = useText();
  const { may } = useSession();
  const { data, error, reload } = usePage(PersonKeysDocument, { id, orgId }, { pause: !may('API_KEYS_READ') });
  const keys = data?.apiKeys.nodes.filter(({ revokedAt }) => revokedAt === null) ?? [];
  return (
    <Section title={t('Keys')}>
      <ErrorNote error={error} onRetry={reload} />
      {data !== undefined && keys.length === 0 ? <p className={styles.quiet}>{t('No keys.')}</p> : null}
      {keys.length === 0 ? null : (
        <ul className={styles.rows}>
          {keys.map(({ id: keyId, name, prefix, lastUsedAt }) => (
            <li key={keyId}>
              <span className={styles.grow}>
                <Link href={`/administration/keys#${keyId}`}>{name}</Link> <code className={styles.quiet}>{prefix}…</code>
              </span>
              <span className={styles.quiet}>{lastUsedAt === null ? t('never used') : <Time at={lastUsedAt} />}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
