import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { SetPasswordDocument } from '../../../parts/credentials/documents.ts';
import { passwordLengthMin } from '../../../parts/credentials/passkeys.ts';
import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { TextField } from '../../../ui/form/fields.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Section } from '../../../ui/page.tsx';
import type { AccountQuery } from './documents.ts';

/** Sets or changes the reader's password. */
export function Password({
  hasPassword,
  method,
  onChanged,
}: {
  readonly hasPassword: boolean;
  /** How the session was begun. */
  readonly method: NonNullable<AccountQuery['viewer']['session']>['method'] | undefined;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const say = useToast();
  const [current, setCurrent] = useState('');
  const [wanted, setWanted] = useState('');
  const { run, isBusy, error } = useMutate(SetPasswordDocument);
  const save = async () => {
    const input = current === '' ? { new: wanted } : { current, new: wanted };
    if ((await run({ input })) === undefined) return;
    setCurrent('');
    setWanted('');
    say(t('The password is set. Your other sessions have ended.'));
    onChanged();
  };
  return (
    <Section title={t('Password')}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {hasPassword ? (
          <TextField
            label={t('Current password')}
            hint={method === 'LINK' ? t('Not needed within an hour after you signed in by a link.') : undefined}
            error={findFault(error, 'current')}
            type="password"
            autoComplete="current-password"
            value={current}
            onChange={setCurrent}
          />
        ) : null}
        <TextField
          label={t('New password')}
          hint={t('At least 12 characters.')}
          error={findFault(error, 'new')}
          type="password"
          autoComplete="new-password"
          value={wanted}
          onChange={setWanted}
        />
        <ErrorNote error={errorBeside(error, ['current', 'new'])} />
        <div>
          <Button type="submit" isBusy={isBusy} disabled={[...wanted].length < passwordLengthMin}>
            {hasPassword ? t('Change the password') : t('Set a password')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
