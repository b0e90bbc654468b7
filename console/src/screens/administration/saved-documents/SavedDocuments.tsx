import { Braces, Plus } from 'lucide-react';
import { useState } from 'react';
import { useList, useMutate } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, Note, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Card } from '../../../ui/page.tsx';
import { CodeBox } from '../../../ui/small.tsx';
import { DeleteSavedDocumentDocument, type SavedDocumentRowFragment, SavedDocumentsDocument } from './documents.ts';
import { SavedDocumentForm } from './SavedDocumentForm.tsx';

/** GraphQL documents of the organization: tools of MCP clients, and routes of REST. */
export function SavedDocuments() {
  const { t } = useText();
  const { may } = useSession();
  const [edited, setEdited] = useState<SavedDocumentRowFragment | 'new'>();
  const { error, isLoading, reload, pages, isEmpty } = useList(SavedDocumentsDocument, {}, (data) => data.savedDocuments);
  const make = may('ADMIN_WRITE') ? (
    <Button variant="primary" icon={<Plus size={17} aria-hidden />} onClick={() => setEdited('new')}>
      {t('New document')}
    </Button>
  ) : undefined;
  return (
    <PeoplePage
      title={t('Saved documents')}
      lead={t('Queries and mutations of GraphQL that programs call by a name, with their own keys and rights.')}
      actions={isEmpty ? undefined : make}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {isEmpty ? (
        <EmptyState icon={<Braces size={26} aria-hidden />} title={t('No saved documents yet')} action={make}>
          {t('Each one is a tool for MCP clients and an address of the REST API: its variables go in, its result comes out.')}
        </EmptyState>
      ) : null}
      {pages.nodes.map((saved) => (
        <SavedDocumentCard key={saved.id} saved={saved} onChange={() => setEdited(saved)} onDeleted={reload} />
      ))}
      <ShowMore pages={pages} />
      {edited === undefined ? null : (
        <SavedDocumentForm
          saved={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            reload();
          }}
        />
      )}
    </PeoplePage>
  );
}

function SavedDocumentCard({
  saved,
  onChange,
  onDeleted,
}: {
  readonly saved: SavedDocumentRowFragment;
  readonly onChange: () => void;
  readonly onDeleted: () => void;
}) {
  const { t, date } = useText();
  const { may } = useSession();
  const confirm = useConfirm();
  const remove = useMutate(DeleteSavedDocumentDocument);
  const { id, name, description, document, fault, updatedAt } = saved;
  const onDelete = async () => {
    const isConfirmed = await confirm({
      title: t('Delete {name}?', { name }),
      body: t('Programs that call it get an error from then on.'),
      action: t('Delete'),
      isDanger: true,
    });
    if (isConfirmed && (await remove.run({ id })) !== undefined) onDeleted();
  };
  return (
    <Card>
      <div className={styles.stack}>
        <div>
          <strong>{name}</strong>
          <p>{description}</p>
          <p className={styles.quiet}>
            <code>POST /api/v1/documents/{name}</code> · {t('saved {when}', { when: date(updatedAt) })}
          </p>
        </div>
        {fault === null ? null : <Note tone="warn">{t('It cannot be run any more. {fault}', { fault })}</Note>}
        <CodeBox text={document} label={t('Document {name}', { name })} />
        {may('ADMIN_WRITE') ? (
          <div className={styles.chips}>
            <Button size="small" onClick={onChange}>
              {t('Change')}
            </Button>
            <Button size="small" onClick={() => void onDelete()} isBusy={remove.isBusy}>
              {t('Delete')}
            </Button>
          </div>
        ) : null}
        <ErrorNote error={remove.error} />
      </div>
    </Card>
  );
}
