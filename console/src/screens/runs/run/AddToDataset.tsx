import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Skeleton } from '../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../ui/form/button.tsx';
import { SelectField } from '../../../ui/form/fields.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { AddRunToDatasetDocument, RunDatasetsDocument } from '../documents.ts';

interface Props {
  readonly runId: string;
  readonly agent: { readonly id: string; readonly canEdit: boolean } | null;
  readonly size?: 'small' | 'normal';
}

/** Makes a case of a run, for those who may edit the agent that answered. */
export function AddToDataset({ runId, agent, size = 'small' }: Props) {
  const { t } = useText();
  const session = useSession();
  const [isOpen, setOpen] = useState(false);
  if (agent?.canEdit !== true || !session.may('AGENTS_WRITE')) return null;
  return (
    <>
      <Button size={size} icon={<FlaskConical size={16} aria-hidden />} onClick={() => setOpen(true)}>
        {t('Add to a dataset')}
      </Button>
      {isOpen ? <DatasetChoice runId={runId} agentId={agent.id} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function DatasetChoice({
  runId,
  agentId,
  onClose,
}: {
  readonly runId: string;
  readonly agentId: string;
  readonly onClose: () => void;
}) {
  const { t } = useText();
  const toast = useToast();
  const { data, error, isLoading, reload } = usePage(RunDatasetsDocument, { agentId });
  const add = useMutate(AddRunToDatasetDocument);
  const [choice, setChoice] = useState<string>();
  const datasets = data?.datasets.nodes ?? [];
  const datasetId = choice ?? datasets[0]?.id;
  const submit = async () => {
    if (datasetId === undefined) return;
    const reply = await add.run({ datasetId, runId });
    if (reply === undefined) return;
    toast(t('It is a case of {name} now.', { name: reply.addRunsToDataset.name }));
    onClose();
  };
  const evaluation = `/agents/${agentId}/evaluation`;
  return (
    <Dialog
      title={t('Add to a dataset')}
      isOpen
      size="small"
      onClose={onClose}
      onSubmit={() => void submit()}
      actions={
        datasets.length === 0 ? (
          <ButtonLink href={evaluation}>{t('Go to the datasets of the agent')}</ButtonLink>
        ) : (
          <Button type="submit" variant="primary" isBusy={add.isBusy}>
            {t('Add')}
          </Button>
        )
      }
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton /> : null}
      {data !== undefined && datasets.length === 0 ? <p>{t('The agent has no dataset yet.')}</p> : null}
      {datasets.length === 0 ? null : (
        <SelectField
          label={t('Dataset')}
          hint={t(
            'The question with what was said before. A good rating makes its answer the expected one; else it waits for somebody to look at it.',
          )}
          value={datasetId ?? ''}
          onChange={setChoice}
          options={datasets.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
      <ErrorNote error={add.error} />
    </Dialog>
  );
}
