import { PanelLeft } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useText } from '../../text/text.ts';
import { Skeleton } from '../../ui/feedback.tsx';
import { IconButton } from '../../ui/form/button.tsx';
import styles from './Chat.module.css';
import { Sidebar } from './sidebar/Sidebar.tsx';
import { Start } from './start/Start.tsx';

/** Markdown and the long list are not needed to begin: they come while the first page is read, or at once where the address is that of a chat. */
const loadConversation = () => import('./Conversation.tsx');
const Conversation = lazy(() => loadConversation().then(({ Conversation: conversation }) => ({ default: conversation })));
const Temporary = lazy(() =>
  import('./start/temporary/Temporary.tsx').then(({ Temporary: temporary }) => ({ default: temporary })),
);
if (location.pathname.startsWith('/chats/')) void loadConversation().catch(() => undefined);

/** The screen of chats: the list, and the chat that is open, or the place where a new one begins. */
export function Chat({ id, isTemporary = false }: { readonly id?: string; readonly isTemporary?: boolean }) {
  const { t } = useText();
  const [isListOpen, setListOpen] = useState(false);
  // Where this fails, opening a chat tries again and says so.
  useEffect(() => void loadConversation().catch(() => undefined), []);
  return (
    <div className={styles.chat}>
      <Sidebar chatId={id} isOpen={isListOpen} onClose={() => setListOpen(false)} />
      <div className={styles.main}>
        <div className={styles.listButton}>
          <IconButton label={t('Chats')} onClick={() => setListOpen(true)}>
            <PanelLeft size={18} aria-hidden />
          </IconButton>
        </div>
        <div className={styles.place}>
          <Suspense fallback={<Loading />}>
            {isTemporary ? <Temporary /> : id === undefined ? <Start /> : <Conversation key={id} chatId={id} />}
          </Suspense>
        </div>
      </div>
    </div>
  );
}

function Loading() {
  return (
    <div className={styles.loading}>
      <Skeleton lines={8} />
    </div>
  );
}
