import { useState } from 'react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { TextAreaField, TextField } from '../../../../ui/form/fields.tsx';
import { useToast } from '../../../../ui/overlay/toasts.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import type { EditorAgent } from '../section.ts';
import { StartCanaryDocument } from './documents.ts';
import { draftName, versionTitle } from './words.ts';

interface Props {
  readonly agent: EditorAgent;
  /** Undefined: the draft, of which a version is made. */
  readonly version: number | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const percentDefault = 10;

/** Gives a part of the chats another version, or another part to the canary that is there. */
export function CanaryDialog({ agent, version, onClose, onDone }: Props) {
  const { t } = useText();
  const toast = useToast();
  const start = useMutate(StartCanaryDocument);
  const current = agent.canary;
  const [percent, setPercent] = useState(String(current?.percent ?? percentDefault));
  const [note, setNote] = useState('');
  const submit = async () => {
    if (agent.draft === null) return;
    const variables = { id: agent.id, percent: Number(percent), expectedDraft: agent.draft.revision };
    const reply = await start.run({ ...variables, ...(version === undefined ? { note } : { version }) });
    const canary = reply?.startCanary.canary;
    if (canary === undefined || canary === null) return;
    toast(t('{percent} % of the chats that begin get version {version}.', canary));
    onDone();
  };
  const title = versionTitle(t, version === undefined ? draftName : String(version));
  return (
    <PartDialog
      title={current === null ? t('Give {version} to a part of the chats', { version: title }) : t('How many chats get it')}
      isDirty={note !== ''}
      isBusy={start.isBusy}
      error={errorBeside(start.error, ['percent', 'note'])}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={current === null ? t('Start') : t('Save')}
    >
      <p>
        {t(
          'Chats that begin from now on are dealt out by chance; a chat keeps its version. The others go on with version {version}.',
          {
            version: agent.publishedVersion,
          },
        )}
      </p>
      <TextField
        label={t('Percent of the chats')}
        error={findFault(start.error, 'percent')}
        hint={t('From 1 to 99.')}
        type="number"
        min={1}
        max={99}
        step={1}
        required
        value={percent}
        onChange={setPercent}
      />
      {version === undefined ? (
        <TextAreaField
          label={t('Note')}
          error={findFault(start.error, 'note')}
          hint={t('What this version is about. Editors read it in the list of versions.')}
          rows={2}
          value={note}
          maxLength={2_000}
          onChange={setNote}
        />
      ) : null}
    </PartDialog>
  );
}
