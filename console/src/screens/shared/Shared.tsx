import type { ParleyError } from '@parley/client';
import { Link2Off } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import { readableError, run } from '../../graphql/client.ts';
import { useLive } from '../../graphql/hooks.ts';
import { useText } from '../../text/text.ts';
import { EmptyState, ErrorNote, Skeleton } from '../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../ui/form/button.tsx';
import { useTitle } from '../../ui/page.tsx';
import { Time } from '../../ui/small.tsx';
import { GoOnFromSharedDocument, SharedChatUpdatedDocument } from './documents.ts';
import { SharedMessages } from './SharedMessages.tsx';
import styles from './shared.module.css';
import { isSignedIn, readAsPerson, readAsVisitor, type SharedView, toView } from './visit.ts';

/** The secret stands in the fragment, which is sent to no server. It is kept while the visitor signs in. */
const storedAs = 'parley.shared';
const pageSize = 100;

/** A chat that somebody shared, for who has the link. */
export function Shared() {
  const { t } = useText();
  const [secret] = useState(() => location.hash.slice(1) || (sessionStorage.getItem(storedAs) ?? ''));
  const shared = useShared(secret);
  const { view, isPerson, error, isLoadingMore } = shared;
  useTitle(view?.name ?? t('Shared chat'));
  return (
    <div className={styles.page}>
      <header className={styles.bar}>
        <a href="/" className={styles.brand}>
          Parley
        </a>
        {isPerson === false ? <SignInButton secret={secret} /> : null}
      </header>
      <main id="main" tabIndex={-1} className={styles.main}>
        <ErrorNote error={error} onRetry={() => void shared.reload()} />
        {view === undefined && error === undefined ? <Skeleton lines={8} /> : null}
        {view === null ? (
          <EmptyState
            icon={<Link2Off size={26} aria-hidden />}
            isScreen
            title={t('This link opens nothing')}
            action={isPerson === false ? <SignInButton secret={secret} /> : undefined}
          >
            {isPerson === false
              ? t('It was revoked, its time is over, or it is for people who are signed in.')
              : t('It was revoked, its time is over, or it is not for you.')}
          </EmptyState>
        ) : null}
        {view === undefined || view === null ? null : (
          <>
            <Head view={view} />
            <SharedMessages view={view} />
            {view.next === null ? null : (
              <Button isBusy={isLoadingMore} onClick={() => void shared.loadMore()}>
                {t('Show more')}
              </Button>
            )}
            <Foot view={view} secret={secret} isPerson={isPerson === true} />
          </>
        )}
      </main>
    </div>
  );
}

function Head({ view: { name, sharedBy, sharedAt, mode, expiresAt } }: { readonly view: SharedView }) {
  const { t } = useText();
  return (
    <div className={styles.head}>
      <h1>{name ?? t('Shared chat')}</h1>
      <p>
        {t('Shared by {name}', { name: sharedBy })} · <Time at={sharedAt} /> ·{' '}
        {mode === 'FROZEN' ? t('as it was then') : t('it grows while they talk')}
        {expiresAt === null ? null : (
          <>
            {' '}
            · {t('the link ends')} <Time at={expiresAt} />
          </>
        )}
      </p>
    </div>
  );
}

