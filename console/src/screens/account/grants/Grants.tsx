import { useState } from 'react';
import { useList, useLiveReload } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Section } from '../../../ui/page.tsx';
import { ConnectionsChangedDocument } from '../connections/documents.ts';
import { GrantsDocument } from './documents.ts';
import { GrantDialog } from './GrantDialog.tsx';
import { GrantRow } from './GrantRow.tsx';

const ownConnections = { ofOrganization: false };

/** What the reader lets each agent open. */
export function Grants() {
  const { t } = useText();
  const { may, viewer } = useSession();
  const [isGranting, setGranting] = useState(false);
  const { error, isLoading, reload, pages, isEmpty } = useList(GrantsDocument, {}, (data) => data.grants);
  // A connection that is deleted is granted to nobody any more.
  useLiveReload(ConnectionsChangedDocument, ownConnections, reload);
  return (
    <Section title={t('Granted to agents')} lead={t('What of yours an agent may open when you ask it. Nobody else sees this.')}>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={2} /> : null}
      {isEmpty ? <p className={styles.quiet}>{t('You grant nothing to any agent.')}</p> : null}
      {pages.nodes.length === 0 ? null : (
        <ul className={styles.rows}>
          {pages.nodes.map((grant) => (
            <GrantRow key={grant.id} grant={grant} onChanged={reload} />
          ))}
        </ul>
      )}
      <ShowMore pages={pages} />
      {may('CHATS_WRITE') && viewer.role !== 'AUDITOR' ? (
        <div className={styles.chips}>
          <Button size="small" onClick={() => setGranting(true)}>
            {t('Grant to an agent')}
          </Button>
        </div>
      ) : null}
      {isGranting ? (
        <GrantDialog
          onClose={() => setGranting(false)}
          onGranted={() => {
            setGranting(false);
            reload();
          }}
        />
      ) : null}
    </Section>
  );
}
