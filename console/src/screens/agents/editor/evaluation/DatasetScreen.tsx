import { Download, FileText, Plus, Trash2, Upload } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { run } from '../../../../graphql/client.ts';
import { useMorePages, usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../../ui/form/button.tsx';
import { Menu } from '../../../../ui/overlay/menu.tsx';
import { useAttempt } from '../../../../ui/overlay/toasts.tsx';
import { Section } from '../../../../ui/page.tsx';
import { saveFile } from '../../../../ui/save-file.ts';
import { Rows } from '../parts/Rows.tsx';
import { useRemove } from '../parts/use-remove.ts';
import type { EditorAgent } from '../section.ts';
import { CaseDialog } from './cases/CaseDialog.tsx';
import { CaseRow } from './cases/CaseRow.tsx';
import { DraftCasesDialog } from './DraftCasesDialog.tsx';
import {
  type CaseRowFragment,
  type DatasetCaseFormat,
  DatasetFileDocument,
  DatasetPageDocument,
  type DatasetPageQuery,
  DeleteDatasetDocument,
  MoreCasesDocument,
} from './documents.ts';
import { ImportDialog } from './ImportDialog.tsx';
import { evaluationAddress } from './words.ts';

interface Props {
  readonly agent: EditorAgent;
  readonly id: string;
  readonly isReadOnly: boolean;
}

type Dataset = NonNullable<DatasetPageQuery['dataset']>;
/** How cases come in: one by one, from a file, by a model, or as a case that is there and edited. */
type Entry = 'new' | 'import' | 'draft' | CaseRowFragment;

/** The cases of a dataset. */
export function DatasetScreen({ agent, id, isReadOnly }: Props) {
  const { t } = useText();
  const { data, error, isLoading, reload } = usePage(DatasetPageDocument, { id });
  const pages = useMorePages(data?.datasetCases, async (after) => (await run(MoreCasesDocument, { id, after })).datasetCases);
  const [entry, setEntry] = useState<Entry>();
  const overview = evaluationAddress(agent.id);
  const dataset = data?.dataset;
  if (dataset === null) {
    return (
      <EmptyState
        title={t('There is no such dataset')}
        action={<ButtonLink href={overview}>{t('To the datasets')}</ButtonLink>}
      />
    );
  }
  return (
    <Section
      title={dataset?.name ?? t('Dataset')}
      lead={dataset?.description}
      actions={
        <>
          <ButtonLink href={overview}>{t('All datasets')}</ButtonLink>
          {isReadOnly ? null : <EntryButtons onChoose={setEntry} />}
          {dataset === undefined || isReadOnly ? null : <DatasetMenu dataset={dataset} overview={overview} />}
        </>
      }
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {data !== undefined && pages.nodes.length === 0 ? (
        <EmptyState title={t('No cases yet')}>
          {t('Add a question with what its answer must say, import a file, or have a model write some from documents.')}
        </EmptyState>
      ) : null}
      {pages.nodes.length === 0 ? null : (
        <Rows label={t('Cases')}>
          {pages.nodes.map((one) => (
            <CaseRow
              key={one.id}
              datasetId={id}
              value={one}
              isReadOnly={isReadOnly}
              onEdit={() => setEntry(one)}
              onChanged={reload}
            />
          ))}
        </Rows>
      )}
      <ShowMore pages={pages} />
      <EntryDialog
        agentId={agent.id}
        datasetId={id}
        dataset={dataset}
        entry={entry}
        onClose={() => setEntry(undefined)}
        onDone={() => {
          setEntry(undefined);
          reload();
        }}
      />
    </Section>
  );
}

function EntryButtons({ onChoose }: { readonly onChoose: (entry: Entry) => void }) {
  const { t } = useText();
  return (
    <>
      <Button icon={<Plus size={16} aria-hidden />} onClick={() => onChoose('new')}>
        {t('Add a case')}
      </Button>
      <Button icon={<Upload size={16} aria-hidden />} onClick={() => onChoose('import')}>
        {t('Import')}
      </Button>
      <Button icon={<FileText size={16} aria-hidden />} onClick={() => onChoose('draft')}>
        {t('From documents')}
      </Button>
    </>
  );
}

/** Exports and deletes the dataset. */
function DatasetMenu({ dataset: { id, name }, overview }: { readonly dataset: Dataset; readonly overview: string }) {
  const { t } = useText();
  const [, go] = useLocation();
  const attempt = useAttempt();
  const remove = useRemove(DeleteDatasetDocument, () => go(overview));
  const download = (format: DatasetCaseFormat) =>
    attempt(async () => {
      const { datasetExport: file } = await run(DatasetFileDocument, { id, format });
      saveFile(new Blob([file.content], { type: file.contentType }), file.filename);
    });
  return (
    <Menu
      label={t('Acts for {name}', { name })}
      items={[
        { label: t('Export as CSV'), icon: <Download size={16} aria-hidden />, onSelect: () => void download('CSV') },
        { label: t('Export as JSONL'), icon: <Download size={16} aria-hidden />, onSelect: () => void download('JSONL') },
        'separator',
        {
          label: t('Delete'),
          icon: <Trash2 size={16} aria-hidden />,
          isDanger: true,
          onSelect: () => void remove(id, name, t('Its cases and experiments are deleted too.')),
        },
      ]}
    >
      <Button>{t('More')}</Button>
    </Menu>
  );
}

function EntryDialog({
  agentId,
  datasetId,
  dataset,
  entry,
  ...handlers
}: {
  readonly agentId: string;
  readonly datasetId: string;
  readonly dataset: Dataset | undefined;
  readonly entry: Entry | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  if (entry === undefined) return null;
  if (entry === 'import') return <ImportDialog datasetId={datasetId} {...handlers} />;
  if (entry !== 'draft') return <CaseDialog datasetId={datasetId} value={entry === 'new' ? undefined : entry} {...handlers} />;
  return dataset === undefined ? null : (
    <DraftCasesDialog agentId={agentId} datasetId={datasetId} draftCount={dataset.draftCount} {...handlers} />
  );
}
