import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Field, TextArea, TextInput } from '../../../ui/form/field.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
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
    <Dialog
      title={saved === undefined ? t('New document') : t('Change {name}', { name })}
      isOpen
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button type="submit" variant="primary" isBusy={isBusy} disabled={!isWhole}>
            {t('Save')}
          </Button>
        </>
      }
    >
      {saved === undefined ? (
        <Field
          label={t('Name')}
          hint={t('Lower-case letters, digits and _. Programs call it by this name.')}
          error={findFault(error, 'name')}
        >
          {(control) => <TextInput {...control} value={name} onChange={({ target }) => setName(target.value)} />}
        </Field>
      ) : null}
      <Field
        label={t('What it is for')}
        hint={t('A model reads this to choose its tools.')}
        error={findFault(error, 'description')}
      >
        {(control) => (
          <TextArea {...control} rows={2} value={description} onChange={({ target }) => setDescription(target.value)} />
        )}
      </Field>
      <Field
        label={t('Document')}
        hint={t('One query or mutation. Its variables are what the caller gives.')}
        error={findFault(error, 'document')}
      >
        {(control) => (
          <TextArea
            {...control}
            rows={10}
            spellCheck={false}
            value={document}
            onChange={({ target }) => setDocument(target.value)}
          />
        )}
      </Field>
      <ErrorNote error={errorBeside(error, ['name', 'description', 'document'])} />
    </Dialog>
  );
}
