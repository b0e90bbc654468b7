import { Link2, Plus } from 'lucide-react';
import { useState } from 'react';
import { useList, useLiveReload } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Table } from '../../../ui/page.tsx';
import { Grants } from '../grants/Grants.tsx';
import { ConnectDialog } from './ConnectDialog.tsx';
import { ConnectionRow } from './ConnectionRow.tsx';
import { ConnectionsChangedDocument, ConnectionsDocument } from './documents.ts';

/** Accounts at other services that knowledge and tools come from. */
export function Connections({ isOfAll }: { readonly isOfAll: boolean }) {
  const { t } = useText();
  const { may, viewer } = useSession();
  const [isConnecting, setConnecting] = useState(false);
  const variables = { ofOrganization: isOfAll };
  const { error, isLoading, reload, pages, isEmpty } = useList(ConnectionsDocument, variables, (data) => data.connections);
  useLiveReload(ConnectionsChangedDocument, variables, reload);
  const connect =
    !isOfAll && may('CONNECTIONS_WRITE') && viewer.role !== 'AUDITOR' ? (
      <Button variant="primary" icon={<Plus size={17} aria-hidden />} onClick={() => setConnecting(true)}>
        {t('Connect')}
      </Button>
    ) : undefined;
  return (
    <PeoplePage
      title={t('Connections')}
      lead={t('Accounts at other services that knowledge is read from, and MCP servers whose tools agents call.')}
      actions={isEmpty ? undefined : connect}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={5} /> : null}
      {isEmpty ? (
        <EmptyState icon={<Link2 size={26} aria-hidden />} title={t('Nothing is connected')} action={connect}>
          {t('Connect a drive, a wiki or an issue tracker, and agents answer from what is in it.')}
        </EmptyState>
      ) : null}
      {pages.nodes.length === 0 ? null : (
        <Table label={t('Connections')}>
          <thead>
            <tr>
              <th scope="col">{t('Account')}</th>
              {isOfAll ? <th scope="col">{t('Owner')}</th> : null}
              <th scope="col">{t('State')}</th>
              <th scope="col">{t('Used by')}</th>
              <th scope="col">{t('Since')}</th>
              <th scope="col">
                <span className="visually-hidden">{t('What can be done')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {pages.nodes.map((connection) => (
              <ConnectionRow key={connection.id} connection={connection} isOwnerShown={isOfAll} onChanged={reload} />
            ))}
          </tbody>
        </Table>
      )}
      <ShowMore pages={pages} />
      {!isOfAll && may('CHATS_READ') ? <Grants /> : null}
      {isConnecting ? <ConnectDialog onClose={() => setConnecting(false)} onConnected={reload} /> : null}
    </PeoplePage>
  );
}
