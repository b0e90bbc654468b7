import { Plus, UsersRound } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useList, useLiveReload } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { SearchInput } from '../../../ui/form/field.tsx';
import { Table, Toolbar } from '../../../ui/page.tsx';
import { Avatar } from '../../../ui/small.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import { PeopleChangedDocument } from '../members/documents.ts';
import { type GroupRowFragment, GroupsDocument } from './documents.ts';
import { GroupDialog } from './GroupDialog.tsx';

/** The groups that the reader may see. */
export function Groups() {
  const { t } = useText();
  const { may } = useSession();
  const [, go] = useLocation();
  const [isMaking, setMaking] = useState(false);
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim());
  const variables = { search: search === '' ? null : search };
  const { data, error, isLoading, reload, pages } = useList(GroupsDocument, variables, (data) => data.groups);
  // What changes among people is told to administrators.
  useLiveReload(PeopleChangedDocument, {}, reload, { pause: !may('ADMIN_READ') });
  const isEmpty = data !== undefined && pages.nodes.length === 0 && search === '';
  const make = may('GROUPS_WRITE') ? (
    <Button variant="primary" icon={<Plus size={17} aria-hidden />} onClick={() => setMaking(true)}>
      {t('New group')}
    </Button>
  ) : undefined;
  return (
    <PeoplePage
      title={t('Groups')}
      lead={t('Share agents and what they know with several people at once.')}
      actions={isEmpty ? undefined : make}
    >
      {isEmpty ? null : (
        <Toolbar>
          <SearchInput label={t('Search groups')} value={typed} onChange={setTyped} />
        </Toolbar>
      )}
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {isEmpty ? (
        <EmptyState icon={<UsersRound size={26} aria-hidden />} title={t('No groups yet')} action={make}>
          {t('A group is a list of people, such as a team. An agent that is shared with it is there for all of them.')}
        </EmptyState>
      ) : null}
      {data !== undefined && pages.nodes.length === 0 && search !== '' ? <EmptyState title={t('No group is found')} /> : null}
      {pages.nodes.length === 0 ? null : <GroupTable groups={pages.nodes} />}
      <ShowMore pages={pages} />
      {isMaking ? <GroupDialog onClose={() => setMaking(false)} onSaved={({ id }) => go(`/people/groups/${id}`)} /> : null}
    </PeoplePage>
  );
}

function GroupTable({ groups }: { readonly groups: readonly GroupRowFragment[] }) {
  const { t, number } = useText();
  return (
    <Table label={t('Groups')}>
      <thead>
        <tr>
          <th scope="col">{t('Group')}</th>
          <th scope="col">{t('Members')}</th>
          <th scope="col">{t('Seen by')}</th>
          <th scope="col">{t('Owner')}</th>
        </tr>
      </thead>
      <tbody>
        {groups.map(({ id, name, availability, owner, members }) => (
          <tr key={id}>
            <th scope="row">
              <Link href={`/people/groups/${id}`}>{name}</Link>
            </th>
            <td>
              <span className={styles.person}>
                <span className={styles.faces}>
                  {members.nodes.map(({ email, user }) => (
                    <Avatar key={email} name={user?.name ?? email} size={20} />
                  ))}
                </span>
                <span className={styles.quiet}>{number(members.totalCount ?? members.nodes.length)}</span>
              </span>
            </td>
            <td className={styles.quiet}>{availability === 'EVERYONE' ? t('Everybody') : t('Its members')}</td>
            <td className={styles.quiet}>{owner?.name ?? t('Somebody who left')}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
