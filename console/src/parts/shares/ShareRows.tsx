import { Link as LinkIcon } from 'lucide-react';
import { Link } from 'wouter';
import { useMutate } from '../../graphql/hooks.ts';
import { type Text, useText } from '../../text/text.ts';
import { Badge, ErrorNote } from '../../ui/feedback.tsx';
import { Button } from '../../ui/form/button.tsx';
import { Time } from '../../ui/small.tsx';
import people from '../people/people.module.css';
import { type ChatShareRowFragment, RevokeChatShareDocument } from './documents.ts';

/** Links to chats: who may open each, what became of it, and a button that ends it. */
export function ShareRows({
  shares,
  showsChat = false,
  showsUser = false,
  mayRevoke = true,
  onChanged,
}: {
  readonly shares: readonly ChatShareRowFragment[];
  readonly showsChat?: boolean;
  readonly showsUser?: boolean;
  readonly mayRevoke?: boolean;
  readonly onChanged: () => void;
}) {
  return (
    <ul className={people.rows}>
      {shares.map((share) => (
        <ShareRow key={share.id} {...{ share, showsChat, showsUser, mayRevoke, onChanged }} />
      ))}
    </ul>
  );
}

function ShareRow({
  share,
  showsChat,
  showsUser,
  mayRevoke,
  onChanged,
}: {
  readonly share: ChatShareRowFragment;
  readonly showsChat: boolean;
  readonly showsUser: boolean;
  readonly mayRevoke: boolean;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const { run: revoke, isBusy, error } = useMutate(RevokeChatShareDocument);
  const { chat, user, status, createdAt, openedAt, openCount, expiresAt } = share;
  const onRevoke = async () => {
    if ((await revoke({ id: share.id })) !== undefined) onChanged();
  };
  const isOpen = status === 'ACTIVE' || status === 'SUSPENDED';
  return (
    <li>
      <div className={people.grow}>
        {showsChat ? (
          <p>{chat === null ? t('A chat you cannot read') : <Link href={`/chats/${chat.id}`}>{chat.name ?? t('Chat')}</Link>}</p>
        ) : null}
        <p>
          <LinkIcon size={14} aria-hidden /> {getAudienceWords(share, t)} · {getModeWords(share.mode, t)}{' '}
          <Badge tone={status === 'ACTIVE' ? 'good' : status === 'SUSPENDED' ? 'warn' : 'neutral'}>
            {getStatusWords(status, t)}
          </Badge>
        </p>
        <p className={people.quiet}>
          {showsUser ? <>{user?.name ?? t('A person who is gone')} · </> : null}
          {t('made')} <Time at={createdAt} />
          {expiresAt !== null && status === 'ACTIVE' ? (
            <>
              {' '}
              · {t('ends')} <Time at={expiresAt} />
            </>
          ) : null}{' '}
          ·{' '}
          {openedAt === null ? (
            t('not opened yet')
          ) : (
            <>
              {t('{count, plural, one {# opening} other {# openings}}, last', { count: openCount })} <Time at={openedAt} />
            </>
          )}
        </p>
        <ErrorNote error={error} />
      </div>
      {mayRevoke && isOpen ? (
        <Button size="small" isBusy={isBusy} onClick={() => void onRevoke()}>
          {t('Revoke')}
        </Button>
      ) : null}
    </li>
  );
}

const shownNames = 3;

function getAudienceWords({ audience, readers }: ChatShareRowFragment, t: Text['t']): string {
  if (audience === 'ANYONE') return t('Anyone with the link');
  if (audience === 'ORGANIZATION') return t('Everybody in the organization');
  const names = readers.slice(0, shownNames).map(({ name }) => name);
  const rest = readers.length - names.length;
  if (names.length === 0) return t('People who are gone');
  return rest === 0 ? names.join(', ') : t('{names} and {count} more', { names: names.join(', '), count: rest });
}

function getModeWords(mode: ChatShareRowFragment['mode'], t: Text['t']): string {
  return mode === 'FROZEN' ? t('the chat as it was') : t('the chat as it grows');
}

function getStatusWords(status: ChatShareRowFragment['status'], t: Text['t']): string {
  switch (status) {
    case 'ACTIVE':
      return t('Open');
    case 'EXPIRED':
      return t('Over');
    case 'REVOKED':
      return t('Revoked');
    case 'SUSPENDED':
      return t('Not allowed now');
  }
}
