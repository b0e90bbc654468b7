import { useState } from 'react';
import { useLiveReload, useMutate, usePage } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, ErrorNote, Note, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Section } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import { ConnectDialog } from '../connections/ConnectDialog.tsx';
import { ConnectionsChangedDocument, DeleteConnectionDocument } from '../connections/documents.ts';
import { IdentitiesDocument, type IdentitiesQuery } from './documents.ts';

type Identity = IdentitiesQuery['sourceIdentities'][number];

/** By what sources know the reader, where each person finds what that person may open there, and what vouches for it. */
export function Identities() {
  const { t } = useText();
  const { may, viewer } = useSession();
  const [isConnecting, setConnecting] = useState(false);
  const mayRead = may('CONNECTIONS_READ');
  const { data, error, isLoading, reload } = usePage(IdentitiesDocument, {}, { pause: !mayRead });
  useLiveReload(ConnectionsChangedDocument, { ofOrganization: false }, reload, { pause: !mayRead });
  if (!mayRead) return null;
  const identities = data?.sourceIdentities ?? [];
  const isUnknown = data !== undefined && identities.every(({ proof }) => proof === 'NONE');
  const mayConnect = may('CONNECTIONS_WRITE') && viewer.role !== 'AUDITOR';
  return (
    <Section
      title={t('Who you are at sources')}
      lead={t('Where a source keeps its permissions, answers come from what you may open there. It has to know you for that.')}
      actions={mayConnect ? <Button onClick={() => setConnecting(true)}>{t('Connect my account')}</Button> : undefined}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={2} /> : null}
      {isUnknown ? (
        <Note tone="warn">
          {t('Nothing vouches for you yet: of such sources you find what is open to everybody. Connect your account there.')}
        </Note>
      ) : null}
      {identities.length === 0 ? null : (
        <ul className={styles.rows} aria-label={t('Who you are at sources')}>
          {identities.map((identity) => (
            <IdentityRow
              key={`${identity.proof} ${identity.connection?.id ?? ''}`}
              identity={identity}
              onChanged={reload}
              mayDisconnect={mayConnect}
            />
          ))}
        </ul>
      )}
      {isConnecting ? <ConnectDialog isProof onClose={() => setConnecting(false)} onConnected={reload} /> : null}
    </Section>
  );
}

function IdentityRow({
  identity: { service, accountId, email, proof, provenAt, connection },
  mayDisconnect,
  onChanged,
}: {
  readonly identity: Identity;
  readonly mayDisconnect: boolean;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const confirm = useConfirm();
  const { run, isBusy, error } = useMutate(DeleteConnectionDocument);
  const services = { GOOGLE: 'Google', MICROSOFT: 'Microsoft', ATLASSIAN: 'Atlassian', GITHUB: 'GitHub' } as const;
  const proofs: Readonly<Record<Identity['proof'], string>> = {
    SIGN_IN: t('Proven by a sign-in or a mailed invitation'),
    DIRECTORY: t('The directory of your organization vouches for it'),
    CONNECTION: t('Proven by your connection'),
    NONE: t('Nothing vouches for it'),
  };
  const serviceName = service === null ? undefined : services[service];
  const name = connection?.accountName ?? email ?? accountId ?? '';
  const onDisconnect = async (id: string, sourceCount: number) => {
    const isConfirmed = await confirm({
      title: t('Disconnect {name}?', { name }),
      body: (
        <div className={styles.stack}>
          <p>
            {t('{service} no longer knows you by this account: what only it opens is hidden from you at once.', {
              service: serviceName ?? '',
            })}
          </p>
          {sourceCount === 0 ? null : (
            <p>
              {t(
                '{count, plural, one {# knowledge source stays} other {# knowledge sources stay}} as they are and are not read anew.',
                { count: sourceCount },
              )}
            </p>
          )}
        </div>
      ),
      action: t('Disconnect'),
      isDanger: true,
    });
    if (isConfirmed && (await run({ id })) !== undefined) onChanged();
  };
  return (
    <li>
      <span className={styles.grow}>
        {name}
        <span className={styles.block}>
          {serviceName === undefined ? t('E-mail') : serviceName}
          {connection === null || email === null || email === name ? '' : ` · ${email}`}
          {' · '}
          {proofs[proof]}
          {provenAt === null ? null : (
            <>
              {' · '}
              <Time at={provenAt} />
            </>
          )}
        </span>
        <ErrorNote error={error} />
      </span>
      {proof === 'NONE' ? <Badge tone="warn">{t('Not proven')}</Badge> : <Badge tone="good">{t('Proven')}</Badge>}
      {connection === null || !mayDisconnect ? null : (
        <Button
          size="small"
          isBusy={isBusy}
          aria-label={t('Disconnect {name}', { name })}
          onClick={() => void onDisconnect(connection.id, connection.sources.totalCount ?? 0)}
        >
          {t('Disconnect')}
        </Button>
      )}
    </li>
  );
}
