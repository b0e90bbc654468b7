import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Time } from '../../../ui/small.tsx';
import { type KeyRowFragment, RevokeKeyDocument } from './documents.ts';
import { scopeGroups, scopeSummary } from './scopes.ts';

/** A key in the list. */
export function KeyRow({
  apiKey,
  isOwnerShown,
  onChanged,
}: {
  readonly apiKey: KeyRowFragment;
  readonly isOwnerShown: boolean;
  readonly onChanged: () => void;
}) {
  const { t, date } = useText();
  const { may, viewer } = useSession();
  const confirm = useConfirm();
  const say = useToast();
  const { run, isBusy, error } = useMutate(RevokeKeyDocument);
  const { id, name, prefix, scopes, level, lastUsedAt, expiresAt, owner, createdBy, ownerUserId } = apiKey;
  const isOver = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  const levels = { ORGANIZATION: undefined, TENANT: t('All organizations of the tenant'), INSTANCE: t('The whole installation') };
  const mayRevoke = may('API_KEYS_WRITE') && viewer.role !== 'AUDITOR' && (ownerUserId === viewer.user.id || may('ADMIN_WRITE'));
  const onRevoke = async () => {
    const isConfirmed = await confirm({
      title: t('Revoke the key {name}?', { name }),
      body: t('Programs that use it stop working within a second. A revoked key does not come back.'),
      action: t('Revoke'),
      isDanger: true,
    });
    if (!isConfirmed || (await run({ id })) === undefined) return;
    say(t('The key {name} is revoked.', { name }));
    onChanged();
  };
  return (
    <tr id={id} className={isOver ? styles.over : undefined}>
      <th scope="row">
        <div>{name}</div>
        <code className={styles.quiet}>{prefix}…</code>
        <ErrorNote error={error} />
      </th>
      <td>
        <details className={styles.details}>
          <summary>{scopeSummary(t, scopes)}</summary>
          <ScopeList scopes={scopes} />
        </details>
        {levels[level] === undefined ? null : <Badge tone="warn">{levels[level]}</Badge>}
      </td>
      {isOwnerShown ? (
        <td>
          {owner?.name ?? t('Somebody who left')}
          {createdBy !== null && createdBy.id !== ownerUserId ? (
            <div className={styles.quiet}>{t('made by {name}', { name: createdBy.name })}</div>
          ) : null}
        </td>
      ) : null}
      <td className={styles.nowrap}>
        {lastUsedAt === null ? <span className={styles.quiet}>{t('never')}</span> : <Time at={lastUsedAt} />}
      </td>
      <td className={styles.nowrap}>
        {isOver ? (
          <Badge>{t('Expired')}</Badge>
        ) : expiresAt === null ? (
          <span className={styles.quiet}>{t('never')}</span>
        ) : (
          date(expiresAt, { dateStyle: 'medium' })
        )}
      </td>
      <td>
        {mayRevoke ? (
          <span className={styles.end}>
            <Button
              size="small"
              isBusy={isBusy}
              aria-label={t('Revoke the key {name}', { name })}
              onClick={() => void onRevoke()}
            >
              {t('Revoke')}
            </Button>
          </span>
        ) : null}
      </td>
    </tr>
  );
}

function ScopeList({ scopes }: { readonly scopes: KeyRowFragment['scopes'] }) {
  const { t } = useText();
  const lines = scopeGroups(t).flatMap(({ title, read, write }) => {
    const acts = [scopes.includes(read) ? t('read') : undefined, scopes.includes(write) ? t('change') : undefined];
    const words = acts.filter((act) => act !== undefined).join(', ');
    return words === '' ? [] : [{ title, words }];
  });
  return (
    <ul className={styles.plain}>
      {lines.map(({ title, words }) => (
        <li key={title}>
          {title}: <span className={styles.quiet}>{words}</span>
        </li>
      ))}
    </ul>
  );
}
