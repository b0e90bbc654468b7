import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { run } from '../../../graphql/client.ts';
import { useMorePages, useMutate, usePage } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { TextField } from '../../../ui/form/fields.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Facts } from '../../../ui/page.tsx';
import { PersonCell } from '../members/PersonCell.tsx';
import { DeleteGroupDocument, GroupDocument, type GroupQuery, UpdateGroupDocument } from './documents.ts';
import { GroupDialog, parseAddresses } from './GroupDialog.tsx';

/** One group with all its members. */
export function GroupPage({ id }: { readonly id: string }) {
  const { t } = useText();
  const { data, error, isLoading, reload } = usePage(GroupDocument, { id });
  const group = data?.group;
  if (group === undefined || group === null) {
    return (
      <PeoplePage title={t('Group')}>
        <ErrorNote error={error} onRetry={reload} />
        {isLoading ? <Skeleton lines={6} /> : null}
        {group === null ? (
          <EmptyState title={t('There is no such group')}>{t('The group is deleted, or you may not see it.')}</EmptyState>
        ) : null}
      </PeoplePage>
    );
  }
  return <GroupView group={group} onChanged={reload} />;
}

type Group = NonNullable<GroupQuery['group']>;

function GroupView({ group, onChanged }: { readonly group: Group; readonly onChanged: () => void }) {
  const { t, date } = useText();
  const [, go] = useLocation();
  const confirm = useConfirm();
  const [isEditing, setEditing] = useState(false);
  const remove = useMutate(DeleteGroupDocument);
  const onDelete = async () => {
    const isConfirmed = await confirm({
      title: t('Delete the group {name}?', { name: group.name }),
      body: t('What is shared with it is no longer there for its members. The people stay.'),
      action: t('Delete'),
      isDanger: true,
    });
    if (isConfirmed && (await remove.run({ id: group.id })) !== undefined) go('/people/groups', { replace: true });
  };
  return (
    <PeoplePage
      title={group.name}
      lead={t('Group')}
      actions={
        group.canEdit ? (
          <>
            <Button icon={<Pencil size={16} aria-hidden />} onClick={() => setEditing(true)}>
              {t('Edit')}
            </Button>
            <Button
              variant="danger"
              icon={<Trash2 size={16} aria-hidden />}
              isBusy={remove.isBusy}
              onClick={() => void onDelete()}
            >
              {t('Delete')}
            </Button>
          </>
        ) : undefined
      }
    >
      <ErrorNote error={remove.error} />
      <Facts
        items={[
          [t('Owner'), group.owner?.name ?? t('Somebody who left')],
          [t('Seen by'), group.availability === 'EVERYONE' ? t('Everybody in the organization') : t('Its members')],
          [t('Created'), date(group.createdAt, { dateStyle: 'medium' })],
        ]}
      />
      <GroupMembers group={group} onChanged={onChanged} />
      {isEditing ? <GroupDialog group={group} onClose={() => setEditing(false)} onSaved={onChanged} /> : null}
    </PeoplePage>
  );
}

function GroupMembers({ group, onChanged }: { readonly group: Group; readonly onChanged: () => void }) {
  const { t } = useText();
  const { may } = useSession();
  const [address, setAddress] = useState('');
  const add = useMutate(UpdateGroupDocument);
  const remove = useMutate(UpdateGroupDocument);
  const first = { ...group.allMembers, nodes: group.allMembers.nodes.map(withId) };
  const pages = useMorePages(first, async (after) => {
    const more = (await run(GroupDocument, { id: group.id, after })).group?.allMembers;
    return more === undefined ? undefined : { ...more, nodes: more.nodes.map(withId) };
  });
  const onAdd = async () => {
    if ((await add.run({ id: group.id, input: { memberEmailsToAdd: parseAddresses(address) } })) === undefined) return;
    setAddress('');
    onChanged();
  };
  const onRemove = async (email: string) => {
    if ((await remove.run({ id: group.id, input: { memberEmailsToRemove: [email] } })) !== undefined) onChanged();
  };
  return (
    <section className={styles.stack} aria-label={t('Members')}>
      <h2>{t('{count, plural, one {# member} other {# members}}', { count: group.allMembers.totalCount ?? 0 })}</h2>
      {group.canEdit ? (
        <form
          className={styles.inline}
          onSubmit={(event) => {
            event.preventDefault();
            void onAdd();
          }}
        >
          <TextField label={t('Add people by their e-mail addresses')} value={address} onChange={setAddress} />
          <Button type="submit" isBusy={add.isBusy} disabled={parseAddresses(address).length === 0}>
            {t('Add')}
          </Button>
        </form>
      ) : null}
      <ErrorNote error={add.error ?? remove.error} />
      {pages.nodes.length === 0 ? null : (
        <ul className={styles.rows}>
          {pages.nodes.map(({ email, user }) => (
            <li key={email}>
              <PersonCell
                name={user?.name ?? email}
                email={user === null ? t('No account yet') : email}
                {...(user !== null && may('ADMIN_READ') ? { href: `/people/${user.id}` } : {})}
              />
              {group.canEdit ? (
                <Button
                  size="small"
                  variant="quiet"
                  disabled={remove.isBusy}
                  aria-label={t('Remove {name} from the group', { name: user?.name ?? email })}
                  onClick={() => void onRemove(email)}
                >
                  {t('Remove')}
                </Button>
              ) : null}
            </li>
          ))}
        </ul>
      )}
      <ShowMore pages={pages} />
    </section>
  );
}

/** Members of a group are told apart by their addresses. */
const withId = <Member extends { readonly email: string }>(member: Member) => ({ ...member, id: member.email });
