import { useEffect, useState } from 'react';
import { PublicPage } from '../../parts/public-page.tsx';
import { endSession } from '../../parts/session/session.tsx';
import { useText } from '../../text/text.ts';
import { Button } from '../../ui/form/button.tsx';
import { Spinner } from '../../ui/progress.tsx';
import { AcceptInvitation } from './AcceptInvitation.tsx';
import { ChoosePassword } from './ChoosePassword.tsx';
import { call, fetchWays, goOn, type Invitation, nextAddress, type SignInWays } from './calls.ts';
import styles from './sign-in.module.css';
import { usePress } from './use-press.ts';
import { Ways } from './Ways.tsx';

/** What the page shows. */
type Part =
  | { readonly name: 'LOADING' | 'LINK' | 'SIGNED_IN' | 'WAYS' }
  | { readonly name: 'INVITATION'; readonly invitation: Invitation }
  | { readonly name: 'PASSWORD'; readonly email: string };

/** Where people sign in: by a link, an invitation, a password, a passkey or a provider. */
export function SignIn() {
  const { t } = useText();
  const [secrets] = useState(takeSecrets);
  const [ways, setWays] = useState<SignInWays>();
  const [part, setPart] = useState<Part>({ name: 'LOADING' });
  const pressing = usePress();
  const { press, isBusy, problem } = pressing;
  const link = secrets.get('link') ?? undefined;
  const invitation = secrets.get('invitation') ?? undefined;

  const begin = async () => {
    const reply = await fetchWays(t);
    setWays(reply);
    const start = { name: reply.isSignedIn ? 'SIGNED_IN' : 'WAYS' } as const;
    if (link !== undefined) return setPart({ name: 'LINK' });
    if (invitation === undefined) return setPart(start);
    try {
      setPart({ name: 'INVITATION', invitation: await call<Invitation>(t, '/sign-in/invitation/show', { invitation }) });
    } catch (error) {
      setPart(start);
      throw error;
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a visit begins once
  useEffect(() => void press(begin), []);

  const openLink = async () => {
    try {
      await call(t, '/sign-in/link', { link });
    } catch (error) {
      setPart({ name: 'WAYS' });
      throw error;
    }
    // A way to sign in the next time is offered in the console.
    goOn();
  };
  const signOut = async () => {
    const logoutUrl = await endSession();
    // Where a provider began the session, the person signs out there too.
    if (logoutUrl === undefined) setPart({ name: 'WAYS' });
    else location.assign(logoutUrl);
  };
  const titles = { INVITATION: t('Invitation'), PASSWORD: t('Signed in'), SIGNED_IN: t('Signed in') };
  const title = part.name in titles ? titles[part.name as keyof typeof titles] : t('Sign in');
  return (
    <PublicPage title={title} isCard>
      <h1>{title}</h1>
      <p id="problem" role="alert" className={styles.problem} hidden={problem === ''}>
        {problem}
      </p>
      {part.name === 'LOADING' ? <Loading problem={problem} onRetry={() => void press(begin)} /> : null}
      {part.name === 'LINK' ? <OpenLink isBusy={isBusy} onOpen={() => void press(openLink)} /> : null}
      {part.name === 'INVITATION' && invitation !== undefined && ways !== undefined ? (
        <AcceptInvitation
          secret={invitation}
          invitation={part.invitation}
          ways={ways}
          pressing={pressing}
          onMember={() => setPart({ name: 'PASSWORD', email: part.invitation.email })}
        />
      ) : null}
      {part.name === 'PASSWORD' && ways !== undefined ? (
        <ChoosePassword email={part.email} ways={ways} pressing={pressing} />
      ) : null}
      {part.name === 'SIGNED_IN' ? <SignedIn isBusy={isBusy} onSignOut={() => void press(signOut)} /> : null}
      {part.name === 'WAYS' && ways !== undefined ? <Ways ways={ways} pressing={pressing} /> : null}
    </PublicPage>
  );
}

function OpenLink({ isBusy, onOpen }: { readonly isBusy: boolean; readonly onOpen: () => void }) {
  const { t } = useText();
  return (
    <section id="by-link" className={styles.stack}>
      <p>{t('Your link signs this browser in. It works once.')}</p>
      <Button id="use-link" variant="primary" isBusy={isBusy} onClick={onOpen}>
        {t('Sign in to Parley')}
      </Button>
    </section>
  );
}

function SignedIn({ isBusy, onSignOut }: { readonly isBusy: boolean; readonly onSignOut: () => void }) {
  const { t } = useText();
  return (
    <section id="signed-in" className={styles.stack}>
      <p>{t('Continue, or sign out of this browser.')}</p>
      <p className={styles.actions}>
        <a className={`${styles.primary} go-on`} href={nextAddress()}>
          {t('Go on')}
        </a>
        <Button id="sign-out" isBusy={isBusy} onClick={onSignOut}>
          {t('Sign out')}
        </Button>
      </p>
    </section>
  );
}

function Loading({ problem, onRetry }: { readonly problem: string; readonly onRetry: () => void }) {
  const { t } = useText();
  return problem === '' ? <Spinner label={t('Loading')} /> : <Button onClick={onRetry}>{t('Try again')}</Button>;
}

/** The secret of a link stands in the fragment, which no server gets; it is taken out of the address at once. */
function takeSecrets(): URLSearchParams {
  const secrets = new URLSearchParams(location.hash.slice(1));
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return secrets;
}
