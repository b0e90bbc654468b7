import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { TextAreaField, TextField } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { SaveDocumentDocument, type SavedDocumentRowFragment } from './documents.ts';

/** Saves a document: a new one, or another text of one that is there. */
export function SavedDocumentForm({
  saved,
  onClose,
  onSaved,
}: {
  readonly saved: SavedDocumentRowFragment | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const { t } = useText();
  const [name, setName] = useState(saved?.name ?? '');
  const [description, setDescription] = useState(saved?.description ?? '');
  const [document, setDocument] = useState(saved?.document ?? '');
  const { run, isBusy, error } = useMutate(SaveDocumentDocument);
  const isWhole = [name, description, document].every((text) => text.trim() !== '');
  const save = async () => {
    if ((await run({ input: { name, description, document } })) !== undefined) onSaved();
  };
  return (
    <FormDialog
      title={saved === undefined ? t('New document') : t('Change {name}', { name })}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Save')}
      isDirty={description !== (saved?.description ?? '') || document !== (saved?.document ?? '')}
      isBusy={isBusy}
      isBlocked={!isWhole}
    >
      {saved === undefined ? (
        <TextField
          label={t('Name')}
          hint={t('Lower-case letters, digits and _. Programs call it by this name.')}
          error={findFault(error, 'name')}
          value={name}
          onChange={setName}
        />
      ) : null}
      <TextAreaField
        label={t('What it is for')}
        hint={t('A model reads this to choose its tools.')}
        error={findFault(error, 'description')}
        rows={2}
        value={description}
        onChange={setDescription}
      />
      <TextAreaField
        label={t('Document')}
        hint={t('One query or mutation. Its variables are what the caller gives.')}
        error={findFault(error, 'document')}
        rows={10}
        spellCheck={false}
        value={document}
        onChange={setDocument}
      />
      <ErrorNote error={errorBeside(error, ['name', 'description', 'document'])} />
    </FormDialog>
  );
}
