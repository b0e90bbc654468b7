import { useState } from 'react';
import { usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Note } from '../../../../ui/feedback.tsx';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { Checkbox, SearchInput } from '../../../../ui/form/field.tsx';
import type { AgentForm } from '../draft/use-draft.ts';
import styles from '../editor.module.css';
import { Fault } from '../parts/Fault.tsx';
import { SharingChoicesDocument } from './documents.ts';

/** The groups that an agent is shared with: those that are chosen first, then what the search finds. */
export function GroupChoice({ form }: { readonly form: AgentForm }) {
  const { t } = useText();
  const [search, setSearch] = useState('');
  const { data, error } = usePage(SharingChoicesDocument, { search: search.trim() === '' ? null : search.trim() });
  const groups = form.fields.groups;
  const others = (data?.groups.nodes ?? []).filter(({ id }) => !groups.some((group) => group.id === id));
  const hasMany = search !== '' || data?.groups.pageInfo.hasNextPage === true;
  return (
    <fieldset className={styles.group}>
      <legend>{t('Groups')}</legend>
      {hasMany ? <SearchInput label={t('Search groups')} value={search} onChange={setSearch} /> : null}
      <ErrorNote error={error} />
      {[...groups, ...others].map(({ id, name }) => (
        <Checkbox
          key={id}
          label={name}
          checked={groups.some((group) => group.id === id)}
          onChange={(event) =>
            form.set('groups', event.target.checked ? [...groups, { id, name }] : groups.filter((group) => group.id !== id))
          }
        />
      ))}
      {data !== undefined && groups.length + others.length === 0 ? (
        <Note>{search === '' ? t('There are no groups yet. Make one under People.') : t('No group fits.')}</Note>
      ) : null}
      <Fault error={findFault(form.error, 'input.groups')} />
    </fieldset>
  );
}
