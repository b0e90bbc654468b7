import type { ParleyError } from '@parley/client';
import { type ReactNode, useEffect, useRef } from 'react';
import { useText } from '../../../../text/text.ts';
import { ErrorNote } from '../../../../ui/feedback.tsx';
import { useConfirm } from '../../../../ui/overlay/confirm.tsx';
import { FormDialog } from '../../../../ui/overlay/form-dialog.tsx';

interface Props {
  readonly title: string;
  /** Whether something was typed that closing would lose. */
  readonly isDirty: boolean;
  readonly isBusy: boolean;
  /** Whether the reader has to decide something before it can be saved. */
  readonly isBlocked?: boolean;
  /** What the reader has to know or to decide, in front of the buttons. */
  readonly notes?: ReactNode;
  /** What no field of the form shows. */
  readonly error: ParleyError | undefined;
  readonly onClose: () => void;
  readonly onSubmit: () => void;
  /** The word on the button that saves. */
  readonly action: string;
  readonly size?: 'normal' | 'wide';
  readonly children: ReactNode;
}

/** The form of a part of an agent. It asks before it loses what was typed. */
export function PartDialog({
  title,
  isDirty,
  isBusy,
  isBlocked = false,
  notes,
  error,
  onClose,
  onSubmit,
  action,
  size = 'normal',
  children,
}: Props) {
  const { t } = useText();
  const confirm = useConfirm();
  const note = useRef<HTMLDivElement>(null);
  // A long form would hide it at its foot.
  useEffect(() => {
    if (error !== undefined || isBlocked) note.current?.scrollIntoView({ block: 'nearest' });
  }, [error, isBlocked]);
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
    <FormDialog
      title={title}
      size={size}
      onClose={() => void close()}
      onSubmit={onSubmit}
      action={action}
      isBusy={isBusy}
      isBlocked={isBlocked}
    >
      {children}
      <div ref={note}>
        {notes}
        <ErrorNote error={error} />
      </div>
    </FormDialog>
  );
}
