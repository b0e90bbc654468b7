import { Download, FileText, Pencil, Plus, Trash2, Upload } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { run } from '../../../../graphql/client.ts';
import { useMorePages, usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, ButtonLink, IconButton } from '../../../../ui/form/button.tsx';
import { ShowMore } from '../../../../ui/more.tsx';
import { Menu } from '../../../../ui/overlay/menu.tsx';
import { useErrorToast } from '../../../../ui/overlay/toasts.tsx';
import { Section } from '../../../../ui/page.tsx';
import { saveFile } from '../../../../ui/save-file.ts';
import { Row, Rows } from '../parts/Rows.tsx';
import { useRemove } from '../parts/use-remove.ts';
import type { EditorAgent } from '../section.ts';
import styles from '../versions/versions.module.css';
import { CaseDialog } from './cases/CaseDialog.tsx';
import { DraftCasesDialog } from './DraftCasesDialog.tsx';
import {
  AgreeToCaseDocument,
  type CaseRowFragment,
  type DatasetCaseFormat,
  DatasetFileDocument,
  DatasetPageDocument,
  DeleteDatasetDocument,
  MoreCasesDocument,
  RemoveCaseDocument,
} from './documents.ts';
import { ImportDialog } from './ImportDialog.tsx';
import { evaluationAddress } from './words.ts';

interface Props {
  readonly agent: EditorAgent;
  readonly id: string;
  readonly isReadOnly: boolean;
}

/** The cases of a dataset. */
export function DatasetScreen({ agent, id, isReadOnly }: Props) {
  const { t } = useText();
  const [, go] = useLocation();
  const sayError = useErrorToast();
  const { data, error, isLoading, reload } = usePage(DatasetPageDocument, { id });
  const pages = useMorePages(data?.datasetCases, async (after) => (await run(MoreCasesDocument, { id, after })).datasetCases);
  const [dialog, setDialog] = useState<CaseRowFragment | 'new' | 'import' | 'draft'>();
  const overview = evaluationAddress(agent.id);
  const remove = useRemove(DeleteDatasetDocument, () => go(overview));
  const done = () => {
    setDialog(undefined);
    reload();
  };
  const attempt = (act: () => Promise<unknown>) => act().then(reload, sayError);
  const download = (format: DatasetCaseFormat) =>
    attempt(async () => {
      const { datasetExport: file } = await run(DatasetFileDocument, { id, format });
      saveFile(new Blob([file.content], { type: file.contentType }), file.filename);
    });
  const dataset = data?.dataset;
  if (dataset === null) {
    return (
      <EmptyState
        title={t('There is no such dataset')}
        action={<ButtonLink href={overview}>{t('To the datasets')}</ButtonLink>}
      />
    );
  }
  const acts = (
    <>
      <Button icon={<Plus size={16} aria-hidden />} onClick={() => setDialog('new')}>
        {t('Add a case')}
      </Button>
      <Button icon={<Upload size={16} aria-hidden />} onClick={() => setDialog('import')}>
        {t('Import')}
      </Button>
      <Button icon={<FileText size={16} aria-hidden />} onClick={() => setDialog('draft')}>
        {t('From documents')}
      </Button>
    </>
  );
  return (
    <Section
      title={dataset?.name ?? t('Dataset')}
      lead={dataset?.description}
      actions={
        <>
          <ButtonLink href={overview}>{t('All datasets')}</ButtonLink>
          {isReadOnly ? null : acts}
          {dataset === undefined || isReadOnly ? null : (
            <Menu
              label={t('Acts for {name}', { name: dataset.name })}
              items={[
                { label: t('Export as CSV'), icon: <Download size={16} aria-hidden />, onSelect: () => void download('CSV') },
                { label: t('Export as JSONL'), icon: <Download size={16} aria-hidden />, onSelect: () => void download('JSONL') },
                'separator',
                {
                  label: t('Delete'),
                  icon: <Trash2 size={16} aria-hidden />,
                  isDanger: true,
                  onSelect: () => void remove(id, dataset.name, t('Its cases and experiments are deleted too.')),
                },
              ]}
            >
              <Button>{t('More')}</Button>
            </Menu>
          )}
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
            <Row
              key={one.id}
              title={<span className={styles.words}>{one.question}</span>}
              badges={
                <>
                  {one.isDraft ? <Badge tone="warn">{t('To look at')}</Badge> : null}
                  {one.tags.map((tag) => (
                    <Badge key={tag}>{tag}</Badge>
                  ))}
                </>
              }
              note={<CaseNote value={one} />}
              actions={
                isReadOnly ? undefined : (
                  <>
                    {one.isDraft ? (
                      <Button
                        size="small"
                        onClick={() => void attempt(() => run(AgreeToCaseDocument, { datasetId: id, caseId: one.id }))}
                      >
                        {t('Agree')}
                      </Button>
                    ) : null}
                    <IconButton label={t('Edit {name}', { name: one.question.slice(0, 60) })} onClick={() => setDialog(one)}>
                      <Pencil size={16} aria-hidden />
                    </IconButton>
                    <IconButton
                      label={t('Take {name} out', { name: one.question.slice(0, 60) })}
                      onClick={() => void attempt(() => run(RemoveCaseDocument, { datasetId: id, caseId: one.id }))}
                    >
                      <Trash2 size={16} aria-hidden />
                    </IconButton>
                  </>
                )
              }
            />
          ))}
        </Rows>
      )}
      <ShowMore pages={pages} />
      {dialog === 'import' ? <ImportDialog datasetId={id} onClose={() => setDialog(undefined)} onDone={done} /> : null}
      {dialog === 'draft' && dataset !== undefined ? (
        <DraftCasesDialog
          agentId={agent.id}
          datasetId={id}
          draftCount={dataset.draftCount}
          onClose={() => setDialog(undefined)}
          onDone={done}
        />
      ) : null}
      {dialog === undefined || dialog === 'import' || dialog === 'draft' ? null : (
        <CaseDialog
          datasetId={id}
          value={dialog === 'new' ? undefined : dialog}
          onClose={() => setDialog(undefined)}
          onDone={done}
        />
      )}
    </Section>
  );
}

/** What a good answer must be. */
function CaseNote({ value }: { readonly value: CaseRowFragment }) {
  const { t } = useText();
  const { expected, mustContain, mustNotContain, mustCite, messages } = value;
  return (
    <>
      {messages.length === 0 ? null : (
        <p>{t('{count, plural, one {# message before it} other {# messages before it}}', { count: messages.length })}</p>
      )}
      {expected === null ? null : <p>{t('Good answer: {text}', { text: expected.slice(0, 300) })}</p>}
      {mustContain.length === 0 ? null : <p>{t('Says: {facts}', { facts: mustContain.join(' · ') })}</p>}
      {mustNotContain.length === 0 ? null : <p>{t('Does not say: {facts}', { facts: mustNotContain.join(' · ') })}</p>}
      {mustCite.length === 0 ? null : <p>{t('Cites: {documents}', { documents: mustCite.join(' · ') })}</p>}
    </>
  );
}
