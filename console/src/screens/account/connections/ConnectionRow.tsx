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

interface Props {
  readonly connection: ConnectionRowFragment;
  readonly isOwnerShown: boolean;
  readonly onChanged: () => void;
}

/** A connection in the list: what it is, whether it works, and what uses it. */
export function ConnectionRow({ connection, isOwnerShown, onChanged }: Props) {
  const { t } = useText();
  const { accountName, baseUrl, provider, needsReauthorization, createdAt, owner } = connection;
  const remove = useRemove(connection, onChanged);
  const { connect, isConnecting, error, blockedUrl } = useConnect();
  const isServer = provider === 'MCP';
  const signIn = () => connect(provider, async () => (isServer ? { connectionId: connection.id } : {}));
  return (
    <tr>
      <th scope="row">
        {accountName}
        <div className={styles.quiet}>
          {providerWords(t)[provider]}
          {baseUrl === null ? '' : ` · ${getHost(baseUrl)}`}
        </div>
        <ErrorNote error={remove.error ?? error} />
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
      <UsedBy connection={connection} />
      <td className={styles.nowrap}>
        <Time at={createdAt} />
      </td>
      <td>
        <span className={styles.end}>
          {needsReauthorization && connection.isOwn ? (
            <Button size="small" isBusy={isConnecting} onClick={() => void signIn()}>
              {isServer ? t('Sign in') : t('Connect again')}
            </Button>
          ) : null}
          {remove.isAllowed ? (
            <Button
              size="small"
              isBusy={remove.isBusy}
              aria-label={t('Delete {name}', { name: accountName })}
              onClick={() => void remove.run()}
            >
              {t('Delete')}
            </Button>
          ) : null}
        </span>
      </td>
    </tr>
  );
}

const countSources = ({ sources }: ConnectionRowFragment) => sources.totalCount ?? sources.nodes.length;

/** Deletes a connection, once the reader knows what happens to the sources that use it. */
function useRemove(connection: ConnectionRowFragment, onRemoved: () => void) {
  const { t } = useText();
  const { isAdmin, viewer } = useSession();
  const confirm = useConfirm();
  const { run, isBusy, error } = useMutate(DeleteConnectionDocument);
  const { id, accountName, isOwn } = connection;
  const count = countSources(connection);
  const remove = async () => {
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
    if (isConfirmed && (await run({ id })) !== undefined) onRemoved();
  };
  return { run: remove, isAllowed: (isOwn || isAdmin) && viewer.role !== 'AUDITOR', isBusy, error };
}

function UsedBy({ connection }: { readonly connection: ConnectionRowFragment }) {
  const { t } = useText();
  const { nodes } = connection.sources;
  const count = countSources(connection);
  const more = count - nodes.length;
  return (
    <td>
      {nodes.map((source) => (
        <div key={source.id}>
          <Link href={`/knowledge/${source.id}`}>{source.name}</Link>
        </div>
      ))}
      {more > 0 ? <span className={styles.quiet}>{t('{count} more', { count: more })}</span> : null}
      {count === 0 ? <span className={styles.quiet}>{t('nothing')}</span> : null}
    </td>
  );
}

const getHost = (url: string) => (URL.canParse(url) ? new URL(url).host : url);
