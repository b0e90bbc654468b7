import { MoreHorizontal } from 'lucide-react';
import { memo } from 'react';
import { Link } from 'wouter';
import { useText } from '../../../text/text.ts';
import { IconButton } from '../../../ui/form/button.tsx';
import { Menu } from '../../../ui/overlay/menu.tsx';
import { Spinner } from '../../../ui/progress.tsx';
import { Avatar } from '../../../ui/small.tsx';
import type { Chat_EntryFragment } from '../documents.ts';
import { useChatActs } from './chat-acts.tsx';
import styles from './sidebar.module.css';

/** A chat of the list, with what can be done with it. */
export const ChatEntry = memo(function ChatEntry({
  chat,
  isCurrent,
  onOpen,
  onMenu,
  onRename,
}: {
  readonly chat: Chat_EntryFragment;
  readonly isCurrent: boolean;
  readonly onOpen: () => void;
  readonly onMenu: (isOpen: boolean) => void;
  readonly onRename: (chat: Chat_EntryFragment) => void;
}) {
  const { t } = useText();
  const items = useChatActs(chat, () => onRename(chat));
  const name = chat.name ?? t('New chat');
  return (
    <li className={styles.entry} data-unread={chat.isUnread || undefined}>
      <Link href={`/chats/${chat.id}`} aria-current={isCurrent ? 'page' : undefined} onClick={onOpen}>
        <Avatar name={chat.agent?.name ?? '?'} pictureUrl={chat.agent?.pictureUrl} size={20} />
        <span className={styles.name}>{name}</span>
        {chat.activeRunId !== null ? <Spinner label={t('Is being answered')} /> : null}
        {chat.activeRunId === null && chat.isUnread ? (
          <span className={styles.unread} role="img" aria-label={t('Unread')} title={t('Unread')} />
        ) : null}
      </Link>
      <Menu label={name} items={items} onOpenChange={onMenu}>
        <IconButton label={t('More about {name}', { name })}>
          <MoreHorizontal size={16} aria-hidden />
        </IconButton>
      </Menu>
    </li>
  );
});
