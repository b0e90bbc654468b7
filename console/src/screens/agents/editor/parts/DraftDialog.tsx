import type { ReactNode } from 'react';
import type { NameOf } from '../../../../parts/drafts/merge.ts';
import { useText } from '../../../../text/text.ts';
import { Note } from '../../../../ui/feedback.tsx';
import { errorBeside } from '../../../../ui/form/faults/find.ts';
import { ConflictNote } from '../draft/ConflictNote.tsx';
import { PartDialog } from './PartDialog.tsx';
import type { PartForm } from './use-part-form.ts';

interface Props<Values extends object> {
  readonly form: PartForm<Values>;
  /** What the fields are called beside their controls. */
  readonly labels: Readonly<Record<NameOf<Values>, string>>;
  /** Fields whose values are never shown. */
  readonly hidden?: readonly NameOf<Values>[];
  readonly title: string;
  /** Whether something was typed that the values of the form do not have. */
  readonly isDirty?: boolean;
  /** The places whose faults stand beside fields. */
  readonly fieldPaths: readonly string[];
  readonly onClose: () => void;
  readonly onSubmit: () => void;
  readonly action?: string;
  readonly size?: 'normal' | 'wide';
  readonly children: ReactNode;
}

/** The form of a part of a draft that others may change meanwhile: it says what they changed, and lets the reader choose. */
export function DraftDialog<Values extends object>({
  form,
  labels,
  hidden = [],
  fieldPaths,
  isDirty,
  action,
  children,
  ...rest
}: Props<Values>) {
  const { t } = useText();
  const { conflicts, who, isGone } = form;
  return (
    <PartDialog
      {...rest}
      isDirty={form.isDirty || isDirty === true}
      isBusy={form.isBusy}
      isBlocked={conflicts.length > 0}
      error={errorBeside(form.error, fieldPaths)}
      action={isGone ? t('Save as a new one') : (action ?? t('Save'))}
      notes={
        <>
          {isGone ? (
            <Note tone="warn">
              {who.length === 0
                ? t('Somebody else deleted this while you changed it. What you typed is still here.')
                : t('{name} deleted this while you changed it. What you typed is still here.', { name: who.join(', ') })}
            </Note>
          ) : null}
          {conflicts.map((conflict) => (
            <ConflictNote
              key={conflict.name}
              field={labels[conflict.name]}
              conflict={{ ...conflict, who }}
              isHidden={hidden.includes(conflict.name)}
              onTakeTheirs={() => form.takeTheirs(conflict.name)}
              onKeepMine={() => form.keepMine(conflict.name)}
            />
          ))}
        </>
      }
    >
      {children}
    </PartDialog>
  );
}
