import { ChevronRight, FileText, Folder } from 'lucide-react';
import { useState } from 'react';
import { run } from '../../../graphql/client.ts';
import { usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { SearchInput } from '../../../ui/form/field.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import { ConnectionContentDocument } from '../documents.ts';
import type { Entry } from '../kinds.ts';
import { useFurther } from '../use-further.ts';
import styles from './add.module.css';

/** Lists what an account holds, from the top down, to choose from. */
export function EntryBrowser({
  connectionId,
  chosen,
  isMany,
  onChange,
}: {
  readonly connectionId: string;
  readonly chosen: readonly Entry[];
  readonly isMany: boolean;
  readonly onChange: (entries: readonly Entry[]) => void;
}) {
  const { t } = useText();
  const [path, setPath] = useState<readonly Entry[]>([]);
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim());
  const variables = {
    connectionId,
    parentId: search === '' ? (path.at(-1)?.entryId ?? null) : null,
    search: search === '' ? null : search,
  };
  const { data, error, isLoading, reload } = usePage(ConnectionContentDocument, variables);
  const further = useFurther(data?.connectionEntries, async (after) => {
    return (await run(ConnectionContentDocument, { ...variables, after })).connectionEntries;
  });
  const isChosen = ({ entryId }: Entry) => chosen.some((each) => each.entryId === entryId);
  const choose = (entry: Entry) => {
    if (isChosen(entry)) onChange(chosen.filter(({ entryId }) => entryId !== entry.entryId));
    else onChange(isMany ? [...chosen, entry] : [entry]);
  };
  return (
    <fieldset className={styles.browser}>
      <legend>{t('What to read')}</legend>
      <SearchInput label={t('Search in the service')} value={typed} onChange={setTyped} />
      {search === '' && path.length > 0 ? (
        <nav aria-label={t('Path')} className={styles.crumbs}>
          <Button size="small" variant="quiet" onClick={() => setPath([])}>
            {t('Top')}
          </Button>
          {path.map((entry, index) => (
            <span key={entry.entryId}>
              <ChevronRight size={14} aria-hidden />
              <Button size="small" variant="quiet" onClick={() => setPath(path.slice(0, index + 1))}>
                {entry.name}
              </Button>
            </span>
          ))}
        </nav>
      ) : null}
      <ErrorNote error={error ?? further.error} onRetry={reload} />
      {isLoading ? <Skeleton lines={4} /> : null}
      <ul className={styles.entries}>
        {further.nodes.map((entry) => (
          <EntryLine
            key={entry.entryId}
            entry={entry}
            type={isMany ? 'checkbox' : 'radio'}
            isChosen={isChosen(entry)}
            isSearched={search !== ''}
            onChoose={() => choose(entry)}
            onOpen={() => setPath([...path, entry])}
          />
        ))}
      </ul>
      {data !== undefined && further.nodes.length === 0 ? <p className={styles.hint}>{t('There is nothing here.')}</p> : null}
      <ShowMore pages={further} size="small" />
      {chosen.length > 0 ? (
        <p className={styles.hint}>{t('Chosen: {names}', { names: chosen.map(({ name }) => name).join(', ') })}</p>
      ) : null}
    </fieldset>
  );
}

function EntryLine({
  entry,
  type,
  isChosen,
  isSearched,
  onChoose,
  onOpen,
}: {
  readonly entry: Entry;
  readonly type: 'checkbox' | 'radio';
  readonly isChosen: boolean;
  /** Its path is shown then, and it is not opened. */
  readonly isSearched: boolean;
  readonly onChoose: () => void;
  readonly onOpen: () => void;
}) {
  const { t } = useText();
  return (
    <li>
      <label>
        <input type={type} name="entry" disabled={!entry.canBeAdded} checked={isChosen} onChange={onChoose} />
        {entry.hasChildren ? <Folder size={16} aria-hidden /> : <FileText size={16} aria-hidden />}
        <span>
          {entry.name}
          {isSearched && entry.path !== entry.name ? <small>{entry.path}</small> : null}
        </span>
      </label>
      {entry.hasChildren && !isSearched ? (
        <Button size="small" variant="quiet" onClick={onOpen} aria-label={t('Open folder {name}', { name: entry.name })}>
          {t('Open folder')}
        </Button>
      ) : null}
    </li>
  );
}
