import { useId, useState } from 'react';
import { usePage } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Field, TextInput } from '../../../ui/form/field.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import { MembersDocument } from '../members/documents.ts';

/** A field that names one member of the organization: by name or address, with those that fit below it. */
export function PersonChoice({
  label,
  value,
  onChange,
  without,
  empty,
}: {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (userId: string | undefined) => void;
  /** Who cannot be chosen. */
  readonly without?: string;
  /** Who it is while nothing is typed. */
  readonly empty?: string;
}) {
  const { t } = useText();
  const { viewer } = useSession();
  const listId = useId();
  const [typed, setTyped] = useState('');
  // A chosen entry reads "Ann <ann@example.com>": its address is what is searched.
  const words = /<([^>]+)>$/.exec(typed.trim())?.[1] ?? typed.trim();
  const search = useDelayed(words);
  const { data, error } = usePage(MembersDocument, {
    orgId: viewer.organization.id,
    isActive: true,
    first: 20,
    search: search === '' ? null : search,
  });
  const people = (data?.users.nodes ?? []).filter(({ id }) => id !== without);
  const choose = (text: string) => {
    setTyped(text);
    const address = (/<([^>]+)>$/.exec(text.trim())?.[1] ?? text.trim()).toLowerCase();
    onChange(people.find(({ name, email }) => email === address || name.toLowerCase() === address)?.id);
  };
  const isUnknown = typed.trim() !== '' && value === undefined && search === words && data !== undefined;
  return (
    <Field label={label} error={isUnknown && people.length === 0 ? t('Nobody is found') : undefined}>
      {(control) => (
        <>
          <TextInput
            {...control}
            list={listId}
            autoComplete="off"
            placeholder={empty ?? t('Name or e-mail address')}
            value={typed}
            onChange={(event) => choose(event.target.value)}
          />
          <datalist id={listId}>
            {people.map(({ id, name, email }) => (
              <option key={id} value={`${name} <${email}>`} />
            ))}
          </datalist>
          <ErrorNote error={error} />
        </>
      )}
    </Field>
  );
}
