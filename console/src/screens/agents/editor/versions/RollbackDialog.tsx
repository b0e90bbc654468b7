import { useState } from 'react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Note, Skeleton } from '../../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { TextAreaField } from '../../../../ui/form/fields.tsx';
import { useToast } from '../../../../ui/overlay/toasts.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import type { EditorAgent } from '../section.ts';
import { Diff } from './Diff.tsx';
import { RollbackAgentDocument } from './documents.ts';
import { useChanges } from './use-changes.ts';

interface Props {
  readonly agent: EditorAgent;
  readonly version: number;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Makes a new version that is equal to an old one. */
export function RollbackDialog({ agent, version, onClose, onDone }: Props) {
  const { t } = useText();
  const toast = useToast();
  const rollback = useMutate(RollbackAgentDocument);
  const [note, setNote] = useState('');
  const revision = agent.draft?.revision ?? null;
  const { changes, error, isCurrent, retry } = useChanges(agent.id, String(agent.publishedVersion), String(version), revision);
  const submit = async () => {
    if (!isCurrent || revision === null) return;
    const reply = await rollback.run({ id: agent.id, version, note, expectedDraft: revision });
    if (reply === undefined) return;
    const { number, warnings } = reply.rollbackAgent;
    toast(t('Version {number} is published. It is equal to version {version}.', { number, version }));
    for (const { message } of warnings ?? []) toast(message, 'warn');
    onDone();
  };
  return (
    <PartDialog
      title={t('Roll back to version {version}', { version })}
      size="wide"
      isDirty={note !== ''}
      isBusy={rollback.isBusy || (!isCurrent && error === undefined)}
      error={errorBeside(rollback.error, ['note'])}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Roll back')}
    >
      <p>
        {t(
          'A new version is made that is equal to version {version}. People get it from now on; answers that are being given end as they began.',
          {
            version,
          },
        )}
      </p>
      {agent.draft?.isChanged === true ? (
        <Note tone="warn">{t('The draft becomes the same. What is not published of it stays in the list as a version.')}</Note>
      ) : null}
      <TextAreaField
        label={t('Note')}
        error={findFault(rollback.error, 'note')}
        hint={t('Why. Editors read it in the list of versions.')}
        rows={2}
        value={note}
        maxLength={2_000}
        onChange={setNote}
      />
      <h3>{t('What changes for people, against version {version}', { version: agent.publishedVersion })}</h3>
      <ErrorNote error={error} onRetry={retry} />
      {changes === undefined ? error === undefined ? <Skeleton /> : null : <Diff changes={changes.changes} />}
    </PartDialog>
  );
}
