import { FolderOpen, Library, Plus, X } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import { useList, useLiveReload } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { SearchInput } from '../../../ui/form/field.tsx';
import { type Chat_EntryFragment, ChatListChangesDocument, ChatListDocument } from '../documents.ts';
import { ChatEntry } from './ChatEntry.tsx';
import { RenameDialog } from './chat-acts.tsx';
import { chatList, useChatList } from './chat-list.ts';
import styles from './sidebar.module.css';

/** The reader's chats: pinned, of today, and earlier ones; or those in which a text is found. */
export function Sidebar({
  chatId,
  isOpen,
  onClose,
}: {
  readonly chatId: string | undefined;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const { t } = useText();
  const [typed, setTyped] = useState('');
  const search = useDeferredValue(typed.trim());
  // Not in the entry of the chat, which moves to another part of the list when something happens in it.
  const [renamed, setRenamed] = useState<Chat_EntryFragment>();
  // Chats do not move while the menu of one is open.
  const [isHeld, setIsHeld] = useState(false);
  const acts = { isHeld, onOpen: onClose, onMenu: setIsHeld, onRename: setRenamed };
  return (
    <nav className={styles.sidebar} aria-label={t('Chats')} data-open={isOpen}>
      <div className={styles.head}>
        <Link href="/" className={styles.new} onClick={onClose} aria-current={chatId === undefined ? 'page' : undefined}>
          <Plus size={18} aria-hidden /> {t('New chat')}
        </Link>
        <span className={styles.close}>
          <IconButton label={t('Close the list')} onClick={onClose}>
            <X size={18} aria-hidden />
          </IconButton>
        </span>
      </div>
      <div className={styles.search}>
        <SearchInput label={t('Search chats')} value={typed} onChange={setTyped} />
      </div>
      <div className={styles.lists}>
        {search === '' ? <AllChats chatId={chatId} {...acts} /> : <FoundChats search={search} chatId={chatId} {...acts} />}
      </div>
      <div className={styles.foot}>
        <Link href="/projects" onClick={onClose}>
          <FolderOpen size={16} aria-hidden /> {t('Projects')}
        </Link>
        <Link href="/library" onClick={onClose}>
          <Library size={16} aria-hidden /> {t('All chats')}
        </Link>
      </div>
      {renamed === undefined ? null : <RenameDialog chat={renamed} onClose={() => setRenamed(undefined)} />}
    </nav>
  );
}

/** What entries of the list do. */
interface EntryActs {
  readonly onOpen: () => void;
  readonly onMenu: (isOpen: boolean) => void;
  readonly onRename: (chat: Chat_EntryFragment) => void;
}

interface ListProps extends EntryActs {
  readonly chatId: string | undefined;
  /** Whether the list stays as it is. */
  readonly isHeld: boolean;
}

function AllChats({ chatId, isHeld, ...acts }: ListProps) {
  const { t } = useText();
  const { chats: fresh, hasMore, isLoading, error } = useChatList();
  const chats = useHeld(fresh, isHeld);
  const today = new Date().setHours(0, 0, 0, 0);
  const isOfToday = ({ updatedAt }: Chat_EntryFragment) => Date.parse(updatedAt) >= today;
  const unpinned = chats.filter(({ pinPosition }) => pinPosition === null);
  const groups = [
    [t('Pinned'), chats.filter(({ pinPosition }) => pinPosition !== null)],
    [t('Today'), unpinned.filter(isOfToday)],
    [t('Earlier'), unpinned.filter((chat) => !isOfToday(chat))],
  ] as const;
  if (isLoading && chats.length === 0) return <Skeleton lines={6} />;
  return (
    <>
      <ErrorNote error={error} onRetry={() => void chatList.reload()} />
      {chats.length === 0 && error === undefined ? <NoChats /> : null}
      {groups.map(([title, members]) => (
        <Group key={title} title={title} chats={members} chatId={chatId} {...acts} />
      ))}
      {hasMore ? (
        <Button size="small" variant="quiet" onClick={() => void chatList.loadMore()}>
          {t('Show more')}
        </Button>
      ) : null}
    </>
  );
}

/** Who comes from another product brings chats along. */
function NoChats() {
  const { t } = useText();
  return (
    <div className={styles.nothing}>
      <p>{t('No chats yet')}</p>
      <p>
        <Link href="/account/imports">{t('Import chats from elsewhere')}</Link>
      </p>
    </div>
  );
}

function FoundChats({ search, chatId, isHeld, ...acts }: ListProps & { readonly search: string }) {
  const { t } = useText();
  const {
    error,
    isLoading,
    reload,
    pages: more,
  } = useList(ChatListDocument, { first: 30, after: null, search }, (data) => data.chats);
  useLiveReload(ChatListChangesDocument, {}, reload);
  const matches = useHeld(more.nodes, isHeld);
  return (
    <>
      <ErrorNote error={error} />
      {isLoading ? <Skeleton lines={3} /> : null}
      {!isLoading && matches.length === 0 && error === undefined ? <p className={styles.nothing}>{t('Nothing found')}</p> : null}
      <Group title={t('Found')} chats={matches} chatId={chatId} {...acts} />
      <ShowMore pages={more} size="small" variant="quiet" />
    </>
  );
}

function Group({
  title,
  chats,
  chatId,
  ...acts
}: {
  readonly title: string;
  readonly chats: readonly Chat_EntryFragment[];
  readonly chatId: string | undefined;
} & EntryActs) {
  if (chats.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {chats.map((chat) => (
          <ChatEntry key={chat.id} chat={chat} isCurrent={chat.id === chatId} {...acts} />
        ))}
      </ul>
    </section>
  );
}

/** A value that stays as it is while it is held: what somebody points at does not move away under the pointer. */
function useHeld<Value>(value: Value, isHeld: boolean): Value {
  const [held, setHeld] = useState(value);
  if (!isHeld && held !== value) setHeld(value);
  return isHeld ? held : value;
}
