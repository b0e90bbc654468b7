import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { type Text, useText } from '../../../text/text.ts';
import { Badge, ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Section } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import { type AccountQuery, EndOtherSessionsDocument, EndSessionDocument } from './documents.ts';

type BrowserSession = AccountQuery['viewer']['sessions']['nodes'][number];

/** Where the reader is signed in, and how to end it. */
export function Sessions({
  sessions,
  onChanged,
}: {
  readonly sessions: readonly BrowserSession[];
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const confirm = useConfirm();
  const say = useToast();
  const endOne = useMutate(EndSessionDocument);
  const endOthers = useMutate(EndOtherSessionsDocument);
  const onEndOne = async (id: string) => {
    if ((await endOne.run({ id })) !== undefined) onChanged();
  };
  const onEndOthers = async () => {
    const isConfirmed = await confirm({
      title: t('End all other sessions?'),
      body: t('You stay signed in here only.'),
      action: t('End the others'),
    });
    if (!isConfirmed) return;
    const result = await endOthers.run({});
    if (result === undefined) return;
    say(t('{count, plural, one {# session} other {# sessions}} ended.', { count: result.endOtherSessions.count }));
    onChanged();
  };
  const isAlone = sessions.every(({ isCurrent }) => isCurrent);
  return (
    <Section
      title={t('Sessions')}
      lead={t('Where you are signed in.')}
      actions={
        isAlone ? undefined : (
          <Button isBusy={endOthers.isBusy} onClick={() => void onEndOthers()}>
            {t('End all others')}
          </Button>
        )
      }
    >
      <ErrorNote error={endOne.error ?? endOthers.error} />
      <ul className={styles.rows}>
        {sessions.map(({ id, isCurrent, method, network, userAgent, lastUsedAt }) => (
          <li key={id}>
            <span className={styles.grow}>
              {describeBrowser(userAgent) ?? t('A browser')} {isCurrent ? <Badge tone="good">{t('This one')}</Badge> : null}
              <span className={styles.block}>
                {methodWords(t)[method]}
                {network === null ? '' : ` · ${network}`} · <Time at={lastUsedAt} />
              </span>
            </span>
            {isCurrent ? null : (
              <Button size="small" disabled={endOne.isBusy} onClick={() => void onEndOne(id)}>
                {t('End')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

const methodWords = (t: Text['t']) => ({
  INVITATION: t('by an invitation'),
  LINK: t('by a link'),
  OIDC: t('by a provider'),
  PASSKEY: t('by a passkey'),
  PASSWORD: t('by a password'),
  PROXY: t('by a proxy'),
});

/** "Firefox on Windows" from what browsers send of themselves. */
function describeBrowser(userAgent: string | null): string | undefined {
  if (userAgent === null) return undefined;
  const browsers = [
    ['Edg/', 'Edge'],
    ['OPR/', 'Opera'],
    ['Firefox/', 'Firefox'],
    ['Chrome/', 'Chrome'],
    ['Safari/', 'Safari'],
  ] as const;
  const systems = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'];
  const browser = browsers.find(([mark]) => userAgent.includes(mark))?.[1];
  const system = systems.find((name) => userAgent.includes(name));
  if (browser === undefined) return userAgent.slice(0, 60);
  return system === undefined ? browser : `${browser} · ${system}`;
}
