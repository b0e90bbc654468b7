import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { SelectField, TextField } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { type ChangeChatsInput, LibraryChoicesDocument } from './documents.ts';

const kept = 'kept';
const none = 'none';

/** Adds and takes away tags of several chats, and moves them to a project. */
export function PlaceDialog({
  count,
  error,
  isBusy,
  onClose,
  onApply,
}: {
  readonly count: number;
  readonly error: ParleyError | undefined;
  readonly isBusy: boolean;
  readonly onClose: () => void;
  readonly onApply: (input: Omit<ChangeChatsInput, 'chatIds'>) => Promise<void>;
}) {
  const { t } = useText();
  const { data } = usePage(LibraryChoicesDocument, {});
  const [added, setAdded] = useState('');
  const [removed, setRemoved] = useState('');
  const [project, setProject] = useState(kept);
  const input = {
    ...(listTags(added).length === 0 ? {} : { addTags: listTags(added) }),
    ...(listTags(removed).length === 0 ? {} : { removeTags: listTags(removed) }),
    ...(project === kept ? {} : { projectId: project === none ? null : project }),
  };
  return (
    <FormDialog
      title={t('Tags and project of {count, plural, one {# chat} other {# chats}}', { count })}
      size="small"
      onClose={onClose}
      onSubmit={() => void onApply(input)}
      action={t('Apply')}
      isBusy={isBusy}
      isBlocked={Object.keys(input).length === 0}
    >
      <TextField
        label={t('Add tags')}
        hint={t('Separated by commas, such as: travel, rome')}
        value={added}
        maxLength={500}
        list="library-tags"
        onChange={setAdded}
      />
      <TextField label={t('Remove tags')} value={removed} maxLength={500} list="library-tags" onChange={setRemoved} />
      <datalist id="library-tags">
        {(data?.chatTags ?? []).map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <SelectField
        label={t('Project')}
        value={project}
        onChange={setProject}
        options={[
          { value: kept, label: t('As it is') },
          { value: none, label: t('In no project') },
          ...(data?.projects.nodes ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
      />
      <ErrorNote error={error} />
    </FormDialog>
  );
}

function listTags(text: string): string[] {
  return [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
}
