import { useState } from 'react';
import type { MemberRole } from '../../../graphql/documents.ts';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Note } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Checkbox } from '../../../ui/form/field.tsx';
import { SelectField, TextField } from '../../../ui/form/fields.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { CodeBox } from '../../../ui/small.tsx';
import { GroupChoiceDocument, InviteDocument, type InviteMutation } from './documents.ts';
import { roleSentences, roles, roleWords } from './roles.ts';

/** Asks somebody to become a member, and shows the link of the invitation, once. */
export function InviteDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const [made, setMade] = useState<InviteMutation['invite']>();
  const close = () => {
    setMade(undefined);
    onClose();
  };
  if (!isOpen) return null;
  return made === undefined ? (
    <InviteForm onClose={close} onMade={setMade} />
  ) : (
    <InviteLink made={made} onAgain={() => setMade(undefined)} onClose={close} />
  );
}

function InviteForm({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (invitation: InviteMutation['invite']) => void;
}) {
  const { t } = useText();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole>('MEMBER');
  const [groupIds, setGroupIds] = useState<readonly string[]>([]);
  const { run, isBusy, error } = useMutate(InviteDocument);
  const submit = async () => {
    const result = await run({ input: { email: email.trim(), role, groupIds: [...groupIds] } });
    if (result !== undefined) onMade(result.invite);
  };
  return (
    <FormDialog
      title={t('Invite somebody')}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Send the invitation')}
      isBusy={isBusy}
      isBlocked={email.trim() === ''}
    >
      <TextField
        label={t('E-mail address')}
        error={findFault(error, 'email')}
        type="email"
        autoComplete="off"
        value={email}
        onChange={setEmail}
      />
      <SelectField
        label={t('Role')}
        hint={roleSentences(t)[role]}
        error={findFault(error, 'role')}
        value={role}
        onChange={setRole}
        options={roles.map((each) => ({ value: each, label: roleWords(t)[each] }))}
      />
      <GroupChoice chosen={groupIds} onChange={setGroupIds} />
      <ErrorNote error={errorBeside(error, ['email', 'role'])} />
    </FormDialog>
  );
}

/** Boxes to tick groups. Shows nothing where there are none. */
function GroupChoice({
  chosen,
  onChange,
}: {
  readonly chosen: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
}) {
  const { t } = useText();
  const { data, error } = usePage(GroupChoiceDocument, {});
  if (error !== undefined) return <ErrorNote error={error} />;
  const groups = data?.groups.nodes ?? [];
  if (groups.length === 0) return null;
  return (
    <fieldset className={styles.options}>
      <legend>{t('Groups')}</legend>
      <div className={styles.choices}>
        {groups.map(({ id, name }) => (
          <Checkbox
            key={id}
            label={name}
            checked={chosen.includes(id)}
            onChange={(event) => onChange(event.target.checked ? [...chosen, id] : chosen.filter((each) => each !== id))}
          />
        ))}
      </div>
      {data?.groups.pageInfo.hasNextPage === true ? (
        <p className={styles.quiet}>{t('The newest 50 groups are shown. Others can be joined later.')}</p>
      ) : null}
    </fieldset>
  );
}

function InviteLink({
  made: { url, invitation },
  onAgain,
  onClose,
}: {
  readonly made: InviteMutation['invite'];
  readonly onAgain: () => void;
  readonly onClose: () => void;
}) {
  const { t, date } = useText();
  return (
    <Dialog
      title={t('The invitation is ready')}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onAgain}>{t('Invite another person')}</Button>
          <Button variant="primary" onClick={onClose}>
            {t('Done')}
          </Button>
        </>
      }
    >
      <p>
        {t('Give this link to {email}. It works once, until {date}, and is not shown again.', {
          email: invitation.email,
          date: date(invitation.expiresAt, { dateStyle: 'medium' }),
        })}
      </p>
      <CodeBox text={url} label={t('Link of the invitation')} />
      {invitation.delivery === 'NONE' ? (
        <Note>{t('This installation sends no mail: the link reaches the person through you.')}</Note>
      ) : (
        <Note tone="good">{t('A mail with a link of its own is on its way to {email}.', { email: invitation.email })}</Note>
      )}
    </Dialog>
  );
}
