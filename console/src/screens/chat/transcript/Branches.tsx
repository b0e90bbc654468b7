import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { run } from '../../../graphql/client.ts';
import { useText } from '../../../text/text.ts';
import { IconButton } from '../../../ui/form/button.tsx';
import { useErrorToast } from '../../../ui/overlay/toasts.tsx';
import { useChat } from '../chat-context.ts';
import { type Chat_MessageFragment, ChatSelectBranchDocument, ChatSiblingsDocument } from '../documents.ts';
import styles from './transcript.module.css';

/** Leads from one branch to another, where there are several. */
export function Branches({ message }: { readonly message: Chat_MessageFragment }) {
  const { t, number } = useText();
  const { chat, transcript, isBusy } = useChat();
  const sayError = useErrorToast();
  const [isMoving, setMoving] = useState(false);
  const { id, siblingIndex, siblingCount } = message;
  if (siblingCount < 2) return null;
  const select = async (step: 1 | -1) => {
    setMoving(true);
    try {
      const { node } = await run(ChatSiblingsDocument, { messageId: id });
      const siblings = node !== null && 'siblings' in node ? node.siblings : [];
      const other = siblings[siblings.findIndex((sibling) => sibling.id === id) + step];
      if (other === undefined) return;
      await run(ChatSelectBranchDocument, { messageId: other.id });
      await transcript.reloadBranch();
    } catch (cause) {
      sayError(cause);
    } finally {
      setMoving(false);
    }
  };
  const isFixed = isBusy || isMoving || !chat.canWrite;
  return (
    <fieldset className={styles.branches} aria-label={t('Branches')}>
      <IconButton label={t('Previous branch')} disabled={isFixed || siblingIndex === 0} onClick={() => void select(-1)}>
        <ChevronLeft size={16} aria-hidden />
      </IconButton>
      <span>
        {number(siblingIndex + 1)}/{number(siblingCount)}
      </span>
      <IconButton label={t('Next branch')} disabled={isFixed || siblingIndex === siblingCount - 1} onClick={() => void select(1)}>
        <ChevronRight size={16} aria-hidden />
      </IconButton>
    </fieldset>
  );
}
