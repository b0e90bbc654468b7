import { useState } from 'react';
import { usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { NamedChoice } from '../../../../ui/form/named-choice.tsx';
import { useDelayed } from '../../../../ui/use-delayed.ts';
import type { AgentForm } from '../draft/use-draft.ts';
import styles from '../editor.module.css';
import { Fault } from '../parts/Fault.tsx';
import { SharingChoicesDocument } from './documents.ts';

/** The groups that an agent is shared with. */
export function GroupChoice({ form }: { readonly form: AgentForm }) {
  const { t } = useText();
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim()) || null;
  const { data, error } = usePage(SharingChoicesDocument, { search });
  const hasMany = typed !== '' || data?.groups.pageInfo.hasNextPage === true;
  return (
    <NamedChoice
      title={t('Groups')}
      chosen={form.fields.groups}
      matches={data?.groups.nodes}
      onChange={(groups) => form.set('groups', [...groups])}
      search={hasMany ? { label: t('Search groups'), value: typed, onChange: setTyped } : undefined}
      error={error}
      nothing={search === null ? t('There are no groups yet. Make one under People.') : t('No group fits.')}
      className={styles.group}
    >
      <Fault error={findFault(form.error, 'input.groups')} />
    </NamedChoice>
  );
}
