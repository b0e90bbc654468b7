import type { FormEvent } from 'react';
import { askDevice } from '../../parts/credentials/passkeys.ts';
import { useText } from '../../text/text.ts';
import { Button } from '../../ui/form/button.tsx';
import { Field, TextInput } from '../../ui/form/field.tsx';
import { call, canUsePasskeys, goOn, type SignInWays } from './calls.ts';
import styles from './sign-in.module.css';
import type { Press } from './use-press.ts';

/** The ways in for who has no link: providers, password, passkey. */
export function Ways({ ways, pressing: { press, isBusy } }: { readonly ways: SignInWays; readonly pressing: Press }) {
  const { t } = useText();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void press(async () => {
      await call(t, '/sign-in/password', { email: form.get('email'), password: form.get('password') });
      goOn();
    });
  };
  const signInByPasskey = () =>
    press(async () => {
      const options = await call<PublicKeyCredentialRequestOptionsJSON>(t, '/sign-in/passkey/options', {});
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
      await call(t, '/sign-in/passkey', { credential: await askDevice(t, () => navigator.credentials.get({ publicKey })) });
      goOn();
    });
  return (
    <form id="by-password" className={styles.stack} onSubmit={submit}>
      <Providers ways={ways} />
      {ways.hasOwnWays ? (
        <>
          <Field id="email" label={t('E-mail address')}>
            {(control) => <TextInput {...control} name="email" type="email" autoComplete="username" required />}
          </Field>
          <Field id="password" label={t('Password')}>
            {(control) => <TextInput {...control} name="password" type="password" autoComplete="current-password" required />}
          </Field>
          <p className={styles.actions}>
            <Button id="use-password" type="submit" variant="primary" isBusy={isBusy}>
              {t('Sign in')}
            </Button>
            <Button id="use-passkey" hidden={!canUsePasskeys(ways)} disabled={isBusy} onClick={() => void signInByPasskey()}>
              {t('Use a passkey')}
            </Button>
          </p>
        </>
      ) : null}
      <details className={styles.help}>
        <summary>{t('Trouble signing in?')}</summary>
        <p>{t('An administrator makes a link that signs you in:')}</p>
        <pre>npm run -s parley -- sign-in-link --user you@example.com</pre>
        <p>
          {t('The first start of an installation prints one in its terminal.')}{' '}
          <a href="/manual/docs/sign-in.md">{t('How signing in works')}</a>
        </p>
      </details>
    </form>
  );
}

/** Links to the providers, which lead back to where the visitor wants to be. */
function Providers({ ways: { providers, hasOwnWays } }: { readonly ways: SignInWays }) {
  const { t } = useText();
  if (providers.length === 0) return null;
  const next = new URLSearchParams(location.search).get('next');
  const query = next === null ? '' : `?${new URLSearchParams({ next })}`;
  return (
    <>
      <p id="providers" className={styles.providers}>
        {providers.map(({ name, label }) => (
          <a key={name} className={`${styles.primary} provider`} href={`/sign-in/oidc/${name}${query}`}>
            {t('Sign in with {provider}', { provider: label })}
          </a>
        ))}
      </p>
      {hasOwnWays ? <p className={styles.quiet}>{t('or')}</p> : null}
    </>
  );
}
