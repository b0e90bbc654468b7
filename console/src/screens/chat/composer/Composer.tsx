import { ArrowUp, ChevronUp, Square } from 'lucide-react';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { DictationButton } from '../../../parts/browser/DictationButton.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { IconButton } from '../../../ui/form/button.tsx';
import { isPressed } from '../../../ui/form/keys.ts';
import { offerFocus } from '../../../ui/overlay/focus.ts';
import { Menu } from '../../../ui/overlay/menu.tsx';
import type { Chat_PromptFragment, ThreadMode } from '../documents.ts';
import { AttachmentList } from './AttachmentList.tsx';
import { type Attachments, isRefused } from './attachments.ts';
import styles from './composer.module.css';
import { getDraft } from './draft.ts';
import { FilePicker, TooLargeNote, useFiles } from './files.tsx';
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
  const { t } = useText();
  const [draft] = useState(() => {
    const ownDraft = getDraft(place);
    ownDraft.seed(seed);
    return ownDraft;
  });
  const text = useSyncExternalStore(draft.subscribe, draft.getSnapshot);
  const { tooLarge, addFiles, isOver, onPaste } = useFiles(attachments, fileMaxBytes);
  // A finger would only see the keyboard come up.
  useEffect(() => {
    if (matchMedia('(hover: hover)').matches) offerFocus(box.current);
  }, [box]);
  const isEmpty = text.trim() === '' && attachments.items.every(isRefused);
  const canSend = !isEmpty && !sending.isBusy;
  const send = async (threadMode?: ThreadMode) => {
    if (isEmpty) return;
    if (sending.isBusy) {
      draft.sendLater(threadMode);
      return;
    }
    const settle = draft.send();
    const hasArrived = await sending.send(text.trim(), threadMode);
    settle(hasArrived);
    if (hasArrived) offerFocus(box.current);
  };
  const due = useSyncExternalStore(draft.subscribe, draft.getDue);
  const sendDue = useEffectEvent((threadMode: ThreadMode | undefined) => void send(threadMode));
  useEffect(() => {
    if (due !== undefined && !sending.isBusy) sendDue(due.threadMode);
  }, [due, sending.isBusy]);
  const [asked, setAsked] = useState<Chat_PromptFragment>();
  const takePrompt = (prompt: Chat_PromptFragment) => {
    if (prompt.variables.length === 0) draft.write(prompt.text);
    else setAsked(prompt);
  };
  const prompts = usePrompts(text, takePrompt);
  const onKeyDown = (event: KeyboardEvent) => {
    if (prompts.onKeyDown(event)) return;
    if (!isPressed(event, 'Enter') || event.shiftKey) return;
    event.preventDefault();
    void send();
  };
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
        <div className={styles.box}>
          <AttachmentList attachments={attachments} />
          <textarea
            ref={box}
            rows={1}
            dir="auto"
            className={styles.text}
            aria-label={t('Message')}
            aria-controls={prompts.isOpen ? prompts.listId : undefined}
            aria-activedescendant={
              prompts.isOpen && prompts.chosen !== undefined ? optionId(prompts.listId, prompts.chosen) : undefined
            }
            placeholder={t('Write a message')}
            value={text}
            onChange={(event) => draft.write(event.target.value)}
            onKeyDown={onKeyDown}
            onPaste={onPaste}
          />
          <div className={styles.foot}>
            <FilePicker onFiles={addFiles} />
            <DictationButton text={text} onText={(heard) => draft.write(heard)} />
            {children}
            <span className={styles.space} />
            <RunButtons
              isEmpty={isEmpty}
              canSend={canSend}
              onStop={onStop}
              isStopping={isStopping}
              onStopGone={() => box.current?.focus()}
              onSend={(threadMode) => void send(threadMode)}
            />
          </div>
        </div>
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
      {onStop !== undefined && isEmpty ? null : (
        <button type="submit" className={styles.send} aria-label={t('Send')} title={t('Send')} disabled={!canSend}>
          <ArrowUp size={18} aria-hidden />
        </button>
      )}
    </>
  );
}

function StopButton({
  isStopping,
  onStop,
  onGone,
}: {
  readonly isStopping: boolean;
  readonly onStop: () => void;
  /** The button had the focus when its run was over. */
  readonly onGone: () => void;
}) {
  const { t } = useText();
  const button = useRef<HTMLButtonElement>(null);
  const atEnd = useRef(onGone);
  atEnd.current = onGone;
  useLayoutEffect(() => {
    const element = button.current;
    return () => {
      if (document.activeElement === element) atEnd.current();
    };
  }, []);
  return (
    <button
      ref={button}
      type="button"
      className={styles.stop}
      aria-label={t('Stop')}
      title={t('Stop')}
      aria-disabled={isStopping || undefined}
      onClick={isStopping ? undefined : onStop}
    >
      <Square size={14} aria-hidden fill="currentColor" />
    </button>
  );
}
