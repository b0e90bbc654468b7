import { Link } from 'wouter';
import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { Badge } from '../../../ui/feedback.tsx';
import { Avatar, Time } from '../../../ui/small.tsx';
import type { AuditRowFragment } from './documents.ts';
import { getTitle, plainWords, valueWords } from './sentences.ts';

/** An entry of the log as a sentence, with what was before and after. */
export function AuditRow({ entry }: { readonly entry: AuditRowFragment }) {
  const { t, number } = useText();
  const { kind, outcome, count, targetIds } = entry;
  return (
    <li className={styles.entry}>
      <Avatar name={useActorName()(entry)} />
      <div className={styles.grow}>
        <p>
          <Actor entry={entry} /> · {getTitle(t, entry)}
          <Target entry={entry} /> {outcome === 'REFUSED' ? <Badge tone="bad">{t('Refused')}</Badge> : null}
          {outcome === 'FAILED' ? <Badge tone="warn">{t('Failed')}</Badge> : null}
          {count > 1 ? <Badge>{t('{count} times', { count: number(count) })}</Badge> : null}
          {kind === 'READ' && targetIds.length > 1 ? (
            <Badge>{t('{count, plural, one {# thing} other {# things}}', { count: targetIds.length })}</Badge>
          ) : null}
        </p>
        <Changes entry={entry} />
        <Circumstances entry={entry} />
      </div>
    </li>
  );
}

/** Reads of one person that follow each other: one line, which unfolds. Newest first. */
export function ReadsRow({ entries }: { readonly entries: readonly AuditRowFragment[] }) {
  const { t, number } = useText();
  const nameActor = useActorName();
  const [newest, oldest] = [entries[0], entries.at(-1)];
  if (newest === undefined || oldest === undefined) return null;
  return (
    <li className={styles.entry}>
      <Avatar name={nameActor(newest)} />
      <div className={styles.grow}>
        <p>
          <Actor entry={newest} /> · {t('looked at what others have')}{' '}
          <Badge>{t('{count} times', { count: number(entries.length) })}</Badge>
        </p>
        <details className={styles.details}>
          <summary className={styles.quiet}>
            <Time at={oldest.createdAt} /> – <Time at={newest.createdAt} />
          </summary>
          <ul className={styles.plain}>
            {entries.map((entry) => (
              <li key={entry.id} className={styles.quiet}>
                {getTitle(t, entry)}
                <Target entry={entry} />
                {entry.targetIds.length > 1
                  ? ` (${t('{count, plural, one {# thing} other {# things}}', { count: entry.targetIds.length })})`
                  : ''}{' '}
                · <Time at={entry.createdAt} />
              </li>
            ))}
          </ul>
        </details>
      </div>
    </li>
  );
}

function useActorName() {
  const { t } = useText();
  return ({ actor, actorEmail, actorUserId }: AuditRowFragment) => {
    if (actor !== null) return actor.name;
    return actorEmail !== '' ? actorEmail : actorUserId === '' ? t('Parley itself') : t('Somebody who left');
  };
}

function Actor({ entry }: { readonly entry: AuditRowFragment }) {
  const name = useActorName()(entry);
  return entry.actor === null ? <strong>{name}</strong> : <Link href={`/people/${entry.actor.id}`}>{name}</Link>;
}

/** When it was, by which key, and from where. */
function Circumstances({ entry: { createdAt, key, address } }: { readonly entry: AuditRowFragment }) {
  const { t } = useText();
  return (
    <p className={styles.quiet}>
      <Time at={createdAt} />
      {key === null ? '' : ` · ${t('by the key {name}', { name: key.name })}`}
      {address === null ? '' : ` · ${address}`}
    </p>
  );
}

function Target({ entry: { targetName, targetKind, targetId } }: { readonly entry: AuditRowFragment }) {
  if (targetName === null || targetId === null) return null;
  const places: Readonly<Record<string, string>> = {
    agent: '/agents/',
    dataSource: '/knowledge/',
    user: '/people/',
    group: '/people/groups/',
  };
  const place = targetKind === null ? undefined : places[targetKind];
  return <>: {place === undefined ? targetName : <Link href={`${place}${targetId}`}>{targetName}</Link>}</>;
}

function Changes({ entry: { changes, outcome } }: { readonly entry: AuditRowFragment }) {
  const text = useText();
  const { t } = text;
  const members = changes.filter(({ member }) => member !== 'id' && member !== 'code');
  const visibleMembers = members.filter(({ before, values }) => before !== null || values !== null);
  const unkept = members.filter((change) => !visibleMembers.includes(change)).map(({ member }) => plainWords(member));
  const code = outcome === 'REFUSED' ? changes.find(({ member }) => member === 'code') : undefined;
  if (code !== undefined) return <p className={styles.quiet}>{valueWords(text, code.values, 'code')}</p>;
  if (members.length === 0) return null;
  return (
    <ul className={styles.changes}>
      {visibleMembers.map(({ member, before, values }) => (
        <li key={member}>
          <span className={styles.quiet}>{plainWords(member.split('.').at(-1) ?? member)}:</span>{' '}
          {before === null ? null : (
            <>
              <del>{valueWords(text, before, member)}</del> →{' '}
            </>
          )}
          {valueWords(text, values, member)}
        </li>
      ))}
      {unkept.length === 0 ? null : (
        <li className={styles.quiet}>{t('Also given, and not kept in the log: {members}', { members: unkept.join(', ') })}</li>
      )}
    </ul>
  );
}
