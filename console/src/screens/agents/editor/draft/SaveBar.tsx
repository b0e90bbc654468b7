import type { ParleyError } from '@parley/client';
import { useEffect } from 'react';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Note } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { useFaultWords } from '../../../../ui/form/faults/words.ts';
import { useToast } from '../../../../ui/overlay/toasts.tsx';
import styles from '../editor.module.css';
import { ConflictNote } from './ConflictNote.tsx';
import { fieldLabel, fieldOfPlace } from './field-labels.ts';
import type { AgentForm } from './use-draft.ts';

/** Stands at the foot of the editor as long as something is not saved. Ctrl S and ⌘ S save too. */
export function SaveBar({ form }: { readonly form: AgentForm }) {
  const { t } = useText();
  const toast = useToast();
  const isDirty = form.changed.length > 0;
  const save = async () => {
    const warnings = await form.save();
    if (warnings === undefined) return;
    toast(t('Saved.'));
    for (const warning of warnings) toast(warning, 'warn');
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      if (isDirty && !form.isSaving) void save();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  if (!isDirty) return null;
  return (
    <section className={styles.saveBar} aria-label={t('Unsaved changes')}>
      {form.conflicts.map((conflict) => (
        <ConflictNote
          key={conflict.name}
          field={fieldLabel(t, conflict.name)}
          conflict={conflict}
          onTakeTheirs={() => form.takeTheirs(conflict.name)}
          onKeepMine={() => form.keepMine(conflict.name)}
        />
      ))}
      <Refusal error={form.error} />
      <div className={styles.saveRow}>
        <p>{t('Not saved: {fields}', { fields: form.changed.map((name) => fieldLabel(t, name)).join(', ') })}</p>
        <Button onClick={form.discard} disabled={form.isSaving}>
          {t('Discard')}
        </Button>
        <Button variant="primary" isBusy={form.isSaving} disabled={form.conflicts.length > 0} onClick={() => void save()}>
          {t('Save')}
        </Button>
      </div>
    </section>
  );
}

/** Why the agent is not saved: the values that are wrong by the names of their fields, which stand in several sections. */
function Refusal({ error }: { readonly error: ParleyError | undefined }) {
  const { t } = useText();
  const { describeFault } = useFaultWords();
  if (error === undefined || error.faults.length === 0) return <ErrorNote error={error} />;
  return (
    <Note tone="bad">
      {error.faults.map((fault) => {
        const name = fieldOfPlace(fault.path);
        return (
          <p key={`${fault.path} ${fault.message}`}>
            {name === undefined
              ? describeFault(fault)
              : t('{field}: {fault}', { field: fieldLabel(t, name), fault: describeFault(fault) })}
          </p>
        );
      })}
    </Note>
  );
}
