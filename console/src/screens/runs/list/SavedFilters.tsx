import { Bookmark, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Skeleton } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { TextField } from '../../../ui/form/fields.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { DeleteRunFilterDocument, SavedRunFiltersDocument, SaveRunFilterDocument } from '../documents.ts';
import styles from './saved.module.css';

/** The reader's own filters by name: one is applied, the one that holds is saved, and others are deleted. */
export function SavedFilters({ search }: { readonly search: string }) {
  const { t } = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="quiet" icon={<Bookmark size={16} aria-hidden />} aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {t('Saved filters')}
      </Button>
      {isOpen ? <SavedFiltersDialog search={search} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function SavedFiltersDialog({ search, onClose }: { readonly search: string; readonly onClose: () => void }) {
  const { t } = useText();
  const [, go] = useLocation();
  const { data, error, isLoading, reload } = usePage(SavedRunFiltersDocument, {});
  const remove = useMutate(DeleteRunFilterDocument);
  const filters = data?.savedRunFilters ?? [];
  const removeOne = async (id: string) => {
    if ((await remove.run({ id })) !== undefined) reload();
  };
  return (
    <Dialog title={t('Saved filters')} size="small" isOpen onClose={onClose}>
      <ErrorNote error={error ?? remove.error} />
      {isLoading ? <Skeleton lines={2} /> : null}
      {!isLoading && filters.length === 0 ? <p>{t('No saved filters yet. Narrow the list, then name what you see.')}</p> : null}
      <ul className={styles.filters}>
        {filters.map(({ id, name, query }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => {
                onClose();
                go(query === '' ? '/runs' : `/runs?${query}`);
              }}
            >
              {name}
            </button>
            <IconButton label={t('Delete the filter {name}', { name })} onClick={() => void removeOne(id)}>
              <Trash2 size={16} aria-hidden />
            </IconButton>
          </li>
        ))}
      </ul>
      {search === '' ? null : <SaveForm search={search} onSaved={reload} />}
    </Dialog>
  );
}

function SaveForm({ search, onSaved }: { readonly search: string; readonly onSaved: () => void }) {
  const { t } = useText();
  const [name, setName] = useState('');
  const { run, isBusy, error } = useMutate(SaveRunFilterDocument);
  const save = async () => {
    if ((await run({ input: { name: name.trim(), query: search } })) === undefined) return;
    setName('');
    onSaved();
  };
  return (
    <form
      className={styles.save}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField
        label={t('Save what the list shows now')}
        hint={t('A filter with the same name is replaced.')}
        error={findFault(error, 'name')}
        value={name}
        maxLength={100}
        onChange={setName}
      />
      <ErrorNote error={errorBeside(error, ['name'])} />
      <Button variant="primary" type="submit" isBusy={isBusy} disabled={name.trim() === ''}>
        {t('Save')}
      </Button>
    </form>
  );
}
