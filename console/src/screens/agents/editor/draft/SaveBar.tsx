import type { ParleyError } from '@parley/client';
import { useEffect } from 'react';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Note } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { useFaultWords } from '../../../../ui/form/faults/words.ts';
import { useToast } from '../../../../ui/overlay/toasts.tsx';
import styles from '../editor.module.css';
import { Lines } from '../versions/Diff.tsx';
import { compareLines } from './compare-lines.ts';
import { fieldText } from './draft.ts';
import { fieldLabel, fieldOfPlace } from './field-labels.ts';
import type { AgentForm, Conflict } from './use-draft.ts';

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
        <ConflictNote key={conflict.name} conflict={conflict} form={form} />
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

/** Somebody else changed the same field: the reader sees what differs, and chooses, or writes both into one. */
function ConflictNote({ conflict, form }: { readonly conflict: Conflict; readonly form: AgentForm }) {
  const { t } = useText();
  const { name, mine, theirs, who } = conflict;
  const field = fieldLabel(t, name);
  return (
    <Note
      tone="warn"
      action={
        <span className={styles.choices}>
          <Button size="small" onClick={() => form.takeTheirs(name)}>
            {t('Take theirs')}
          </Button>
          <Button size="small" onClick={() => form.keepMine(name)}>
            {t('Keep mine')}
          </Button>
        </span>
      }
    >
      {who.length === 0
        ? t('Somebody else saved “{field}” while you changed it.', { field })
        : t('{name} saved “{field}” while you changed it.', { name: who.join(', '), field })}
      <details className={styles.difference}>
        <summary>{t('What differs: {field}', { field })}</summary>
        <p>{t('Lines with − are theirs, lines with + are yours. Write into the field what both want, and keep yours.')}</p>
        <Lines lines={compareLines(fieldText(theirs), fieldText(mine))} />
      </details>
    </Note>
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
