import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { TextAreaField } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { AddMemoryDocument, type MemoryRowFragment, SaveMemoryDocument } from './documents.ts';

/** Corrects a memory, or adds one for every agent. */
export function MemoryDialog({
  memory,
  onClose,
  onSaved,
}: {
  readonly memory: MemoryRowFragment | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const { t } = useText();
  const [text, setText] = useState(memory?.text ?? '');
  const add = useMutate(AddMemoryDocument);
  const change = useMutate(SaveMemoryDocument);
  const { isBusy, error } = memory === undefined ? add : change;
  const save = async () => {
    const input = { text: text.trim() };
    const result = memory === undefined ? await add.run({ input }) : await change.run({ id: memory.id, input });
    if (result === undefined) return;
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={memory === undefined ? t('Add a memory') : t('Edit the memory')}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Save')}
      isDirty={text !== (memory?.text ?? '')}
      isBusy={isBusy}
      isBlocked={text.trim() === ''}
    >
      <TextAreaField
        label={t('What agents should know')}
        hint={memory === undefined ? t('Such as: I work in sales. Answer briefly, in German.') : undefined}
        error={findFault(error, 'text')}
        value={text}
        onChange={setText}
      />
      <ErrorNote error={errorBeside(error, ['text'])} />
    </FormDialog>
  );
}
