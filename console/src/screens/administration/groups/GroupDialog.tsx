import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Field, Select, TextArea, TextInput } from '../../../ui/form/field.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { CreateGroupDocument, type GroupRowFragment, UpdateGroupDocument } from './documents.ts';

/** E-mail addresses as people write them one after the other. */
export const parseAddresses = (text: string) => text.split(/[\s,;]+/).filter((address) => address !== '');

/** Makes a group, or changes the name of one and who sees it. */
export function GroupDialog({
  group,
  onClose,
  onSaved,
}: {
  readonly group?: GroupRowFragment;
  readonly onClose: () => void;
  readonly onSaved: (group: GroupRowFragment) => void;
}) {
  const { t } = useText();
  const [name, setName] = useState(group?.name ?? '');
  const [availability, setAvailability] = useState(group?.availability ?? 'EVERYONE');
  const [addresses, setAddresses] = useState('');
  const create = useMutate(CreateGroupDocument);
  const update = useMutate(UpdateGroupDocument);
  const { isBusy, error } = group === undefined ? create : update;
  const save = async () => {
    const members = { name: name.trim(), availability };
    const result =
      group === undefined
        ? (await create.run({ input: { ...members, memberEmails: parseAddresses(addresses) } }))?.createGroup
        : (await update.run({ id: group.id, input: members }))?.updateGroup;
    if (result === undefined) return;
    onSaved(result);
    onClose();
  };
  return (
    <Dialog
      title={group === undefined ? t('New group') : t('Edit the group')}
      isOpen
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button type="submit" variant="primary" isBusy={isBusy} disabled={name.trim() === ''}>
            {group === undefined ? t('Make the group') : t('Save')}
          </Button>
        </>
      }
    >
      <Field label={t('Name')} error={findFault(error, 'name')}>
        {(control) => <TextInput {...control} maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field label={t('Who sees it')} hint={t('Its owner and administrators see it always.')}>
        {(control) => (
          <Select
            {...control}
            value={availability}
            onChange={(event) => setAvailability(event.target.value === 'RESTRICTED' ? 'RESTRICTED' : 'EVERYONE')}
          >
            <option value="EVERYONE">{t('Everybody in the organization')}</option>
            <option value="RESTRICTED">{t('Its members')}</option>
          </Select>
        )}
      </Field>
      {group === undefined ? (
        <Field
          label={t('Members')}
          hint={t('E-mail addresses, one after the other. People who have no account yet belong to it once they have.')}
          error={findFault(error, 'memberEmails')}
        >
          {(control) => <TextArea {...control} value={addresses} onChange={(event) => setAddresses(event.target.value)} />}
        </Field>
      ) : null}
      <ErrorNote error={errorBeside(error, ['name', 'memberEmails'])} />
    </Dialog>
  );
}
