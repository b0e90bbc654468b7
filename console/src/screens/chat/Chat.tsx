import { PanelLeft } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../../text/text.ts';
import { IconButton } from '../../ui/button.tsx';
import styles from './Chat.module.css';
import { Conversation } from './Conversation.tsx';
import { Sidebar } from './sidebar/Sidebar.tsx';
import { Start } from './start/Start.tsx';

/** The screen of chats: the list, and the chat that is open, or the place where a new one begins. */
export function Chat({ id }: { readonly id?: string }) {
  const { t } = useText();
  const [isListOpen, setListOpen] = useState(false);
  return (
    <div className={styles.chat}>
      <Sidebar chatId={id} isOpen={isListOpen} onClose={() => setListOpen(false)} />
      <div className={styles.main}>
        <div className={styles.listButton}>
          <IconButton label={t('Chats')} onClick={() => setListOpen(true)}>
            <PanelLeft size={18} aria-hidden />
          </IconButton>
        </div>
        <div className={styles.place}>{id === undefined ? <Start /> : <Conversation key={id} chatId={id} />}</div>
      </div>
    </div>
  );
}
