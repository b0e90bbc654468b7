import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Section } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import { type AccountQuery, DisconnectAppDocument } from './documents.ts';

type App = AccountQuery['viewer']['connectedApps']['nodes'][number];

/** Programs that the reader has connected by OAuth. Each can be ended. */
export function ConnectedApps({ apps, onChanged }: { readonly apps: readonly App[]; readonly onChanged: () => void }) {
  const { t } = useText();
  const confirm = useConfirm();
  const say = useToast();
  const { run: disconnect, isBusy, error } = useMutate(DisconnectAppDocument);
  const words = {
    AGENTS_READ: t('sees agents'),
    CHATS_WRITE: t('asks agents'),
    DATA_SOURCES_READ: t('searches knowledge'),
  };
  const describe = ({ scopes }: App) => scopes.map((scope) => words[scope as keyof typeof words] ?? scope).join(', ');
  const end = async ({ id, name }: App) => {
    const isConfirmed = await confirm({
      title: t('Disconnect {name}?', { name }),
      body: t('It reaches nothing of yours any more, until you connect it again.'),
      action: t('Disconnect'),
      isDanger: true,
    });
    if (!isConfirmed || (await disconnect({ id })) === undefined) return;
    say(t('{name} is disconnected.', { name }));
    onChanged();
  };
  return (
    <Section title={t('Connected programs')} lead={t('MCP clients that use Parley in your name.')}>
      <ErrorNote error={error} />
      {apps.length === 0 ? <p className={styles.quiet}>{t('You have connected no program.')}</p> : null}
      {apps.length === 0 ? null : (
        <ul className={styles.rows}>
          {apps.map((app) => (
            <li key={app.id}>
              <span className={styles.grow}>
                {app.name}
                {app.organization === null ? null : <span className={styles.quiet}> · {app.organization.name}</span>}
                <span className={styles.block}>
                  {describe(app)} · {app.lastUsedAt === null ? t('not used yet') : <Time at={app.lastUsedAt} />}
                </span>
              </span>
              <Button
                size="small"
                disabled={isBusy}
                onClick={() => void end(app)}
                aria-label={t('Disconnect {name}', { name: app.name })}
              >
                {t('Disconnect')}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
