import { EllipsisVertical, KeyRound, UserMinus, UserX } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { Menu } from '../../../ui/overlay/menu.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { CodeBox } from '../../../ui/small.tsx';
import { DeactivateUserDocument, ReactivateUserDocument, RemoveMemberDocument, SignInLinkDocument } from './documents.ts';

/** What an administrator does with a member: a sign-in link, deactivating, removing. */
export function PersonActions({
  person: { id, name, email, isActive },
  membership,
  onChanged,
}: {
  readonly person: { readonly id: string; readonly name: string; readonly email: string; readonly isActive: boolean };
  readonly membership: { readonly id: string } | undefined;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const { may, viewer } = useSession();
  const [, go] = useLocation();
  const confirm = useConfirm();
  const say = useToast();
  const [link, setLink] = useState<string>();
  const deactivate = useMutate(DeactivateUserDocument);
  const reactivate = useMutate(ReactivateUserDocument);
  const remove = useMutate(RemoveMemberDocument);
  const signIn = useMutate(SignInLinkDocument);
  const orgId = viewer.organization.id;
  if (!may('ADMIN_WRITE') || id === viewer.user.id) return null;
  const onDeactivate = async () => {
    const isConfirmed = await confirm({
      title: t('Deactivate {name}?', { name }),
      body: t(
        'Sessions, keys and open pages of the person end at once. What the person made stays, and you can reactivate the person.',
      ),
      action: t('Deactivate'),
      isDanger: true,
    });
    if (!isConfirmed || (await deactivate.run({ id, orgId })) === undefined) return;
    say(t('{name} is deactivated.', { name }));
    onChanged();
  };
  const onReactivate = async () => {
    if ((await reactivate.run({ id, orgId })) === undefined) return;
    say(t('{name} is a member again.', { name }));
    onChanged();
  };
  const onRemove = async () => {
    if (membership === undefined) return;
    const isConfirmed = await confirm({
      title: t('Remove {name} from the organization?', { name }),
      body: t('The person is no member any more, and keys stop at once. Hand over first what the person owns.'),
      action: t('Remove'),
      isDanger: true,
    });
    if (!isConfirmed || (await remove.run({ id: membership.id })) === undefined) return;
    say(t('{name} is no member any more.', { name }));
    go('/people');
  };
  const onLink = async () => setLink((await signIn.run({ input: { email, orgId } }))?.createSignInLink.url);
  const error = deactivate.error ?? reactivate.error ?? remove.error ?? signIn.error;
  return (
    <div className={styles.stack}>
      <span className={styles.end}>
        {isActive ? null : (
          <Button variant="primary" isBusy={reactivate.isBusy} onClick={() => void onReactivate()}>
            {t('Reactivate')}
          </Button>
        )}
        {membership === undefined ? null : (
          <ActsMenu name={name} onLink={onLink} onDeactivate={onDeactivate} onRemove={onRemove} />
        )}
      </span>
      <ErrorNote error={error} />
      <LinkDialog name={name} link={link} onClose={() => setLink(undefined)} />
    </div>
  );
}

function ActsMenu({
  name,
  onLink,
  onDeactivate,
  onRemove,
}: {
  readonly name: string;
  readonly onLink: () => Promise<void>;
  readonly onDeactivate: () => Promise<void>;
  readonly onRemove: () => Promise<void>;
}) {
  const { t } = useText();
  return (
    <Menu
      label={t('Acts on {name}', { name })}
      items={[
        { label: t('Make a sign-in link'), icon: <KeyRound size={16} aria-hidden />, onSelect: () => void onLink() },
        'separator',
        {
          label: t('Deactivate'),
          icon: <UserX size={16} aria-hidden />,
          isDanger: true,
          onSelect: () => void onDeactivate(),
        },
        {
          label: t('Remove from the organization'),
          icon: <UserMinus size={16} aria-hidden />,
          isDanger: true,
          onSelect: () => void onRemove(),
        },
      ]}
    >
      <IconButton label={t('Acts on {name}', { name })}>
        <EllipsisVertical size={18} aria-hidden />
      </IconButton>
    </Menu>
  );
}

function LinkDialog({
  name,
  link,
  onClose,
}: {
  readonly name: string;
  readonly link: string | undefined;
  readonly onClose: () => void;
}) {
  const { t } = useText();
  return (
    <Dialog title={t('Sign-in link')} isOpen={link !== undefined} onClose={onClose}>
      <p>
        {t(
          'Give this link to {name} only: whoever opens it is signed in as {name}. It works once, for an hour, and is not shown again.',
          { name },
        )}
      </p>
      <CodeBox text={link ?? ''} label={t('Sign-in link')} />
    </Dialog>
  );
}
