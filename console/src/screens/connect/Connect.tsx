import { PublicPage } from '../../parts/public-page.tsx';
import { useText } from '../../text/text.ts';
import { Note } from '../../ui/feedback.tsx';
import { Button } from '../../ui/form/button.tsx';
import styles from './connect.module.css';
import { type Confirmation, type Connected, readOutcome } from './outcome.ts';

/** Where another service sends a person back who connects an account: asks before anything is connected, and says what came of it. */
export function Connect() {
  const { t } = useText();
  const outcome = readOutcome();
  if (outcome?.kind === 'CONFIRM') return <Confirm confirmation={outcome} />;
  if (outcome?.kind === 'CONNECTED') return <Done connected={outcome} />;
  return (
    <PublicPage title={t('Not connected')} isCard>
      <h1>{t('Not connected')}</h1>
      <Note tone="bad">{outcome?.message ?? t('Nothing was connected. Begin again.')}</Note>
    </PublicPage>
  );
}

function Confirm({ confirmation }: { readonly confirmation: Confirmation }) {
  const { t } = useText();
  const { word, provider, service, account, person, organization, tenant } = confirmation;
  const isServer = provider === 'MCP';
  const title = isServer ? t('Connect this server?') : t('Connect this account?');
  const facts = [
    [isServer ? t('MCP server') : t('Account'), `${account} · ${service}`],
    [isServer ? t('Its tools are called for') : t('Read for'), `${person.name} · ${person.email}`],
    [t('Organization'), organization],
    [t('Tenant'), tenant],
  ] as const;
  return (
    <PublicPage title={title} isCard>
      <h1>{title}</h1>
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p>
        {isServer
          ? t('The agents that this connection is given to act with the rights of your sign-in there.')
          : t('What is read can be found by everyone who may use the agents it is given to.')}
      </p>
      <p>{t('If you did not ask for this yourself, close this page: nothing is connected.')}</p>
      {/* The service answers with this page again, and with what came of it. */}
      <form method="post" action="/oauth/callback">
        <input type="hidden" name="word" value={word} />
        <Button type="submit" variant="primary">
          {t('Connect {account}', { account })}
        </Button>
      </form>
    </PublicPage>
  );
}

function Done({ connected: { name, returnTo } }: { readonly connected: Connected }) {
  const { t } = useText();
  return (
    <PublicPage title={t('Connected')} isCard>
      <h1>{t('Connected')}</h1>
      <p>{t('{name} is connected.', { name })}</p>
      {returnTo === null ? (
        <p>{t('You can close this page.')}</p>
      ) : (
        <a href={returnTo}>{t('Go on to {host}', { host: new URL(returnTo).host })}</a>
      )}
    </PublicPage>
  );
}
