import { useState } from 'react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { TextAreaField } from '../../../../ui/form/fields.tsx';
import { useToast } from '../../../../ui/overlay/toasts.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import { Diff } from './Diff.tsx';
import { PublishAgentDocument } from './documents.ts';
import { useChanges } from './use-changes.ts';
import { draftName } from './words.ts';

interface Props {
  readonly agent: { readonly id: string; readonly name: string; readonly publishedVersion: number; readonly canManage: boolean };
  /** Of the draft, as it is now. */
  readonly revision: number;
  readonly onClose: () => void;
  readonly onPublished: () => void;
}

/** Shows what changes for people, and publishes exactly that. */
export function PublishDialog({ agent, revision, onClose, onPublished }: Props) {
  const { t } = useText();
  const toast = useToast();
  const publish = useMutate(PublishAgentDocument);
  const [note, setNote] = useState('');
  const [reason, setReason] = useState('');
  const isRefused = publish.error?.message.startsWith('The gate of the agent') === true;
  const { changes, error, isCurrent, retry } = useChanges(agent.id, String(agent.publishedVersion), draftName, revision);
  const submit = async () => {
    if (!isCurrent) return;
    const reply = await publish.run({
      id: agent.id,
      note,
      expectedDraft: revision,
      overrideReason: reason === '' ? null : reason,
    });
    if (reply === undefined) return;
    toast(t('Version {version} is published: people get it from now on.', { version: reply.publishAgent.number }));
    onPublished();
  };
  return (
    <PartDialog
      title={t('Publish the draft of {name}', { name: agent.name })}
      size="wide"
      isDirty={note !== ''}
      isBusy={publish.isBusy || (!isCurrent && error === undefined)}
      error={errorBeside(publish.error, ['note', 'overrideReason'])}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Publish')}
    >
      <TextAreaField
        label={t('Note')}
        error={findFault(publish.error, 'note')}
        hint={t('What this version is about. Editors read it in the list of versions.')}
        rows={2}
        value={note}
        maxLength={2_000}
        onChange={setNote}
      />
      {(isRefused || reason !== '') && agent.canManage ? (
        <TextAreaField
          label={t('Publish it in spite of the gate, because')}
          error={findFault(publish.error, 'overrideReason')}
          hint={t('The reason stands on the version and in the audit log. Empty: the gate is asked.')}
          rows={2}
          value={reason}
          maxLength={2_000}
          onChange={setReason}
        />
      ) : null}
      <h3>{t('What changes for people, against version {version}', { version: agent.publishedVersion })}</h3>
      <ErrorNote error={error} onRetry={retry} />
      {changes === undefined ? error === undefined ? <Skeleton /> : null : <Diff changes={changes.changes} />}
    </PartDialog>
  );
}
