import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { TextField } from '../../../ui/form/fields.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Section } from '../../../ui/page.tsx';
import { type OrganizationDataQuery, UpdateRetentionDocument } from './documents.ts';

type RetentionOfAll = OrganizationDataQuery['viewer']['organization']['dataRetention'];
type Kind = Exclude<keyof RetentionOfAll, '__typename'>;

const kinds: readonly Kind[] = ['chats', 'runs', 'events', 'usage', 'audit'];
const inputNames = { chats: 'chatDays', runs: 'runDays', events: 'eventDays', usage: 'usageDays', audit: 'auditDays' } as const;

/** The days that each kind of data is kept. */
export function Retention({ retention, onChanged }: { readonly retention: RetentionOfAll; readonly onChanged: () => void }) {
  const { t } = useText();
  const { may } = useSession();
  const say = useToast();
  const [days, setDays] = useState<Readonly<Record<Kind, string>>>(() => {
    const getText = (kind: Kind) => String(retention[kind].days ?? '');
    return {
      chats: getText('chats'),
      runs: getText('runs'),
      events: getText('events'),
      usage: getText('usage'),
      audit: getText('audit'),
    };
  });
  const { run, isBusy, error } = useMutate(UpdateRetentionDocument);
  const labels = {
    chats: t('Chats'),
    runs: t('Runs'),
    events: t('Events of runs'),
    usage: t('Single calls of the usage'),
    audit: t('Audit log'),
  };
  const getHint = (kind: Kind) => {
    const { days: own, effectiveDays } = retention[kind];
    if (effectiveDays === null) return t('Kept until somebody deletes it.');
    if (own === null)
      return t('As the installation does: {count, plural, one {# day} other {# days}}.', { count: effectiveDays });
    return t('Deleted after {count, plural, one {# day} other {# days}}.', { count: effectiveDays });
  };
  const save = async () => {
    const input = Object.fromEntries(kinds.map((kind) => [inputNames[kind], days[kind] === '' ? null : Number(days[kind])]));
    if ((await run({ input })) === undefined) return;
    say(t('The retention is saved.'));
    onChanged();
  };
  return (
    <Section title={t('Retention')} lead={t('After how many days things are deleted. Empty: as the installation does.')}>
      <form
        className={styles.stack}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div className={styles.cards}>
          {kinds.map((kind) => (
            <TextField
              key={kind}
              label={labels[kind]}
              hint={getHint(kind)}
              error={findFault(error, inputNames[kind])}
              type="number"
              min={1}
              value={days[kind]}
              disabled={!may('ADMIN_WRITE')}
              onChange={(value) => setDays({ ...days, [kind]: value })}
            />
          ))}
        </div>
        <ErrorNote error={errorBeside(error, Object.values(inputNames))} />
        {may('ADMIN_WRITE') ? (
          <div>
            <Button type="submit" isBusy={isBusy}>
              {t('Save the retention')}
            </Button>
          </div>
        ) : null}
      </form>
    </Section>
  );
}
