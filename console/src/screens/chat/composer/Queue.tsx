import { CornerDownRight, Hourglass, MoreHorizontal, Pencil, Undo2 } from 'lucide-react';
import { useState, useSyncExternalStore } from 'react';
import { run } from '../../../graphql/client.ts';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { TextAreaField } from '../../../ui/form/fields.tsx';
import { isPressed } from '../../../ui/form/keys.ts';
import { Menu } from '../../../ui/overlay/menu.tsx';
import { useAttempt, useToast } from '../../../ui/overlay/toasts.tsx';
import {
  type Chat_HeadFragment,
  type Chat_QueuedFragment,
  ChatEditQueuedDocument,
  ChatSendDocument,
  ChatWithdrawQueuedDocument,
  type ThreadMode,
} from '../documents.ts';
import { runStore, useOptionalRun } from '../run/run-store.ts';
import { Files } from '../transcript/Files.tsx';
import type { Transcript } from '../transcript/transcript.ts';
import { getDraft } from './draft.ts';
import { readPrompt } from './prompt.ts';
import styles from './queue.module.css';

/** What was sent while an answer is being given: it waits, and can be changed and taken back, or it joins the answer. */
export function Queue({ chat, transcript }: { readonly chat: Chat_HeadFragment; readonly transcript: Transcript }) {
  const { t } = useText();
  const { messages } = useSyncExternalStore(transcript.subscribe, transcript.getSnapshot);
  // A reply may still name one that was answered since.
  const queue = chat.queue.filter(({ id }) => messages.every((message) => message.id !== id));
  const joiningRunId = queue.find(({ state }) => state === 'JOINING')?.runId;
  const run = useOptionalRun(joiningRunId === undefined ? undefined : runStore(joiningRunId));
  if (queue.length === 0) return null;
  const takenCount = run?.inputCount ?? 0;
  return (
    <section className={styles.queue} aria-label={t('Queue')}>
      <ol>
        {queue.map((message, index) => (
          <li key={message.id}>
            {message.state === 'JOINING' ? (
              <Joining message={message} isTaken={index < takenCount} />
            ) : (
              <Waiting message={message} chatId={chat.id} transcript={transcript} />
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Joining({ message, isTaken }: { readonly message: Chat_QueuedFragment; readonly isTaken: boolean }) {
  const { t } = useText();
  return (
    <div className={styles.item}>
      <CornerDownRight size={16} aria-hidden />
      <div className={styles.said}>
        <Files parts={message.parts} />
        <p>{message.content}</p>
        <small>{isTaken ? t('The answer takes it in') : t('Joins the answer at its next step')}</small>
      </div>
    </div>
  );
}

function Waiting({
  message,
  chatId,
  transcript,
}: {
  readonly message: Chat_QueuedFragment;
  readonly chatId: string;
  readonly transcript: Transcript;
}) {
  const { t } = useText();
  const [isEditing, setEditing] = useState(false);
  const acts = useQueueActs(message, chatId, transcript);
  if (isEditing) return <EditForm message={message} chatId={chatId} transcript={transcript} onDone={() => setEditing(false)} />;
  return (
    <div className={styles.item}>
      <Hourglass size={16} aria-hidden />
      <div className={styles.said}>
        <Files parts={message.parts} />
        <p>{message.content}</p>
        <small>{t('Waits for the answer to end')}</small>
      </div>
      <div className={styles.acts}>
        <IconButton label={t('Edit the waiting message')} onClick={() => setEditing(true)}>
          <Pencil size={16} aria-hidden />
        </IconButton>
        <IconButton label={t('Take back into the box')} onClick={() => void acts.takeBack()}>
          <Undo2 size={16} aria-hidden />
        </IconButton>
        <Menu
          label={t('More about this message')}
          items={[
            { label: t('Join the answer at its next step'), onSelect: () => void acts.send('STEER') },
            { label: t('Stop the answer and ask this'), onSelect: () => void acts.send('INTERRUPT') },
            'separator',
            { label: t('Withdraw'), isDanger: true, onSelect: () => void acts.withdraw() },
          ]}
        >
          <IconButton label={t('More about this message')}>
            <MoreHorizontal size={16} aria-hidden />
          </IconButton>
        </Menu>
      </div>
    </div>
  );
}

function useQueueActs({ id: messageId, content, parts }: Chat_QueuedFragment, chatId: string, transcript: Transcript) {
  const { t } = useText();
  const say = useToast();
  const attempt = useAttempt();
  const take = async () => {
    const { withdrawQueuedMessage } = await run(ChatWithdrawQueuedDocument, { chatId, messageId });
    transcript.takeQueue(withdrawQueuedMessage.queue);
  };
  const giveBack = () => {
    const draft = getDraft(chatId);
    draft.write([content, draft.getSnapshot()].filter((text) => text !== '').join('\n\n'));
  };
  return {
    withdraw: () => attempt(take),
    takeBack: () =>
      attempt(async () => {
        await take();
        giveBack();
      }),
    send: (threadMode: ThreadMode) =>
      attempt(async () => {
        await take();
        const fileIds = parts.flatMap((part) => (part.__typename === 'FilePart' ? [part.fileId] : []));
        try {
          const input = { prompt: readPrompt(content, fileIds), threadMode, date: new Date().toISOString() };
          transcript.takeSent((await run(ChatSendDocument, { chatId, input })).sendMessage);
        } catch (cause) {
          // It stands nowhere else any more.
          giveBack();
          say(t('The message stands in the box again.'), 'warn');
          throw cause;
        }
      }),
  };
}

function EditForm({
  message,
  chatId,
  transcript,
  onDone,
}: {
  readonly message: Chat_QueuedFragment;
  readonly chatId: string;
  readonly transcript: Transcript;
  readonly onDone: () => void;
}) {
  const { t } = useText();
  const [text, setText] = useState(message.content);
  const { run: edit, isBusy, error } = useMutate(ChatEditQueuedDocument);
  const save = async () => {
    const result = await edit({ chatId, messageId: message.id, text });
    if (result === undefined) return;
    transcript.takeQueue(result.editQueuedMessage.queue);
    onDone();
  };
  return (
    <form
      className={styles.edit}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextAreaField
        label={t('The waiting message')}
        error={findFault(error, 'text')}
        value={text}
        autoFocus
        onChange={setText}
        onKeyDown={(event) => isPressed(event, 'Escape') && onDone()}
      />
      <ErrorNote error={errorBeside(error, ['text'])} />
      <div className={styles.editActs}>
        <Button size="small" onClick={onDone}>
          {t('Cancel')}
        </Button>
        <Button size="small" variant="primary" type="submit" isBusy={isBusy}>
          {t('Save')}
        </Button>
      </div>
    </form>
  );
}
