import type { ReactNode } from 'react';
import { useText } from '../../text/text.ts';
import { Button } from '../form/button.tsx';
import { useConfirm } from './confirm.tsx';
import { Dialog } from './dialog.tsx';

/** A dialog that is a form, with a button that leaves it and one that sends it. It asks before it loses what was typed. */
export function FormDialog({
  title,
  size = 'normal',
  action,
  isDirty = false,
  isBusy = false,
  isBlocked = false,
  onClose,
  onSubmit,
  children,
}: {
  readonly title: string;
  readonly size?: 'small' | 'normal' | 'wide';
  /** The word on the button that sends it. */
  readonly action: string;
  /** Whether something was typed that closing would lose. */
  readonly isDirty?: boolean;
  readonly isBusy?: boolean;
  /** It cannot be sent as it is. */
  readonly isBlocked?: boolean;
  readonly onClose: () => void;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}) {
  const { t } = useText();
  const confirm = useConfirm();
  const close = async () => {
    const isConfirmed =
      !isDirty ||
      (await confirm({
        title: t('Close without saving?'),
        body: t('What you typed is lost.'),
        action: t('Close without saving'),
        isDanger: true,
      }));
    if (isConfirmed) onClose();
  };
  return (
    <Dialog
      title={title}
      isOpen
      size={size}
      onClose={() => void close()}
      onSubmit={onSubmit}
      actions={
        <>
          <Button onClick={() => void close()}>{t('Cancel')}</Button>
          <Button type="submit" variant="primary" isBusy={isBusy} disabled={isBlocked}>
            {action}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