function Foot({ view, secret, isPerson }: { readonly view: SharedView; readonly secret: string; readonly isPerson: boolean }) {
  const { t } = useText();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ParleyError>();
  const [copy, setCopy] = useState<{ readonly chatId: string; readonly words: readonly string[] }>();
  if (!isPerson) return <p className={styles.quiet}>{t('Sign in to go on from here in a chat of your own.')}</p>;
  if (view.isOwn) {
    return (
      <ButtonLink variant="primary" href={`/chats/${view.chat?.id ?? ''}`}>
        {t('Open the chat')}
      </ButtonLink>
    );
  }
  if (!view.canGoOn) return <p className={styles.quiet}>{t('You may not ask its agent, so you cannot go on from here.')}</p>;
  const goOn = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { chat, omittedFileCount, omittedCitationCount } = (await run(GoOnFromSharedDocument, { secret })).copySharedChat;
      const words = [
        ...(omittedFileCount === 0
          ? []
          : [t('{count, plural, one {# file is} other {# files are}} not in your chat.', { count: omittedFileCount })]),
        ...(omittedCitationCount === 0
          ? []
          : [t('{count, plural, one {# source is} other {# sources are}} not in your chat.', { count: omittedCitationCount })]),
      ];
      if (words.length === 0) location.assign(`/chats/${chat.id}`);
      else setCopy({ chatId: chat.id, words });
    } catch (cause) {
      setError(readableError(cause));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className={styles.foot}>
      <ErrorNote error={error} />
      {copy === undefined ? (
        <Button variant="primary" isBusy={isBusy} onClick={() => void goOn()}>
          {t('Go on from here')}
        </Button>
      ) : (
        <>
          {copy.words.map((words) => (
            <p key={words} role="status">
              {words}
            </p>
          ))}
          <ButtonLink variant="primary" href={`/chats/${copy.chatId}`}>
            {t('Open your chat')}
          </ButtonLink>
        </>
      )}
      <p className={styles.quiet}>
        {t('It is copied into a chat of your own; {name} does not see what you ask.', { name: view.sharedBy })}
      </p>
    </div>
  );
}

function SignInButton({ secret }: { readonly secret: string }) {
  const { t } = useText();
  const signIn = () => {
    sessionStorage.setItem(storedAs, secret);
    location.assign('/sign-in?next=/shared');
  };
  return <Button onClick={signIn}>{t('Sign in')}</Button>;
}

/** The chat behind a link, as the session of this browser, or anyone, may read it. */
function useShared(secret: string) {
  const { t } = useText();
  const [isPerson, setPerson] = useState<boolean>();
  const [view, setView] = useState<SharedView | null>();
  const [error, setError] = useState<ParleyError>();
  const [isLoadingMore, setLoadingMore] = useState(false);
  const read = useCallback(
    (asPerson: boolean, after: string | number | null) =>
      asPerson
        ? readAsPerson(secret, after === null ? null : String(after))
        : readAsVisitor(t, secret, after === null ? null : Number(after)),
    [secret, t],
  );
  const reload = useCallback(async () => {
    setError(undefined);
    try {
      const asPerson = await isSignedIn();
      setPerson(asPerson);
      setView(await read(asPerson, null));
      sessionStorage.removeItem(storedAs);
    } catch (cause) {
      setError(readableError(cause));
    }
  }, [read]);
  useEffect(() => void reload(), [reload]);
  const isGrowing = view?.mode === 'GROWING';
  // Who reads further than the first page gets what is new with the next page.
  const isShort = (view?.messages.length ?? 0) < pageSize;
  useLive(
    SharedChatUpdatedDocument,
    { secret },
    ({ sharedChatUpdated }) => setView((before) => (before != null && isShort ? toView(sharedChatUpdated) : before)),
    { pause: isPerson !== true || !isGrowing, onComplete: () => setView(null) },
  );
  // A visitor without a session has no stream, and looks again on return to the page.
  useEffect(() => {
    if (isPerson !== false || !isGrowing) return;
    const look = () => document.visibilityState === 'visible' && void reload();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [isPerson, isGrowing, reload]);
  const loadMore = async () => {
    if (view == null || view.next === null) return;
    setLoadingMore(true);
    try {
      const next = await read(isPerson === true, view.next);
      if (next !== null) setView({ ...next, messages: [...view.messages, ...next.messages] });
    } catch (cause) {
      setError(readableError(cause));
    } finally {
      setLoadingMore(false);
    }
  };
  return { view, isPerson, error, isLoadingMore, reload, loadMore };
}
