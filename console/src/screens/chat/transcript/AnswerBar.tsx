import { BookOpenText, Columns2, RefreshCw, ThumbsDown, ThumbsUp } from 'lucide-react';
import { useState } from 'react';
import { run } from '../../../graphql/client.ts';
import { ReadAloudButton } from '../../../parts/browser/ReadAloudButton.tsx';
import type { AnswerCitations } from '../../../parts/markdown/citations.tsx';
import { type Text, useText } from '../../../text/text.ts';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { Menu } from '../../../ui/overlay/menu.tsx';
import { useAttempt } from '../../../ui/overlay/toasts.tsx';
import { CopyButton, Time } from '../../../ui/small.tsx';
import { useChat } from '../chat-context.ts';
import { CompareDialog } from '../compare/CompareDialog.tsx';
import { beginComparison } from '../compare/choices.ts';
import { type Chat_MessageFragment, ChatRateDocument, ChatRegenerateDocument, type FeedbackRatingInput } from '../documents.ts';
import { Branches } from './Branches.tsx';
import { ReasonDialog } from './ReasonDialog.tsx';
import styles from './transcript.module.css';

const describeVersion = (t: Text['t'], version: number) => (version === 0 ? t('Draft') : t('Version {version}', { version }));

/** What can be done with an answer. */
export function AnswerBar({
  message,
  text,
  cited,
  isBusy,
  isLast,
}: {
  readonly message: Chat_MessageFragment;
  /** All that the answer says. */
  readonly text: string;
  readonly cited: AnswerCitations;
  readonly isBusy: boolean;
  /** The newest answer: others can be put beside it. */
  readonly isLast: boolean;
}) {
  const { t } = useText();
  const { chat } = useChat();
  const first = cited.citations[0];
  // Of an imported answer, as the other product called it.
  const model = message.run?.answeredModelId ?? message.run?.modelId ?? message.modelName ?? undefined;
  return (
    <div className={styles.bar}>
      {first === undefined ? null : (
        <Button size="small" icon={<BookOpenText size={15} aria-hidden />} onClick={() => cited.open(first.index)}>
          {t('{count, plural, one {# source} other {# sources}}', { count: cited.citations.length })}
        </Button>
      )}
      <Branches message={message} />
      <CopyButton text={text} label={t('Copy the answer')} />
      <ReadAloudButton text={text} />
      {chat.canWrite ? (
        <>
          <Rating message={message} />
          <AnswerAgain messageId={message.id} isBusy={isBusy} />
          {isLast ? <CompareAnswer message={message} isBusy={isBusy} /> : null}
        </>
      ) : null}
      <span className={styles.when}>
        {message.agentVersion === null ? null : `${describeVersion(t, message.agentVersion)} · `}
        {model === undefined ? null : `${model} · `}
        <Time at={message.createdAt} />
      </span>
    </div>
  );
}

/** Thumbs. A bad answer is asked for its reason; a second click takes a rating back. */
function Rating({ message }: { readonly message: Chat_MessageFragment }) {
  const { t } = useText();
  const { transcript } = useChat();
  const attempt = useAttempt();
  const [isAskingWhy, setAskingWhy] = useState(false);
  const { id, feedback } = message;
  const rate = (rating: FeedbackRatingInput) =>
    attempt(async () => {
      const isTaken = feedback?.rating === rating;
      const { rateMessage } = await run(ChatRateDocument, { id, input: { rating: isTaken ? 'NONE' : rating } });
      transcript.takeMessage(rateMessage);
      if (rating === 'DOWN' && !isTaken) setAskingWhy(true);
    });
  return (
    <>
      <IconButton label={t('Good answer')} isActive={feedback?.rating === 'UP'} onClick={() => void rate('UP')}>
        <ThumbsUp size={16} aria-hidden />
      </IconButton>
      <IconButton label={t('Bad answer')} isActive={feedback?.rating === 'DOWN'} onClick={() => void rate('DOWN')}>
        <ThumbsDown size={16} aria-hidden />
      </IconButton>
      <ReasonDialog key={String(isAskingWhy)} message={message} isOpen={isAskingWhy} onClose={() => setAskingWhy(false)} />
    </>
  );
}

/** Has the question answered again, on a branch of its own. */
function AnswerAgain({ messageId, isBusy }: { readonly messageId: string; readonly isBusy: boolean }) {
  const { t } = useText();
  const { transcript, models } = useChat();
  const attempt = useAttempt();
  const regenerate = (modelId: string | null) =>
    attempt(async () => {
      const result = await run(ChatRegenerateDocument, { id: messageId, input: { modelId } });
      transcript.takeBegun(result.regenerateMessage, true);
    });
  const otherModels = models.map((model) => ({
    label: model,
    isDisabled: isBusy,
    onSelect: () => void regenerate(model),
  }));
  return (
    <Menu
      label={t('Answer again')}
      align="start"
      items={[
        { label: t('With the same model'), isDisabled: isBusy, onSelect: () => void regenerate(null) },
        ...(models.length < 2 ? [] : (['separator', ...otherModels] as const)),
      ]}
    >
      <IconButton label={t('Answer again')}>
        <RefreshCw size={16} aria-hidden />
      </IconButton>
    </Menu>
  );
}

/** Puts answers of other models and agents beside this one. */
function CompareAnswer({
  message: { id, run: answered },
  isBusy,
}: {
  readonly message: Chat_MessageFragment;
  readonly isBusy: boolean;
}) {
  const { t } = useText();
  const { chat, transcript, models } = useChat();
  const attempt = useAttempt();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <IconButton label={t('Compare this answer with…')} disabled={isBusy} onClick={() => setOpen(true)}>
        <Columns2 size={16} aria-hidden />
      </IconButton>
      {isOpen ? (
        <CompareDialog
          models={models}
          own={{ agentId: chat.agent?.id, modelId: answered?.modelId ?? undefined }}
          chosen={[]}
          action={t('Compare')}
          onClose={() => setOpen(false)}
          onChoose={(choices) => {
            setOpen(false);
            void attempt(() => beginComparison(transcript, id, choices));
          }}
        />
      ) : null}
    </>
  );
}
