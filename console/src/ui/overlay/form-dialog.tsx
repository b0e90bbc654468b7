import type { ReactNode } from 'react';
import { useText } from '../../text/text.ts';
import { Button } from '../form/button.tsx';
import { Dialog } from './dialog.tsx';

/** A dialog that is a form, with a button that leaves it and one that sends it. */
export function FormDialog({
  title,
  size = 'normal',
  action,
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
  readonly isBusy?: boolean;
  /** It cannot be sent as it is. */
  readonly isBlocked?: boolean;
  readonly onClose: () => void;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}) {
  const { t } = useText();
  return (
    <Dialog
      title={title}
      isOpen
      size={size}
      onClose={onClose}
      onSubmit={onSubmit}
      actions={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
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
