import type { ParleyError } from '@parley/client';
import { type ReactNode, useEffect, useRef } from 'react';
import { ErrorNote } from '../../../../ui/feedback.tsx';
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

/** The form of a part of an agent: what the reader has to know stands in front of its buttons. */
export function PartDialog({ isBlocked = false, notes, error, children, ...rest }: Props) {
  const note = useRef<HTMLDivElement>(null);
  // A long form would hide it at its foot.
  useEffect(() => {
    if (error !== undefined || isBlocked) note.current?.scrollIntoView({ block: 'nearest' });
  }, [error, isBlocked]);
  return (
    <FormDialog {...rest} isBlocked={isBlocked}>
      {children}
      <div ref={note}>
        {notes}
        <ErrorNote error={error} />
      </div>
    </FormDialog>
  );
}
