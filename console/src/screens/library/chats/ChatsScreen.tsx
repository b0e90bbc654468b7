import { Archive, MessageSquare } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useList, useLiveReload, useMutate, usePage } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { SearchInput, Select } from '../../../ui/form/field.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Toolbar } from '../../../ui/page.tsx';
import { Avatar, Time } from '../../../ui/small.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import { LibraryPage } from '../LibraryPage.tsx';
import styles from '../library.module.css';
import {
  ChangeChatsDocument,
  type ChangeChatsInput,
  type LibraryChatFragment,
  LibraryChatsChangedDocument,
  LibraryChatsDocument,
  LibraryChoicesDocument,
} from './documents.ts';
import { PlaceDialog } from './PlaceDialog.tsx';
import { SelectAll, type Selection, useSelection } from './selection.tsx';
import { useResults } from './use-results.ts';

/** The reader's chats, in the list or archived, to find by tag and project, and to change together. */
export function ChatsScreen({ archive }: { readonly archive: 'WITHOUT' | 'ONLY' }) {
  const { t } = useText();
  const { may } = useSession();
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim()) || null;
  const [tag, setTag] = useState('');
  const [projectId, setProjectId] = useState('');
  const variables = { archive, search, tag: tag === '' ? null : tag, projectId: projectId === '' ? null : projectId };
  const { error, isLoading, reload, pages, isEmpty } = useList(LibraryChatsDocument, variables, (data) => data.chats);
  const choices = usePage(LibraryChoicesDocument, {});
  useLiveReload(LibraryChatsChangedDocument, {}, reload);
  const selection = useSelection(pages.nodes.map(({ id }) => id));
  const isNarrowed = search !== null || tag !== '' || projectId !== '';
  const isArchive = archive === 'ONLY';
  const onChanged = () => {
    reload();
    choices.reload();
  };
  return (
    <LibraryPage
      current={isArchive ? '/library/archive' : '/library'}
      title={isArchive ? t('Archive') : t('All chats')}
      lead={
        isArchive
          ? t('Out of the list and of searches. Nothing in them is lost.')
          : t('Find chats by tag or project, and change several together.')
      }
    >
      <Toolbar>
        <SearchInput label={t('Search chats')} value={typed} onChange={setTyped} />
        <Select aria-label={t('Tag')} value={tag} onChange={(event) => setTag(event.target.value)}>
          <option value="">{t('Every tag')}</option>
          {(choices.data?.chatTags ?? []).map(({ name, chatCount }) => (
            <option key={name} value={name}>
              {name} ({chatCount})
            </option>
          ))}
        </Select>
        <Select aria-label={t('Project')} value={projectId} onChange={(event) => setProjectId(event.target.value)}>
          <option value="">{t('Every project')}</option>
          {(choices.data?.projects.nodes ?? []).map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
      </Toolbar>
      <ErrorNote error={error ?? choices.error} onRetry={onChanged} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {isEmpty ? (
        <EmptyState
          icon={isArchive ? <Archive size={26} aria-hidden /> : <MessageSquare size={26} aria-hidden />}
          title={isNarrowed ? t('Nothing found') : isArchive ? t('Nothing is archived') : t('No chats yet')}
        >
          {isNarrowed
            ? t('Remove a filter, or search for something else.')
            : t('Chats are archived here or in the menu of the list.')}
        </EmptyState>
      ) : (
        <div className={styles.stack}>
          {may('CHATS_WRITE') ? (
            <ChangeBar selection={selection} shownCount={pages.nodes.length} isArchive={isArchive} onChanged={onChanged} />
          ) : null}
          <ul className={styles.rows} aria-label={isArchive ? t('Archived chats') : t('Chats')}>
            {pages.nodes.map((chat) => (
              <ChatRow key={chat.id} chat={chat} selection={may('CHATS_WRITE') ? selection : undefined} />
            ))}
          </ul>
        </div>
      )}
      <ShowMore pages={pages} />
    </LibraryPage>
  );
}

function ChatRow({ chat, selection }: { readonly chat: LibraryChatFragment; readonly selection: Selection | undefined }) {
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
      <Avatar name={chat.agent?.name ?? '?'} pictureUrl={chat.agent?.pictureUrl} />
      <div className={styles.grow}>
        <Link href={`/chats/${chat.id}`}>{name}</Link>
        <span className={styles.facts}>
          <Time at={chat.updatedAt} />
          {chat.agent === null ? null : <span>{chat.agent.name}</span>}
          {chat.project === null ? null : <Link href={`/projects/${chat.project.id}`}>{chat.project.name}</Link>}
          {chat.tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
        </span>
      </div>
    </li>
  );
}

function ChangeBar({
  selection,
  shownCount,
  isArchive,
  onChanged,
}: {
  readonly selection: Selection;
  readonly shownCount: number;
  readonly isArchive: boolean;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const confirm = useConfirm();
  const { run: change, isBusy, error } = useMutate(ChangeChatsDocument);
  const sayResults = useResults();
  const [isPlacing, setPlacing] = useState(false);
  const { ids } = selection;
  const apply = async (input: Omit<ChangeChatsInput, 'chatIds'>, done: (count: number) => string) => {
    const result = await change({ input: { ...input, chatIds: [...ids] } });
    if (result === undefined) return false;
    sayResults(result.changeChats.results, done);
    selection.clear();
    onChanged();
    return true;
  };
  const remove = async () => {
    const isWanted = await confirm({
      title: t('Delete {count, plural, one {# chat} other {# chats}}?', { count: ids.length }),
      body: t('They go to the bin, where you can restore them for a while.'),
      action: t('Delete'),
      isDanger: true,
    });
    if (isWanted)
      await apply({ isDeleted: true }, (count) =>
        t('{count, plural, one {# chat is} other {# chats are}} in the bin.', { count }),
      );
  };
  return (
    <>
      <div className={styles.bar} role="toolbar" aria-label={t('Change the selected chats')}>
        <SelectAll selection={selection} shownCount={shownCount} />
        <Button size="small" disabled={ids.length === 0} onClick={() => setPlacing(true)}>
          {t('Tags and project')}
        </Button>
        <Button
          size="small"
          isBusy={isBusy}
          disabled={ids.length === 0}
          onClick={() =>
            void apply({ isArchived: !isArchive }, (count) =>
              isArchive
                ? t('{count, plural, one {# chat is} other {# chats are}} in the list again.', { count })
                : t('{count, plural, one {# chat is} other {# chats are}} archived.', { count }),
            )
          }
        >
          {isArchive ? t('Put back into the list') : t('Archive')}
        </Button>
        <Button size="small" variant="danger" disabled={ids.length === 0} onClick={() => void remove()}>
          {t('Delete')}
        </Button>
      </div>
      <ErrorNote error={error} />
      {isPlacing ? (
        <PlaceDialog
          count={ids.length}
          error={error}
          isBusy={isBusy}
          onClose={() => setPlacing(false)}
          onApply={async (input) => {
            if (await apply(input, (count) => t('{count, plural, one {# chat is} other {# chats are}} changed.', { count })))
              setPlacing(false);
          }}
        />
      ) : null}
    </>
  );
}
