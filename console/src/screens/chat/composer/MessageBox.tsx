import { ArrowUp, Square } from 'lucide-react';
import { type ComponentProps, type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react';
import { useText } from '../../../text/text.ts';
import { AttachmentList } from './AttachmentList.tsx';
import type { Attachments } from './attachments.ts';
import styles from './composer.module.css';

/** The text of a message, over several lines, its files above it and buttons below it. */
export function MessageBox({
  box,
  attachments,
  children,
  ...text
}: ComponentProps<'textarea'> & {
  readonly box: RefObject<HTMLTextAreaElement | null>;
  readonly attachments: Attachments;
  readonly children: ReactNode;
}) {
  const { t } = useText();
  return (
    <div className={styles.box}>
      <AttachmentList attachments={attachments} />
      <textarea
        {...text}
        ref={box}
        rows={1}
        dir="auto"
        className={styles.text}
        aria-label={t('Message')}
        placeholder={t('Write a message')}
      />
      <div className={styles.foot}>{children}</div>
    </div>
  );
}

export function SendButton({ isDisabled }: { readonly isDisabled: boolean }) {
  const { t } = useText();
  return (
    <button type="submit" className={styles.send} aria-label={t('Send')} title={t('Send')} disabled={isDisabled}>
      <ArrowUp size={18} aria-hidden />
    </button>
  );
}

export function StopButton({
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
