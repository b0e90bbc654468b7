import { X } from 'lucide-react';
import { type FormEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { useText } from '../../text/text.ts';
import { IconButton } from '../form/button.tsx';
import styles from './dialog.module.css';
import { rememberFocus } from './focus.ts';

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  /** By the button, by Escape, or by a click beside it. */
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons at the foot. */
  readonly actions?: ReactNode;
  readonly size?: 'small' | 'normal' | 'wide';
  /** Where it stands: in the middle, or at the right side over the full height. */
  readonly place?: 'middle' | 'side';
  /** Makes the dialog a form that a submit button in `actions` sends. */
  readonly onSubmit?: () => void;
}

/** The dialog of the browser: it holds the focus, Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, isOpen, onClose, children, actions, size = 'normal', place = 'middle', onSubmit }: DialogProps) {
  const { t } = useText();
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (!isOpen || dialog === null) return;
    const giveBack = rememberFocus();
    dialog.showModal();
    // Of a form, the first field; the browser would take the button that closes it.
    dialog.querySelector<HTMLElement>('form :is(input, textarea, select):enabled')?.focus();
    // Before it goes, also with the screen around it: only closing returns the focus.
    return () => {
      dialog.close();
      giveBack();
    };
  }, [isOpen]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    onSubmit?.();
  };
  const content = (
    <>
      <header className={styles.head}>
        <h2 id={titleId}>{title}</h2>
        <IconButton label={t('Close')} onClick={onClose}>
          <X size={18} aria-hidden />
        </IconButton>
      </header>
      <div className={styles.body}>{children}</div>
      {actions === undefined ? null : <footer className={styles.foot}>{actions}</footer>}
    </>
  );
  return (
    <dialog
      ref={ref}
      className={`${styles.dialog} ${styles[size]} ${styles[place]}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => isOpen && onClose()}
      onMouseDown={(event) => event.target === ref.current && onClose()}
    >
      {!isOpen ? null : onSubmit === undefined ? (
        <div className={styles.box}>{content}</div>
      ) : (
        <form className={styles.box} onSubmit={submit} noValidate>
          {content}
        </form>
      )}
    </dialog>
  );
}
