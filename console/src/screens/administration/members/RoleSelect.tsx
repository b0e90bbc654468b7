import type { MemberRole } from '../../../graphql/documents.ts';
import { useMutate } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Select } from '../../../ui/form/field.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { ChangeRoleDocument } from './documents.ts';
import { roleSentences, roles, roleWords } from './roles.ts';

/** The role of a member, to change where the reader may. */
export function RoleSelect({
  membership,
  userId,
  name,
  onChanged,
}: {
  readonly membership: { readonly id: string; readonly role: MemberRole };
  readonly userId: string;
  readonly name: string;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const { may, viewer, reload } = useSession();
  const confirm = useConfirm();
  const say = useToast();
  const { run, isBusy, error } = useMutate(ChangeRoleDocument);
  const words = roleWords(t);
  if (!may('ADMIN_WRITE')) return words[membership.role];
  const change = async (role: MemberRole) => {
    const isOwn = userId === viewer.user.id;
    const isConfirmed = await confirm({
      title: isOwn ? t('Change your own role?') : t('Change the role of {name}?', { name }),
      body: isOwn
        ? t('You are {role} then, and cannot take it back yourself.', { role: words[role] })
        : `${words[role]}: ${roleSentences(t)[role]}`,
      action: t('Change the role'),
    });
    if (!isConfirmed) return;
    if ((await run({ id: membership.id, role })) === undefined) return;
    say(t('{name} is now {role}.', { name, role: words[role] }));
    if (isOwn) await reload();
    onChanged();
  };
  return (
    <>
      <Select
        aria-label={t('Role of {name}', { name })}
        value={membership.role}
        disabled={isBusy}
        onChange={(event) => {
          const role = roles.find((each) => each === event.target.value);
          if (role !== undefined) void change(role);
        }}
      >
        {roles.map((role) => (
          <option key={role} value={role}>
            {words[role]}
          </option>
        ))}
      </Select>
      <ErrorNote error={error} />
    </>
  );
}
