import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { run } from '../graphql/client.ts';
import { WayBackDocument } from '../parts/credentials/documents.ts';
import { useSession } from '../parts/session/session.tsx';
import { useText } from '../text/text.ts';
import { Button } from '../ui/form/button.tsx';
import styles from './Shell.module.css';

/** Offers who came by a link, which works once, a way to sign in the next time. It waits until the first screen was left. */
export function WayBackNote() {
  const { t } = useText();
  const { viewer } = useSession();
  const [path, go] = useLocation();
  const [firstPath] = useState(path);
  const [isShown, setShown] = useState(false);
  const sessionId = viewer.session?.id;
  const isLater = path !== firstPath;
  useEffect(() => {
    if (!isLater || sessionId === undefined || localStorage.getItem(storedAs) === sessionId) return;
    void findWays()
      .then((hasWays) => {
        if (hasWays) localStorage.setItem(storedAs, sessionId);
        else setShown(true);
      })
      // It is offered another time.
      .catch(() => undefined);
  }, [isLater, sessionId]);
  if (!isShown || path === '/account') return null;
  const leave = () => {
    if (sessionId !== undefined) localStorage.setItem(storedAs, sessionId);
    setShown(false);
  };
  return (
    <section className={styles.wayBack} aria-label={t('Signing in')}>
      <p>{t('Your link worked once. Choose how to sign in next time.')}</p>
      <Button
        size="small"
        onClick={() => {
          setShown(false);
          go('/account');
        }}
      >
        {t('Choose')}
      </Button>
      <Button size="small" variant="quiet" onClick={leave}>
        {t('Not now')}
      </Button>
    </section>
  );
}

/** The session that needs no offer any more. */
const storedAs = 'parley.way-back';

/** Whether the person can sign in again, or came by a way that works again. */
async function findWays(): Promise<boolean> {
  const { hasPassword, passkeys, session } = (await run(WayBackDocument, {})).viewer;
  if (hasPassword || passkeys.nodes.length > 0 || session?.method !== 'LINK') return true;
  const reply = await fetch('/sign-in/session', { cache: 'no-store' });
  const { hasOwnWays }: { readonly hasOwnWays?: boolean } = await reply.json();
  return hasOwnWays !== true;
}
