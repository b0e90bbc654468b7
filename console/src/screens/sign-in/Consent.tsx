import { useState } from 'react';
import { PublicPage } from '../../parts/public-page.tsx';
import { useText } from '../../text/text.ts';
import { Note } from '../../ui/feedback.tsx';
import { Button } from '../../ui/form/button.tsx';
import { Time } from '../../ui/small.tsx';
import { call } from './calls.ts';
import styles from './sign-in.module.css';
import { usePress } from './use-press.ts';

/** What a program asks for, and who it is as far as anybody knows. The service wrote it into the page. */
interface Request {
  readonly client: {
    readonly name: string;
    /** The address that it has shown to be its own; null: nobody knows it. */
    readonly host: string | null;
    /** Where the answer goes. */
    readonly sendsTo: string;
    readonly registeredAt: string | null;
    /** The network that it registered from. */
    readonly network: string | null;
  };
  readonly scopes: readonly string[];
  /** The one agent that it gets; null: all. */
  readonly agentId: string | null;
  readonly person: { readonly name: string; readonly email: string };
  readonly organization: string;
}

/** Asks a person whether a program may use Parley for them, by OAuth. */
export function Consent() {
  const { t } = useText();
  const [request] = useState(readRequest);
  const [isSent, setSent] = useState(false);
  const { press, isBusy, problem } = usePress();
  if (request === undefined) {
    return (
      <PublicPage title={t('Not connected')} isCard>
        <h1>{t('Not connected')}</h1>
        <p>{t('Begin again in the program that sent you here.')}</p>
      </PublicPage>
    );
  }
  const name = request.client.name || t('A program');
  const decide = (isApproved: boolean) =>
    press(async () => {
      const reply = await call<{ readonly location: string }>(t, location.pathname, { isApproved });
      setSent(true);
      location.assign(reply.location);
    });
  const title = isSent ? t('Back to {name}', { name }) : t('Connect {name}?', { name });
  return (
    <PublicPage title={title} isCard>
      <h1>{title}</h1>
      {isSent ? (
        <p>{t('The program goes on. You can close this page.')}</p>
      ) : (
        <div className={styles.stack}>
          <Origin client={request.client} />
          <Permissions request={request} name={name} />
          <p id="problem" role="alert" className={styles.problem} hidden={problem === ''}>
            {problem}
          </p>
          <p className={styles.actions}>
            <Button variant="primary" isBusy={isBusy} onClick={() => void decide(true)}>
              {t('Connect')}
            </Button>
            <Button disabled={isBusy} onClick={() => void decide(false)}>
              {t('Refuse')}
            </Button>
          </p>
          <p className={styles.quiet}>{t('You can end this at any time under “Connected programs” of your account.')}</p>
        </div>
      )}
    </PublicPage>
  );
}

/** Who asks: what is known of it, and what it only says. */
function Origin({ client }: { readonly client: Request['client'] }) {
  const { t } = useText();
  const { host, sendsTo, registeredAt, network } = client;
  return (
    <>
      {host === null ? (
        <Note tone="warn">
          {t('Nobody knows this program: anyone can give a program this name. Go on only if you have just started it yourself.')}
        </Note>
      ) : null}
      <dl className={styles.facts}>
        {host === null ? null : (
          <div>
            <dt>{t('Its address')}</dt>
            <dd>{host}</dd>
          </div>
        )}
        <div>
          <dt>{t('The answer goes to')}</dt>
          <dd>{sendsTo}</dd>
        </div>
        <div>
          <dt>{host === null ? t('Registered') : t('First connected')}</dt>
          <dd>
            {registeredAt === null ? t('Never before') : <Time at={registeredAt} />}
            {network === null ? null : ` · ${t('from {network}', { network })}`}
          </dd>
        </div>
      </dl>
    </>
  );
}

function Permissions({ request, name }: { readonly request: Request; readonly name: string }) {
  const { t } = useText();
  const { scopes, agentId, person, organization } = request;
  const words: Readonly<Record<string, string>> = {
    'AGENTS:READ': agentId === null ? t('See the agents that you may use') : t('See one agent, {agentId}', { agentId }),
    'CHATS:WRITE':
      agentId === null
        ? t('Ask these agents in your name; questions and answers are chats of yours')
        : t('Ask it in your name; questions and answers are chats of yours'),
    'DATA_SOURCES:READ': t('Search the knowledge that you may read'),
  };
  if (scopes.length === 0) return <Note tone="bad">{t('You may do nothing of what this program asks for.')}</Note>;
  return (
    <section aria-labelledby="permissions">
      <h2 id="permissions" className={styles.subtitle}>
        {t('{name} may then', { name })}
      </h2>
      <ul className={styles.list}>
        {scopes.map((scope) => (
          <li key={scope}>{words[scope] ?? scope}</li>
        ))}
      </ul>
      <p className={styles.quiet}>
        {t('As {person} in {organization}.', { person: `${person.name} (${person.email})`, organization })}
      </p>
    </section>
  );
}

function readRequest(): Request | undefined {
  const text = document.querySelector<HTMLMetaElement>('meta[name="parley-outcome"]')?.content;
  const outcome = text === undefined ? undefined : JSON.parse(text);
  return outcome?.kind === 'CONSENT' ? outcome : undefined;
}
