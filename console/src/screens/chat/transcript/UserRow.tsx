import { Pencil } from 'lucide-react';
import { memo, useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { TextArea } from '../../../ui/form/field.tsx';
import { isPressed } from '../../../ui/form/keys.ts';
import { CopyButton } from '../../../ui/small.tsx';
import { useChat } from '../chat-context.ts';
import { type Chat_MessageFragment, ChatEditDocument } from '../documents.ts';
import { chosenModel } from '../start/chosen-model.ts';
import { Branches } from './Branches.tsx';
import { Files } from './Files.tsx';
import { Outcome } from './Outcome.tsx';
import styles from './transcript.module.css';

/** What a person said. It can be said in other words, which begins a branch. */
export const UserRow = memo(function UserRow({
  message,
  isUnanswered,
}: {
  readonly message: Chat_MessageFragment;
  readonly isUnanswered: boolean;
}) {
  const { t } = useText();
  const { chat, isBusy } = useChat();
  const [isEditing, setEditing] = useState(false);
  return (
    <article className={styles.user} aria-label={t('You')}>
      <p className={styles.printedWho}>{t('You')}</p>
      {isEditing ? (
        <EditForm message={message} onDone={() => setEditing(false)} />
      ) : (
        <div className={styles.bubble} dir="auto">
          <Files parts={message.parts} />
          {message.content}
        </div>
      )}
      <div className={styles.bar}>
        <Branches message={message} />
        <CopyButton text={message.content} label={t('Copy the message')} />
        {chat.canWrite ? (
          <IconButton label={t('Edit the message')} disabled={isBusy} onClick={() => setEditing(true)}>
            <Pencil size={16} aria-hidden />
          </IconButton>
        ) : null}
      </div>
      {isUnanswered ? (
        <Outcome run={message.run} error={message.error ?? message.run?.error ?? null} messageId={message.id} isUnanswered />
      ) : null}
    </article>
  );
});

function EditForm({ message, onDone }: { readonly message: Chat_MessageFragment; readonly onDone: () => void }) {
  const { t } = useText();
  const { chat, transcript } = useChat();
  const [text, setText] = useState(message.content);
  const { run, isBusy, error } = useMutate(ChatEditDocument);
  const files = message.parts.flatMap((part) => (part.__typename === 'FilePart' && part.file !== null ? [part.fileId] : []));
  const send = async () => {
    const parts = [{ text }, ...files.map((fileId) => ({ fileId }))];
    const prompt = files.length === 0 ? { text } : { parts };
    const result = await run({ id: message.id, input: { prompt, modelId: chosenModel(chat.id) ?? null } });
    if (result === undefined) return;
    transcript.takeBegun(result.editMessage, true);
    onDone();
  };
  return (
    <form
      className={styles.edit}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <TextArea
        aria-label={t('The message in other words')}
        dir="auto"
        value={text}
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => isPressed(event, 'Escape') && onDone()}
      />
      <ErrorNote error={error} />
      <div className={styles.editActions}>
        <Button size="small" onClick={onDone}>
          {t('Cancel')}
        </Button>
        <Button size="small" variant="primary" type="submit" isBusy={isBusy} disabled={text.trim() === ''}>
          {t('Send again')}
        </Button>
      </div>
    </form>
  );
}
