import type { ParleyError } from '@parley/client';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { isUnauthenticated, onRightsDoubted, onSessionEnded, readableError, run } from '../../graphql/client.ts';
import { type Scope, SessionDocument, type SessionQuery } from '../../graphql/documents.ts';
import { live } from '../../graphql/live/live.ts';
import { useText } from '../../text/text.ts';
import { EmptyState, ErrorNote } from '../../ui/feedback.tsx';
import { Button } from '../../ui/form/button.tsx';
import { useToast } from '../../ui/overlay/toasts.tsx';
import { Spinner } from '../../ui/progress.tsx';
import styles from './session.module.css';

export interface Session {
  readonly viewer: SessionQuery['viewer'];
  /** Whether the session has this scope; what it lacks is not offered. */
  readonly may: (scope: Scope) => boolean;
  /** Administers the organization: the role, not a scope of one call. */
  readonly isAdmin: boolean;
  /** Administers the installation. */
  readonly isOperator: boolean;
  /** Asks again who is signed in. */
  readonly reload: () => Promise<void>;
}

const SessionContext = createContext<Session | undefined>(undefined);

/** Who is signed in. @throws Error outside of the session. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('There is no session around this component.');
  return session;
}

const signInPath = () => `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;
/** Other tabs of the browser hear that somebody signed out. */
const channelName = 'parley-session';

/**
 * Finds out who is signed in, and shows the console to this person only. Nobody: leads to the sign-in. A session that ends while the console is open:
 * says so, and shows nothing else any more.
 */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const { t } = useText();
  const [viewer, setViewer] = useState<SessionQuery['viewer']>();
  const [error, setError] = useState<ParleyError>();
  const [isEnded, setEnded] = useState(false);
  const say = useToast();
  const lastViewer = useRef<SessionQuery['viewer']>(undefined);
  const load = useCallback(async () => {
    setError(undefined);
    try {
      const { viewer: nextViewer } = await run(SessionDocument, {});
      const before = lastViewer.current;
      lastViewer.current = nextViewer;
      setViewer(nextViewer);
      if (before !== undefined && describeRights(before) !== describeRights(nextViewer))
        say(t('Your rights have changed.'), 'warn');
    } catch (cause) {
      const failure = readableError(cause);
      if (!isUnauthenticated(failure)) setError(failure);
    }
  }, [say, t]);
  useEffect(() => void load(), [load]);
  useEffect(() => {
    const end = () => {
      live.stop();
      setEnded(true);
    };
    const channel = new BroadcastChannel(channelName);
    channel.addEventListener('message', end);
    const stops = [onSessionEnded(end), onRightsDoubted(() => void load())];
    return () => {
      for (const stop of stops) stop();
      channel.close();
    };
  }, [load]);
  // A role that is taken away ends the session; one that is given is seen when the reader comes back to the page.
  const isKnown = viewer !== undefined;
  useEffect(() => {
    if (!isKnown) return;
    const look = () => document.visibilityState === 'visible' && void load();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [isKnown, load]);
  const session = useMemo(() => (viewer === undefined ? undefined : createSession(viewer, load)), [viewer, load]);
  if (isEnded && viewer === undefined) {
    location.replace(signInPath());
    return null;
  }
  if (isEnded) {
    return (
      <main className={styles.whole}>
        <EmptyState
          isScreen
          title={t('Your session has ended')}
          action={
            <Button variant="primary" onClick={() => location.assign(signInPath())}>
              {t('Sign in again')}
            </Button>
          }
        >
          {t(
            'You signed out, your role changed, or an administrator ended the session. What you wrote and did not send is kept in this browser.',
          )}
        </EmptyState>
      </main>
    );
  }
  if (session === undefined) {
    return (
      <main className={styles.whole}>
        {error === undefined ? <Spinner label={t('Loading')} /> : <ErrorNote error={error} onRetry={() => void load()} />}
      </main>
    );
  }
  return <SessionContext value={session}>{children}</SessionContext>;
}

const describeRights = ({ role, level, scopes }: SessionQuery['viewer']) => JSON.stringify([role, level, scopes]);

function createSession(viewer: SessionQuery['viewer'], reload: () => Promise<void>): Session {
  return {
    viewer,
    may: (scope) => viewer.scopes.includes(scope),
    isAdmin: viewer.role === 'ADMIN',
    isOperator: viewer.level === 'INSTANCE',
    reload,
  };
}

/** Ends the session in all tabs. @returns where the person signs out too, when a provider began the session. */
export async function endSession(): Promise<string | undefined> {
  const reply = await fetch('/sign-out', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'graphql-require-preflight': 'true' },
    body: '{}',
  });
  const { logoutUrl } = (await reply.json().catch(() => ({}))) as { readonly logoutUrl?: string };
  new BroadcastChannel(channelName).postMessage('ended');
  return logoutUrl;
}

/** Ends the session in all tabs, and leads to the sign-in, or to the provider where the person signs out too. */
export async function signOut(): Promise<void> {
  location.assign((await endSession()) ?? '/sign-in');
}
