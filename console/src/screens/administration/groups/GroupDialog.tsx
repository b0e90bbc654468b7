import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { SelectField, TextAreaField, TextField } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
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
    <FormDialog
      title={group === undefined ? t('New group') : t('Edit the group')}
      onClose={onClose}
      onSubmit={() => void save()}
      action={group === undefined ? t('Make the group') : t('Save')}
      isBusy={isBusy}
      isBlocked={name.trim() === ''}
    >
      <TextField label={t('Name')} error={findFault(error, 'name')} maxLength={200} value={name} onChange={setName} />
      <SelectField
        label={t('Who sees it')}
        hint={t('Its owner and administrators see it always.')}
        value={availability}
        onChange={setAvailability}
        options={[
          { value: 'EVERYONE', label: t('Everybody in the organization') },
          { value: 'RESTRICTED', label: t('Its members') },
        ]}
      />
      {group === undefined ? (
        <TextAreaField
          label={t('Members')}
          hint={t('E-mail addresses, one after the other. People who have no account yet belong to it once they have.')}
          error={findFault(error, 'memberEmails')}
          value={addresses}
          onChange={setAddresses}
        />
      ) : null}
      <ErrorNote error={errorBeside(error, ['name', 'memberEmails'])} />
    </FormDialog>
  );
}
