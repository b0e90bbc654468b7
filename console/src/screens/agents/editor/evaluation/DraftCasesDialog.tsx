import { useState } from 'react';
import { useMutate, usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Note, Skeleton } from '../../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { Checkbox, SearchInput } from '../../../../ui/form/field.tsx';
import { SelectField, TextField } from '../../../../ui/form/fields.tsx';
import { useToast } from '../../../../ui/overlay/toasts.tsx';
import { useDelayed } from '../../../../ui/use-delayed.ts';
import { Fault } from '../parts/Fault.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import { DocumentsToDraftFromDocument, DraftCasesDocument, SourcesToDraftFromDocument } from './documents.ts';
import styles from './scorers/scorers.module.css';

interface Props {
  readonly agentId: string;
  readonly datasetId: string;
  /** Cases that nobody has agreed to, before. */
  readonly draftCount: number;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const documentsMax = 20;

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Has a model write cases from documents. They are left out of experiments until a person agrees. */
export function DraftCasesDialog({ agentId, datasetId, draftCount, onClose, onDone }: Props) {
  const { t } = useText();
  const toast = useToast();
  const draft = useMutate(DraftCasesDocument);
  const { data, error: pageError, isLoading, reload } = usePage(SourcesToDraftFromDocument, { id: agentId });
  const sources = data?.agent?.sources.nodes ?? [];
  const [chosenSource, setSource] = useState<string>();
  const sourceId = chosenSource ?? sources[0]?.id;
  const [documents, setDocuments] = useState<readonly Named[]>([]);
  const [count, setCount] = useState('10');
  const [modelId, setModel] = useState('');
  const { error } = draft;
  const submit = async () => {
    const itemIds = documents.map(({ id }) => id);
    const reply = await draft.run({ datasetId, itemIds, count: Number(count), modelId: modelId === '' ? null : modelId });
    if (reply === undefined) return;
    const added = reply.draftDatasetCases.draftCount - draftCount;
    toast(t('{count, plural, one {# case is} other {# cases are}} written: look at each, and agree.', { count: added }));
    onDone();
  };
  return (
    <PartDialog
      title={t('Cases from documents')}
      size="wide"
      isDirty={documents.length > 0}
      isBusy={draft.isBusy}
      error={errorBeside(error, ['itemIds', 'count', 'modelId'])}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Write cases')}
    >
      <p>
        {t(
          'A model writes questions with their answers and facts. Experiments leave them out until a person has looked at them and agrees.',
        )}
      </p>
      <ErrorNote error={pageError} onRetry={reload} />
      {isLoading ? <Skeleton /> : null}
      {data !== undefined && sources.length === 0 ? <Note>{t('The agent has no knowledge to write cases from.')}</Note> : null}
      {sources.length === 0 ? null : (
        <SelectField
          label={t('Knowledge')}
          value={sourceId ?? ''}
          onChange={setSource}
          options={sources.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
      {sourceId === undefined ? null : (
        <Documents key={sourceId} sourceId={sourceId} chosen={documents} onChange={setDocuments} />
      )}
      <Fault error={findFault(error, 'itemIds')} />
      <TextField
        label={t('How many questions')}
        error={findFault(error, 'count')}
        hint={t('From 1 to 50.')}
        type="number"
        min={1}
        max={50}
        value={count}
        onChange={setCount}
      />
      <SelectField
        label={t('The model that writes')}
        error={findFault(error, 'modelId')}
        value={modelId}
        onChange={setModel}
        options={[
          { value: '', label: t('The model of the agent') },
          ...(data?.models ?? []).map(({ id }) => ({ value: id, label: id })),
        ]}
      />
    </PartDialog>
  );
}

/** The documents of a source; those that are chosen stay chosen when another source is shown. */
function Documents({
  sourceId,
  chosen,
  onChange,
}: {
  readonly sourceId: string;
  readonly chosen: readonly Named[];
  readonly onChange: (documents: readonly Named[]) => void;
}) {
  const { t } = useText();
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim());
  const variables = { dataSourceId: sourceId, search: search === '' ? null : search };
  const { data, error, isLoading, reload } = usePage(DocumentsToDraftFromDocument, variables);
  const items = data?.knowledgeItems.nodes ?? [];
  const isChosen = (id: string) => chosen.some((other) => other.id === id);
  const isFull = chosen.length >= documentsMax;
  return (
    <fieldset className={styles.list}>
      <legend>{t('Documents')}</legend>
      <SearchInput label={t('Search documents')} value={typed} onChange={setTyped} />
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton /> : null}
      {data !== undefined && items.length === 0 ? <p className={styles.quiet}>{t('No document is ready here.')}</p> : null}
      {items.map(({ id, name }) => (
        <Checkbox
          key={id}
          label={name}
          checked={isChosen(id)}
          disabled={isFull && !isChosen(id)}
          onChange={(event) =>
            onChange(event.target.checked ? [...chosen, { id, name }] : chosen.filter((other) => other.id !== id))
          }
        />
      ))}
      {data?.knowledgeItems.pageInfo.hasNextPage === true ? (
        <p className={styles.quiet}>{t('There are more: search by name.')}</p>
      ) : null}
      <p role="status">
        {t('{count, plural, one {# document is} other {# documents are}} chosen, of 20 at most.', { count: chosen.length })}
      </p>
    </fieldset>
  );
}
