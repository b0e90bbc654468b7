import { Eraser, ScrollText } from 'lucide-react';
import { useMutate } from '../../../graphql/hooks.ts';
import { Markdown } from '../../../parts/markdown/Markdown.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useChat } from '../chat-context.ts';
import { ChatRestoreContextDocument } from '../documents.ts';
import styles from './context.module.css';

/** Where the part of the chat begins that the agent gets: with a summary of what was said before, or with nothing of it. */
export function ContextRow({
  summary,
  isEarlierShown,
  onShowEarlier,
}: {
  /** Null: the agent begins anew. */
  readonly summary: string | null;
  readonly isEarlierShown: boolean;
  readonly onShowEarlier: (isShown: boolean) => void;
}) {
  const { t } = useText();
  const { chat, transcript, isBusy } = useChat();
  const { run: restore, isBusy: isRestoring, error } = useMutate(ChatRestoreContextDocument);
  const undo = async () => {
    const result = await restore({ id: chat.id });
    if (result !== undefined) transcript.takeHead(result.restoreChatContext);
  };
  const words =
    summary === null
      ? t('The agent begins afresh here: it does not get what was said above.')
      : t('The agent gets this summary in place of what was said before.');
  return (
    <section className={styles.context} aria-label={summary === null ? t('Begun afresh') : t('Summary')}>
      <p className={styles.words}>
        {summary === null ? <Eraser size={16} aria-hidden /> : <ScrollText size={16} aria-hidden />}
        {words}
      </p>
      {summary === null ? null : (
        <div className={styles.summary}>
          <Markdown text={summary} isGrowing={false} />
        </div>
      )}
      <div className={styles.acts}>
        {summary === null ? null : (
          <Button size="small" variant="quiet" aria-expanded={isEarlierShown} onClick={() => onShowEarlier(!isEarlierShown)}>
            {isEarlierShown ? t('Hide what was said before') : t('Show what was said before')}
          </Button>
        )}
        {chat.canWrite ? (
          <Button size="small" variant="quiet" isBusy={isRestoring} disabled={isBusy} onClick={() => void undo()}>
            {t('Undo')}
          </Button>
        ) : null}
      </div>
      <ErrorNote error={error} />
    </section>
  );
}
