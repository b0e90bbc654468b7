import { Trash2 } from 'lucide-react';
import { useList, useLiveReload, useMutate } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Time } from '../../../ui/small.tsx';
import { LibraryPage } from '../LibraryPage.tsx';
import styles from '../library.module.css';
import {
  BinDocument,
  type BinRowFragment,
  DeleteBinnedChatsDocument,
  LibraryChatsChangedDocument,
  RestoreChatsDocument,
} from './documents.ts';
import { SelectAll, type Selection, useSelection } from './selection.tsx';
import { useResults } from './use-results.ts';

/** What the reader deleted, to restore or to delete for ever. */
export function BinScreen() {
  const { t } = useText();
  const { may } = useSession();
  const { error, isLoading, reload, pages, isEmpty } = useList(BinDocument, {}, (data) => data.binnedChats);
  useLiveReload(LibraryChatsChangedDocument, {}, reload);
  const selection = useSelection(pages.nodes.map(({ id }) => id));
  return (
    <LibraryPage
      current="/library/bin"
      title={t('Bin')}
      lead={t('Deleted chats stay here for a while. Only you see them, and no agent reads them.')}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {isEmpty ? (
        <EmptyState icon={<Trash2 size={26} aria-hidden />} title={t('The bin is empty')}>
          {t('What you delete can be restored from here until its time is over.')}
        </EmptyState>
      ) : (
        <div className={styles.stack}>
          {may('CHATS_WRITE') ? <BinBar selection={selection} shownCount={pages.nodes.length} onChanged={reload} /> : null}
          <ul className={styles.rows} aria-label={t('Deleted chats')}>
            {pages.nodes.map((chat) => (
              <BinRow key={chat.id} chat={chat} selection={may('CHATS_WRITE') ? selection : undefined} />
            ))}
          </ul>
        </div>
      )}
      <ShowMore pages={pages} />
    </LibraryPage>
  );
}

function BinRow({ chat, selection }: { readonly chat: BinRowFragment; readonly selection: Selection | undefined }) {
  const { t } = useText();
  const name = chat.name ?? t('New chat');
  const isChosen = selection?.has(chat.id) === true;
  return (
    <li data-chosen={isChosen || undefined}>
      {selection === undefined ? null : (
        <input
          type="checkbox"
          aria-label={t('Choose {name}', { name })}
          checked={isChosen}
          onChange={() => selection.toggle(chat.id)}
        />
      )}
      <div className={styles.grow}>
        <strong>{name}</strong>
        <span className={styles.facts}>
          <span>
            {t('Deleted')} <Time at={chat.deletedAt} />
          </span>
          <span>
            {t('Gone forever')} <Time at={chat.expiresAt} />
          </span>
        </span>
      </div>
    </li>
  );
}

function BinBar({
  selection,
  shownCount,
  onChanged,
}: {
  readonly selection: Selection;
  readonly shownCount: number;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const confirm = useConfirm();
  const restoring = useMutate(RestoreChatsDocument);
  const deleting = useMutate(DeleteBinnedChatsDocument);
  const sayResults = useResults();
  const { ids } = selection;
  const restore = async () => {
    const result = await restoring.run({ input: { chatIds: [...ids] } });
    if (result === undefined) return;
    sayResults(result.restoreChats.results, (count) =>
      t('{count, plural, one {# chat is} other {# chats are}} restored.', { count }),
    );
    selection.clear();
    onChanged();
  };
  const remove = async () => {
    const isWanted = await confirm({
      title: t('Delete {count, plural, one {# chat} other {# chats}} forever?', { count: ids.length }),
      body: t('Everything said in them, with their files, is deleted. This cannot be undone.'),
      action: t('Delete forever'),
      isDanger: true,
    });
    if (!isWanted) return;
    const result = await deleting.run({ input: { chatIds: [...ids] } });
    if (result === undefined) return;
    sayResults(result.deleteBinnedChats.results, (count) =>
      t('{count, plural, one {# chat is} other {# chats are}} deleted forever.', { count }),
    );
    selection.clear();
    onChanged();
  };
  return (
    <>
      <div className={styles.bar} role="toolbar" aria-label={t('Change the selected chats')}>
        <SelectAll selection={selection} shownCount={shownCount} />
        <Button size="small" isBusy={restoring.isBusy} disabled={ids.length === 0} onClick={() => void restore()}>
          {t('Restore')}
        </Button>
        <Button size="small" variant="danger" isBusy={deleting.isBusy} disabled={ids.length === 0} onClick={() => void remove()}>
          {t('Delete forever')}
        </Button>
      </div>
      <ErrorNote error={restoring.error ?? deleting.error} />
    </>
  );
}
