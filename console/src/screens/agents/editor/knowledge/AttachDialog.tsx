import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { readableError, run } from '../../../../graphql/client.ts';
import { useList } from '../../../../graphql/hooks.ts';
import { addToDraft } from '../../../../parts/drafts/change.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Note, ShowMore, Skeleton } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { SearchInput } from '../../../../ui/form/field.tsx';
import { Dialog } from '../../../../ui/overlay/dialog.tsx';
import { Row, Rows } from '../parts/Rows.tsx';
import { AttachableSourcesDocument, type AttachableSourcesQuery, AttachSourceDocument } from './documents.ts';
import { stateName } from './words.ts';

type Source = AttachableSourcesQuery['dataSources']['nodes'][number];

interface Props {
  readonly agentId: string;
  /** Ids of the sources that the agent has. */
  readonly attached: readonly string[];
  readonly onClose: () => void;
  readonly onAttached: () => void;
}

/** Chooses among the knowledge that the reader may see. */
export function AttachDialog({ agentId, attached, onClose, onAttached }: Props) {
  const { t } = useText();
  const [typed, setTyped] = useState('');
  const search = typed.trim() === '' ? null : typed.trim();
  const { error, isLoading, reload, pages, isEmpty } = useList(
    AttachableSourcesDocument,
    { search, after: null },
    (data) => data.dataSources,
  );
  const [busyId, setBusy] = useState<string>();
  const [fault, setFault] = useState<ParleyError>();
  const attach = async ({ id }: Source) => {
    setBusy(id);
    setFault(undefined);
    try {
      await addToDraft(agentId, (expectedDraft) => run(AttachSourceDocument, { agentId, dataSourceId: id, expectedDraft }));
      onAttached();
    } catch (cause) {
      setFault(readableError(cause));
    } finally {
      setBusy(undefined);
    }
  };
  return (
    <Dialog title={t('Attach knowledge')} isOpen onClose={onClose} actions={<Button onClick={onClose}>{t('Done')}</Button>}>
      <SearchInput label={t('Search knowledge')} value={typed} onChange={setTyped} />
      <ErrorNote error={error} onRetry={reload} />
      <ErrorNote error={fault} />
      {isLoading ? <Skeleton /> : null}
      {isEmpty ? <Note>{t('There is no knowledge that fits.')}</Note> : null}
      {pages.nodes.length === 0 ? null : (
        <Rows label={t('Knowledge to attach')}>
          {pages.nodes.map((source) => (
            <Row
              key={source.id}
              title={source.name}
              note={[stateName(t, source.indexStatus), source.owner?.name].filter((words) => words !== undefined).join(' · ')}
              actions={
                attached.includes(source.id) ? (
                  <span>{t('Attached')}</span>
                ) : (
                  <Button size="small" isBusy={busyId === source.id} onClick={() => void attach(source)}>
                    {t('Attach')}
                    <span className="visually-hidden"> {source.name}</span>
                  </Button>
                )
              }
            />
          ))}
        </Rows>
      )}
      <ShowMore pages={pages} />
    </Dialog>
  );
}
