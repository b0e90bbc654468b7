import type { FormEvent } from 'react';
import { run } from '../../graphql/client.ts';
import { SetPasswordDocument } from '../../parts/credentials/documents.ts';
import { createPasskey, passwordLengthMin } from '../../parts/credentials/passkeys.ts';
import { useText } from '../../text/text.ts';
import { Button } from '../../ui/form/button.tsx';
import { Field, TextInput } from '../../ui/form/field.tsx';
import { canUsePasskeys, goOn, nextAddress, type SignInWays } from './calls.ts';
import styles from './sign-in.module.css';
import type { Press } from './use-press.ts';

/** Offers a person who is signed in, and has no way back in yet, a password or a passkey. */
export function ChoosePassword({
  email,
  ways,
  pressing: { press, isBusy },
}: {
  readonly email: string;
  readonly ways: SignInWays;
  readonly pressing: Press;
}) {
  const { t } = useText();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = new FormData(event.currentTarget).get('password');
    void press(async () => {
      await run(SetPasswordDocument, { input: { new: String(password) } });
      goOn();
    });
  };
  const addPasskey = () =>
    press(async () => {
      await createPasskey(t, t('My passkey'));
      goOn();
    });
  return (
    <form id="set-password" className={styles.stack} onSubmit={submit}>
      <p>{t('Choose how to sign in next time.')}</p>
      <Field id="own-email" label={t('E-mail address')}>
        {(control) => <TextInput {...control} autoComplete="username" readOnly value={email} />}
      </Field>
      <Field id="new-password" label={t('New password')} hint={t('At least 12 characters.')}>
        {(control) => (
          <TextInput
            {...control}
            name="password"
            type="password"
            autoComplete="new-password"
            minLength={passwordLengthMin}
            maxLength={200}
            required
            autoFocus
          />
        )}
      </Field>
      <p className={styles.actions}>
        <Button id="save-password" type="submit" variant="primary" isBusy={isBusy}>
          {t('Set the password')}
        </Button>
        <Button id="add-passkey" hidden={!canUsePasskeys(ways)} disabled={isBusy} onClick={() => void addPasskey()}>
          {t('Add a passkey')}
        </Button>
      </p>
      <p>
        <a className="go-on" href={nextAddress()}>
          {t('Skip')}
        </a>
      </p>
    </form>
  );
}
