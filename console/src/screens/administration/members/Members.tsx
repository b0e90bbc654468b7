import { UserPlus, Users } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useList, useLiveReload } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { SearchInput, Select } from '../../../ui/form/field.tsx';
import { Table, Toolbar } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import { type MemberRowFragment, MembersDocument, PeopleChangedDocument } from './documents.ts';
import { InviteDialog } from './InviteDialog.tsx';
import { PersonCell } from './PersonCell.tsx';
import { RoleSelect } from './RoleSelect.tsx';

/** The people of the organization. */
export function Members() {
  const { t, number } = useText();
  const { may, viewer } = useSession();
  const [, go] = useLocation();
  const isInviting = new URLSearchParams(useSearch()).has('new') && may('ADMIN_WRITE');
  const [typed, setTyped] = useState('');
  const [isActive, setActive] = useState(true);
  const search = useDelayed(typed.trim());
  const variables = { orgId: viewer.organization.id, isActive, search: search === '' ? null : search };
  const { data, error, isLoading, reload, pages, isEmpty } = useList(MembersDocument, variables, (data) => data.users);
  useLiveReload(PeopleChangedDocument, {}, reload);
  return (
    <PeoplePage
      title={t('People')}
      lead={
        data?.users.totalCount == null
          ? undefined
          : t('{count, plural, one {# person} other {# people}}', { count: data.users.totalCount })
      }
      actions={
        may('ADMIN_WRITE') ? (
          <Button variant="primary" icon={<UserPlus size={17} aria-hidden />} onClick={() => go('/people?new')}>
            {t('Invite')}
          </Button>
        ) : undefined
      }
    >
      <Toolbar>
        <SearchInput label={t('Search people')} value={typed} onChange={setTyped} />
        <Select
          aria-label={t('Which people')}
          value={String(isActive)}
          onChange={(event) => setActive(event.target.value === 'true')}
        >
          <option value="true">{t('Active')}</option>
          <option value="false">{t('Deactivated')}</option>
        </Select>
      </Toolbar>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={8} /> : null}
      {isEmpty ? <NoPeople isSearch={search !== ''} isActive={isActive} /> : null}
      {pages.nodes.length === 0 ? null : (
        <Table label={t('People')}>
          <thead>
            <tr>
              <th scope="col">{t('Person')}</th>
              <th scope="col">{t('Role')}</th>
              <th scope="col">{t('Groups')}</th>
              <th scope="col">{t('Since')}</th>
            </tr>
          </thead>
          <tbody>
            {pages.nodes.map((person) => (
              <MemberRow key={person.id} person={person} onChanged={reload} />
            ))}
          </tbody>
        </Table>
      )}
      <ShowMore pages={pages} />
      <InviteDialog isOpen={isInviting} onClose={() => go('/people', { replace: true })} />
      <span className="visually-hidden" role="status">
        {data === undefined ? '' : t('{shown} shown', { shown: number(pages.nodes.length) })}
      </span>
    </PeoplePage>
  );
}

function MemberRow({ person, onChanged }: { readonly person: MemberRowFragment; readonly onChanged: () => void }) {
  const { t } = useText();
  const { viewer } = useSession();
  const membership = person.memberships?.nodes.find(({ orgId }) => orgId === viewer.organization.id);
  const more = (person.groups?.totalCount ?? 0) - (person.groups?.nodes.length ?? 0);
  return (
    <tr>
      <th scope="row">
        <PersonCell name={person.name} email={person.email} href={`/people/${person.id}`}>
          {person.id === viewer.user.id ? <Badge>{t('You')}</Badge> : null}
        </PersonCell>
      </th>
      <td>
        {membership === undefined ? (
          <Badge tone="warn">{t('Deactivated')}</Badge>
        ) : (
          <RoleSelect membership={membership} userId={person.id} name={person.name} onChanged={onChanged} />
        )}
      </td>
      <td>
        <span className={styles.chips}>
          {person.groups?.nodes.map(({ id, name }) => (
            <Link key={id} href={`/people/groups/${id}`}>
              <Badge>{name}</Badge>
            </Link>
          ))}
          {more > 0 ? <Badge>{t('{count} more', { count: more })}</Badge> : null}
        </span>
      </td>
      <td className={styles.nowrap}>
        <Time at={membership?.createdAt ?? person.createdAt} />
      </td>
    </tr>
  );
}

function NoPeople({ isSearch, isActive }: { readonly isSearch: boolean; readonly isActive: boolean }) {
  const { t } = useText();
  if (isSearch) return <EmptyState title={t('Nobody is found')}>{t('Names and e-mail addresses are searched.')}</EmptyState>;
  if (isActive) return <EmptyState icon={<Users size={26} aria-hidden />} title={t('Nobody is here yet')} />;
  return (
    <EmptyState title={t('Nobody is deactivated')}>
      {t('Who is deactivated is shut out at once, and can come back. What the person made stays.')}
    </EmptyState>
  );
}
