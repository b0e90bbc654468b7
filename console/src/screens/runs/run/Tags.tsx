import { X } from 'lucide-react';
import { useId, useState } from 'react';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { TextInput } from '../../../ui/form/field.tsx';
import { RunTagsDocument, SetRunTagsDocument } from '../documents.ts';
import styles from './tags.module.css';

const tagsMax = 20;

/** The labels of a run, which everybody sees who sees the run. */
export function Tags({ id, tags: knownTags }: { readonly id: string; readonly tags: readonly string[] }) {
  const { t } = useText();
  const { may } = useSession();
  const listId = useId();
  const [changed, setChanged] = useState<readonly string[]>();
  const [typed, setTyped] = useState('');
  const { run, isBusy, error } = useMutate(SetRunTagsDocument);
  const { data } = usePage(RunTagsDocument, {});
  const tags = changed ?? knownTags;
  const set = async (next: readonly string[]) => {
    const result = await run({ id, tags: [...next] });
    if (result !== undefined) setChanged(result.setRunTags.tags);
    return result !== undefined;
  };
  const add = async () => {
    const tag = typed.trim();
    if (tag !== '' && (await set([...tags, tag]))) setTyped('');
  };
  const mayWrite = may('CHATS_WRITE');
  if (tags.length === 0 && !mayWrite) return null;
  return (
    <section className={styles.tags} aria-label={t('Tags')}>
      {tags.length === 0 ? null : (
        <ul>
          {tags.map((tag) => (
            <li key={tag}>
              <span>{tag}</span>
              {mayWrite ? (
                <IconButton label={t('Remove {tag}', { tag })} onClick={() => void set(tags.filter((each) => each !== tag))}>
                  <X size={14} aria-hidden />
                </IconButton>
              ) : null}
            </li>
          ))}
        </ul>
      )}
      {mayWrite && tags.length < tagsMax ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void add();
          }}
        >
          <TextInput
            aria-label={t('New tag')}
            placeholder={t('New tag')}
            value={typed}
            maxLength={50}
            list={listId}
            onChange={({ target }) => setTyped(target.value)}
          />
          <datalist id={listId}>
            {(data?.runTags ?? []).map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <Button size="small" type="submit" isBusy={isBusy} disabled={typed.trim() === ''}>
            {t('Add')}
          </Button>
        </form>
      ) : null}
      <ErrorNote error={error} />
    </section>
  );
}
