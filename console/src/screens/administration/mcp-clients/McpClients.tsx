import { Plug, Plus } from 'lucide-react';
import { useState } from 'react';
import { useList, useMutate } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Card } from '../../../ui/page.tsx';
import { DeleteMcpOauthClientDocument, type McpOauthClientRowFragment, McpOauthClientsDocument } from './documents.ts';
import { McpClientForm } from './McpClientForm.tsx';

/** Clients of MCP servers that an administrator registered by hand, for all members. */
export function McpClients() {
  const { t } = useText();
  const { may } = useSession();
  const [edited, setEdited] = useState<McpOauthClientRowFragment | 'new'>();
  const { error, isLoading, reload, pages, isEmpty } = useList(McpOauthClientsDocument, {}, (data) => data.mcpOauthClients);
  const make = may('ADMIN_WRITE') ? (
    <Button variant="primary" icon={<Plus size={17} aria-hidden />} onClick={() => setEdited('new')}>
      {t('New client')}
    </Button>
  ) : undefined;
  return (
    <PeoplePage
      title={t('MCP clients')}
      lead={t(
        'What Parley is called at the authorization servers of MCP servers. Members sign in there with it, each for themselves.',
      )}
      actions={isEmpty ? undefined : make}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={4} /> : null}
      {isEmpty ? (
        <EmptyState icon={<Plug size={26} aria-hidden />} title={t('No clients yet')} action={make}>
          {t('One is needed for each MCP server whose authorization server registers no clients by itself.')}
        </EmptyState>
      ) : null}
      {pages.nodes.map((saved) => (
        <McpClientCard key={saved.id} saved={saved} onChange={() => setEdited(saved)} onDeleted={reload} />
      ))}
      <ShowMore pages={pages} />
      {edited === undefined ? null : (
        <McpClientForm
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

function McpClientCard({
  saved: { id, url, issuer, clientId, hasSecret, scopes, updatedAt },
  onChange,
  onDeleted,
}: {
  readonly saved: McpOauthClientRowFragment;
  readonly onChange: () => void;
  readonly onDeleted: () => void;
}) {
  const { t, date } = useText();
  const { may } = useSession();
  const confirm = useConfirm();
  const remove = useMutate(DeleteMcpOauthClientDocument);
  const onDelete = async () => {
    const isConfirmed = await confirm({
      title: t('Delete the client of {url}?', { url }),
      body: t('Who signed in with it has to sign in again when the token ends.'),
      action: t('Delete'),
      isDanger: true,
    });
    if (isConfirmed && (await remove.run({ id })) !== undefined) onDeleted();
  };
  const words = hasSecret ? t('with a secret') : t('without a secret');
  return (
    <Card>
      <div className={styles.stack}>
        <div>
          <strong>{url}</strong>
          <p>
            <code>{clientId}</code> {words}
          </p>
          <p className={styles.quiet}>
            {t('At {issuer}', { issuer })} · {t('saved {when}', { when: date(updatedAt) })}
          </p>
          {scopes.length === 0 ? null : <p className={styles.quiet}>{t('Asks for {scopes}', { scopes: scopes.join(', ') })}</p>}
        </div>
        {may('ADMIN_WRITE') ? (
          <div className={styles.chips}>
            <Button size="small" aria-label={t('Change {name}', { name: url })} onClick={onChange}>
              {t('Change')}
            </Button>
            <Button
              size="small"
              aria-label={t('Delete the client of {url}', { url })}
              onClick={() => void onDelete()}
              isBusy={remove.isBusy}
            >
              {t('Delete')}
            </Button>
          </div>
        ) : null}
        <ErrorNote error={remove.error} />
      </div>
    </Card>
  );
}
