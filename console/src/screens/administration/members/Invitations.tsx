import { Mail, UserPlus } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { useList, useLiveReload, useMutate } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Table } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import { type InvitationRowFragment, InvitationsDocument, PeopleChangedDocument, RevokeInvitationDocument } from './documents.ts';
import { roleWords } from './roles.ts';

/** Who was asked to become a member, and what became of it. */
export function Invitations() {
  const { t } = useText();
  const { may, viewer } = useSession();
  const [, go] = useLocation();
  const orgId = viewer.organization.id;
  const { error, isLoading, reload, pages, isEmpty } = useList(InvitationsDocument, { orgId }, (data) => data.invitations);
  useLiveReload(PeopleChangedDocument, {}, reload);
  const invite = may('ADMIN_WRITE') ? (
    <Button variant="primary" icon={<UserPlus size={17} aria-hidden />} onClick={() => go('/people?new')}>
      {t('Invite')}
    </Button>
  ) : undefined;
  return (
    <PeoplePage
      title={t('Invitations')}
      lead={t('Links that make somebody a member. They stay here until a month after their end.')}
      actions={isEmpty ? undefined : invite}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {isEmpty ? (
        <EmptyState icon={<Mail size={26} aria-hidden />} title={t('Nobody is invited')} action={invite}>
          {t('An invitation is a link that works once and for seven days. Whoever accepts it chooses a name and a password.')}
        </EmptyState>
      ) : null}
      {pages.nodes.length === 0 ? null : (
        <Table label={t('Invitations')}>
          <thead>
            <tr>
              <th scope="col">{t('E-mail address')}</th>
              <th scope="col">{t('Role')}</th>
              <th scope="col">{t('State')}</th>
              <th scope="col">{t('Mail')}</th>
              <th scope="col">{t('Invited')}</th>
              <th scope="col">
                <span className="visually-hidden">{t('What can be done')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {pages.nodes.map((invitation) => (
              <InvitationRow key={invitation.id} invitation={invitation} onChanged={reload} />
            ))}
          </tbody>
        </Table>
      )}
      <ShowMore pages={pages} />
    </PeoplePage>
  );
}

function InvitationRow({
  invitation,
  onChanged,
}: {
  readonly invitation: InvitationRowFragment;
  readonly onChanged: () => void;
}) {
  const { t, date } = useText();
  const { may } = useSession();
  const confirm = useConfirm();
  const { run: revoke, isBusy, error } = useMutate(RevokeInvitationDocument);
  const { id, email, role, status, userId, expiresAt, acceptedAt } = invitation;
  const onRevoke = async () => {
    const isConfirmed = await confirm({
      title: t('Revoke the invitation of {email}?', { email }),
      body: t('Its link stops working at once. You can invite the person again.'),
      action: t('Revoke'),
      isDanger: true,
    });
    if (isConfirmed && (await revoke({ id })) !== undefined) onChanged();
  };
  return (
    <tr>
      <th scope="row">
        {userId === null ? email : <Link href={`/people/${userId}`}>{email}</Link>}
        {invitation.groups?.length ? (
          <div className={styles.quiet}>{invitation.groups.map(({ name }) => name).join(', ')}</div>
        ) : null}
        <ErrorNote error={error} />
      </th>
      <td>{roleWords(t)[role]}</td>
      <td className={styles.nowrap}>
        <Status status={status} />
        {status === 'PENDING' ? (
          <div className={styles.quiet}>{t('until {date}', { date: date(expiresAt, { dateStyle: 'medium' }) })}</div>
        ) : null}
        {acceptedAt === null ? null : (
          <div className={styles.quiet}>
            <Time at={acceptedAt} />
          </div>
        )}
      </td>
      <td>
        <Delivery invitation={invitation} />
      </td>
      <td className={styles.nowrap}>
        <Time at={invitation.createdAt} />
      </td>
      <td>
        {status === 'PENDING' && may('ADMIN_WRITE') ? (
          <span className={styles.end}>
            <Button
              size="small"
              isBusy={isBusy}
              aria-label={t('Revoke the invitation of {email}', { email })}
              onClick={() => void onRevoke()}
            >
              {t('Revoke')}
            </Button>
          </span>
        ) : null}
      </td>
    </tr>
  );
}

function Status({ status }: { readonly status: InvitationRowFragment['status'] }) {
  const { t } = useText();
  if (status === 'ACCEPTED') return <Badge tone="good">{t('Accepted')}</Badge>;
  if (status === 'PENDING') return <Badge tone="accent">{t('Open')}</Badge>;
  return <Badge>{status === 'REVOKED' ? t('Revoked') : t('Expired')}</Badge>;
}

function Delivery({ invitation: { delivery, deliveryProblem } }: { readonly invitation: InvitationRowFragment }) {
  const { t } = useText();
  const words = { NONE: t('Not sent'), WAITING: t('Waiting'), SENT: t('Sent'), FAILED: t('Failed') };
  return (
    <>
      {delivery === 'FAILED' ? <Badge tone="bad">{words.FAILED}</Badge> : <span className={styles.quiet}>{words[delivery]}</span>}
      {deliveryProblem === null ? null : <div className={styles.quiet}>{deliveryProblem}</div>}
    </>
  );
}
