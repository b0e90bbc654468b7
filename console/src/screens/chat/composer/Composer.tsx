import { ChevronUp } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react';
import { DictationButton } from '../../../parts/browser/DictationButton.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { IconButton } from '../../../ui/form/button.tsx';
import { sendByEnter } from '../../../ui/form/keys.ts';
import { offerFocus } from '../../../ui/overlay/focus.ts';
import { Menu } from '../../../ui/overlay/menu.tsx';
import type { Chat_PromptFragment, ThreadMode } from '../documents.ts';
import { type Attachments, isRefused } from './attachments.ts';
import styles from './composer.module.css';
import { type Draft, getDraft } from './draft.ts';
import { FilePicker, TooLargeNote, useFiles } from './files.tsx';
import { MessageBox, SendButton, StopButton } from './MessageBox.tsx';
import { FillDialog } from './prompts/FillDialog.tsx';
import { optionId, PromptMenu } from './prompts/PromptMenu.tsx';
import { usePrompts } from './prompts/use-prompts.ts';
import type { Sending } from './sending.ts';

interface ComposerProps {
  readonly box: RefObject<HTMLTextAreaElement | null>;
  /** Names the draft: the id of the chat, or `new`. */
  readonly place: string;
  /** What the box begins with where there is no draft. */
  readonly seed: string;
  readonly attachments: Attachments;
  readonly fileMaxBytes: number | undefined;
  readonly sending: Sending;
  /** A run goes on, which can be stopped. */
  readonly onStop: (() => void) | undefined;
  readonly isStopping: boolean;
  /** Beside the buttons: the choice of a model. */
  readonly children?: ReactNode;
}

/** The box in which a message is written: several lines, files by button, drop and paste, and a draft that stays. */
export function Composer({ box, place, seed, attachments, fileMaxBytes, sending, onStop, isStopping, children }: ComposerProps) {
  const draft = useDraft(place, seed);
  const text = useSyncExternalStore(draft.subscribe, draft.getSnapshot);
  const { tooLarge, addFiles, isOver, onPaste } = useFiles(attachments, fileMaxBytes);
  // A finger would only see the keyboard come up.
  useEffect(() => {
    if (matchMedia('(hover: hover)').matches) offerFocus(box.current);
  }, [box]);
  const isEmpty = text.trim() === '' && attachments.items.every(isRefused);
  const send = useSend(draft, sending, isEmpty, () => offerFocus(box.current));
  const [asked, setAsked] = useState<Chat_PromptFragment>();
  const takePrompt = (prompt: Chat_PromptFragment) => {
    if (prompt.variables.length === 0) draft.write(prompt.text);
    else setAsked(prompt);
  };
  const prompts = usePrompts(text, takePrompt);
  const activePrompt = prompts.isOpen && prompts.chosen !== undefined ? optionId(prompts.listId, prompts.chosen) : undefined;
  return (
    <>
      <form
        className={styles.composer}
        data-over={isOver || undefined}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <ErrorNote error={sending.error} />
        <TooLargeNote names={tooLarge} fileMaxBytes={fileMaxBytes} />
        <PromptMenu prompts={prompts} onTake={takePrompt} />
        <MessageBox
          box={box}
          attachments={attachments}
          aria-controls={prompts.isOpen ? prompts.listId : undefined}
          aria-activedescendant={activePrompt}
          value={text}
          onChange={(event) => draft.write(event.target.value)}
          onKeyDown={(event) => {
            if (!prompts.onKeyDown(event)) sendByEnter(event, () => void send());
          }}
          onPaste={onPaste}
        >
          <FilePicker onFiles={addFiles} />
          <DictationButton text={text} onText={(heard) => draft.write(heard)} />
          {children}
          <span className={styles.space} />
          <RunButtons
            isEmpty={isEmpty}
            canSend={!isEmpty && !sending.isBusy}
            onStop={onStop}
            isStopping={isStopping}
            onStopGone={() => box.current?.focus()}
            onSend={(threadMode) => void send(threadMode)}
          />
        </MessageBox>
      </form>
      {asked === undefined ? null : (
        <FillDialog
          prompt={asked}
          onClose={() => setAsked(undefined)}
          onFilled={(filled) => {
            draft.write(filled);
            setAsked(undefined);
          }}
        />
      )}
    </>
  );
}

function useDraft(place: string, seed: string): Draft {
  const [draft] = useState(() => {
    const ownDraft = getDraft(place);
    ownDraft.seed(seed);
    return ownDraft;
  });
  return draft;
}

/** Sends what is written: at once, or as soon as the message before it has arrived. */
function useSend(draft: Draft, sending: Sending, isEmpty: boolean, onArrived: () => void) {
  const send = async (threadMode?: ThreadMode) => {
    if (isEmpty) return;
    if (sending.isBusy) {
      draft.sendLater(threadMode);
      return;
    }
    const text = draft.getSnapshot().trim();
    const settle = draft.send();
    const hasArrived = await sending.send(text, threadMode);
    settle(hasArrived);
    if (hasArrived) onArrived();
  };
  const due = useSyncExternalStore(draft.subscribe, draft.getDue);
  const sendDue = useEffectEvent((threadMode: ThreadMode | undefined) => void send(threadMode));
  useEffect(() => {
    if (due !== undefined && !sending.isBusy) sendDue(due.threadMode);
  }, [due, sending.isBusy]);
  return send;
}

/** Stops the run that goes on, or sends what is written. */
function RunButtons({
  isEmpty,
  canSend,
  onStop,
  isStopping,
  onStopGone,
  onSend,
}: Pick<ComposerProps, 'onStop' | 'isStopping'> & {
  readonly isEmpty: boolean;
  readonly canSend: boolean;
  readonly onStopGone: () => void;
  readonly onSend: (threadMode: ThreadMode) => void;
}) {
  const { t } = useText();
  return (
    <>
      {onStop === undefined ? null : <StopButton isStopping={isStopping} onStop={onStop} onGone={onStopGone} />}
      {onStop === undefined || isEmpty ? null : (
        <Menu
          label={t('How to send')}
          items={[
            { label: t('After this answer'), isDisabled: !canSend, onSelect: () => onSend('COLLECT') },
            { label: t('Into this answer, at its next step'), isDisabled: !canSend, onSelect: () => onSend('STEER') },
            { label: t('Stop this answer and send'), isDisabled: !canSend, onSelect: () => onSend('INTERRUPT') },
          ]}
        >
          <IconButton label={t('How to send')}>
            <ChevronUp size={18} aria-hidden />
          </IconButton>
        </Menu>
      )}
      {onStop !== undefined && isEmpty ? null : <SendButton isDisabled={!canSend} />}
    </>
  );
}
