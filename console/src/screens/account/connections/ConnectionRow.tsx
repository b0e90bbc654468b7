import { Link } from 'wouter';
import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Time } from '../../../ui/small.tsx';
import { BlockedWindow } from './BlockedWindow.tsx';
import { type ConnectionRowFragment, DeleteConnectionDocument } from './documents.ts';
import { providerWords, useConnect } from './providers.ts';

/** A connection in the list: what it is, whether it works, and what uses it. */
export function ConnectionRow({
  connection: { id, provider, accountName, baseUrl, isOwn, needsReauthorization, createdAt, owner, sources },
  isOwnerShown,
  onChanged,
}: {
  readonly connection: ConnectionRowFragment;
  readonly isOwnerShown: boolean;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const { isAdmin, viewer } = useSession();
  const confirm = useConfirm();
  const { run, isBusy, error } = useMutate(DeleteConnectionDocument);
  const { connect, isConnecting, error: failure, blockedUrl } = useConnect();
  const service = providerWords(t)[provider];
  const isServer = provider === 'MCP';
  const onConsent = async () => (isServer ? { connectionId: id } : {});
  const count = sources.totalCount ?? sources.nodes.length;
  const more = count - sources.nodes.length;
  const onDelete = async () => {
    const isConfirmed = await confirm({
      title: t('Delete the connection {name}?', { name: accountName }),
      body:
        count === 0
          ? t('Nothing uses it.')
          : t(
              '{count, plural, one {# knowledge source stays} other {# knowledge sources stay}} as they are and are not read anew.',
              { count },
            ),
      action: t('Delete'),
      isDanger: true,
    });
    if (isConfirmed && (await run({ id })) !== undefined) onChanged();
  };
  return (
    <tr>
      <th scope="row">
        {accountName}
        <div className={styles.quiet}>
          {service}
          {baseUrl === null ? '' : ` · ${getHost(baseUrl)}`}
        </div>
        <ErrorNote error={error ?? failure} />
        {blockedUrl === undefined ? null : <BlockedWindow url={blockedUrl} />}
      </th>
      {isOwnerShown ? <td>{owner?.name ?? t('Somebody who left')}</td> : null}
      <td>
        {needsReauthorization ? (
          <Badge tone="warn">{isServer ? t('Sign-in needed') : t('Connect again')}</Badge>
        ) : (
          <Badge tone="good">{t('Works')}</Badge>
        )}
      </td>
      <td>
        {sources.nodes.map((source) => (
          <div key={source.id}>
            <Link href={`/knowledge/${source.id}`}>{source.name}</Link>
          </div>
        ))}
        {more > 0 ? <span className={styles.quiet}>{t('{count} more', { count: more })}</span> : null}
        {count === 0 ? <span className={styles.quiet}>{t('nothing')}</span> : null}
      </td>
      <td className={styles.nowrap}>
        <Time at={createdAt} />
      </td>
      <td>
        <span className={styles.end}>
          {needsReauthorization && isOwn ? (
            <Button size="small" isBusy={isConnecting} onClick={() => void connect(provider, onConsent)}>
              {isServer ? t('Sign in') : t('Connect again')}
            </Button>
          ) : null}
          {(isOwn || isAdmin) && viewer.role !== 'AUDITOR' ? (
            <Button
              size="small"
              isBusy={isBusy}
              aria-label={t('Delete {name}', { name: accountName })}
              onClick={() => void onDelete()}
            >
              {t('Delete')}
            </Button>
          ) : null}
        </span>
      </td>
    </tr>
  );
}

const getHost = (url: string) => (URL.canParse(url) ? new URL(url).host : url);
