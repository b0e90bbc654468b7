import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Field, Select, TextInput } from '../../../ui/form/field.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
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
    <Dialog
      title={t('Tags and project of {count, plural, one {# chat} other {# chats}}', { count })}
      size="small"
      isOpen
      onClose={onClose}
      onSubmit={() => void onApply(input)}
      actions={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button variant="primary" type="submit" isBusy={isBusy} disabled={Object.keys(input).length === 0}>
            {t('Apply')}
          </Button>
        </>
      }
    >
      <Field label={t('Add tags')} hint={t('Separated by commas, such as: travel, rome')}>
        {(control) => (
          <TextInput
            {...control}
            value={added}
            maxLength={500}
            list="library-tags"
            onChange={(event) => setAdded(event.target.value)}
          />
        )}
      </Field>
      <Field label={t('Remove tags')}>
        {(control) => (
          <TextInput
            {...control}
            value={removed}
            maxLength={500}
            list="library-tags"
            onChange={(event) => setRemoved(event.target.value)}
          />
        )}
      </Field>
      <datalist id="library-tags">
        {(data?.chatTags ?? []).map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Field label={t('Project')}>
        {(control) => (
          <Select {...control} value={project} onChange={(event) => setProject(event.target.value)}>
            <option value={kept}>{t('As it is')}</option>
            <option value={none}>{t('In no project')}</option>
            {(data?.projects.nodes ?? []).map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <ErrorNote error={error} />
    </Dialog>
  );
}

function listTags(text: string): string[] {
  return [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
}
