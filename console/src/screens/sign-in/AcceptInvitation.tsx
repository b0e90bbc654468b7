import { type FormEvent, useRef } from 'react';
import { createPasskey, passwordLengthMin } from '../../parts/credentials/passkeys.ts';
import { useText } from '../../text/text.ts';
import { Button } from '../../ui/form/button.tsx';
import { Field, TextInput } from '../../ui/form/field.tsx';
import { call, canUsePasskeys, goOn, type Invitation, type SignInWays } from './calls.ts';
import styles from './sign-in.module.css';
import type { Press } from './use-press.ts';

/** What the person gives to accept an invitation. `onMember`: accepted without a password, so the person may still set one. */
export function AcceptInvitation({
  secret,
  invitation: { email, organization, needs },
  ways,
  pressing: { press, isBusy },
  onMember,
}: {
  readonly secret: string;
  readonly invitation: Invitation;
  readonly ways: SignInWays;
  readonly pressing: Press;
  readonly onMember: () => void;
}) {
  const { t } = useText();
  const form = useRef<HTMLFormElement>(null);
  const isNew = needs === 'NAME';
  const readField = (name: string) => {
    const value = form.current === null ? null : new FormData(form.current).get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const accept = (event: FormEvent) => {
    event.preventDefault();
    void press(async () => {
      await call(t, '/sign-in/invitation', { invitation: secret, name: readField('name'), password: readField('password') });
      goOn();
    });
  };
  const acceptByPasskey = () =>
    press(async () => {
      if (form.current?.querySelector<HTMLInputElement>('#invited-name')?.reportValidity() !== true) return;
      await call(t, '/sign-in/invitation', { invitation: secret, name: readField('name') });
      // Where the device fails, the person is a member nevertheless: tries again, or sets a password.
      onMember();
      await createPasskey(t, t('My passkey'));
      goOn();
    });
  return (
    <form id="by-invitation" ref={form} className={styles.stack} onSubmit={accept}>
      <p>{t('You are invited to {organization}.', { organization })}</p>
      <Field id="invited-email" label={t('E-mail address')}>
        {(control) => <TextInput {...control} autoComplete="username" readOnly value={email} />}
      </Field>
      {isNew ? (
        <Field id="invited-name" label={t('Your name')}>
          {(control) => <TextInput {...control} name="name" autoComplete="name" maxLength={200} required />}
        </Field>
      ) : null}
      {isNew || needs === 'PASSWORD' ? <PasswordField isNew={isNew} /> : null}
      {needs === 'SIGN_IN' ? (
        <p id="invited-sign-in">
          {t('This address has an account. Sign in with it first, then open the link again.')}{' '}
          <a href="/sign-in">{t('Sign in')}</a>
        </p>
      ) : (
        <p className={styles.actions}>
          <Button id="accept" type="submit" variant="primary" isBusy={isBusy}>
            {t('Accept the invitation')}
          </Button>
          {isNew && canUsePasskeys(ways) ? (
            <Button id="accept-by-passkey" disabled={isBusy} onClick={() => void acceptByPasskey()}>
              {t('Use a passkey instead')}
            </Button>
          ) : null}
        </p>
      )}
    </form>
  );
}

/** The password that a new person chooses, or the one of the account that the address has. */
function PasswordField({ isNew }: { readonly isNew: boolean }) {
  const { t } = useText();
  return (
    <Field
      id="invited-password"
      label={isNew ? t('New password') : t('Password of your account')}
      hint={isNew ? t('At least 12 characters.') : t('You have an account with this address.')}
    >
      {(control) => (
        <TextInput
          {...control}
          name="password"
          type="password"
          autoComplete={isNew ? 'new-password' : 'current-password'}
          minLength={isNew ? passwordLengthMin : 1}
          maxLength={200}
          required
        />
      )}
    </Field>
  );
}
