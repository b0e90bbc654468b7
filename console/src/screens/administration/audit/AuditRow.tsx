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
  const { actor, actorEmail, actorUserId, kind, outcome, count, createdAt, key, address, targetIds } = entry;
  const who = actor?.name ?? (actorEmail !== '' ? actorEmail : actorUserId === '' ? t('Parley itself') : t('Somebody who left'));
  return (
    <li className={styles.entry}>
      <Avatar name={who} />
      <div className={styles.grow}>
        <p>
          {actor === null ? <strong>{who}</strong> : <Link href={`/people/${actor.id}`}>{who}</Link>} · {getTitle(t, entry)}
          <Target entry={entry} /> {outcome === 'REFUSED' ? <Badge tone="bad">{t('Refused')}</Badge> : null}
          {outcome === 'FAILED' ? <Badge tone="warn">{t('Failed')}</Badge> : null}
          {count > 1 ? <Badge>{t('{count} times', { count: number(count) })}</Badge> : null}
          {kind === 'READ' && targetIds.length > 1 ? (
            <Badge>{t('{count, plural, one {# thing} other {# things}}', { count: targetIds.length })}</Badge>
          ) : null}
        </p>
        <Changes entry={entry} />
        <p className={styles.quiet}>
          <Time at={createdAt} />
          {key === null ? '' : ` · ${t('by the key {name}', { name: key.name })}`}
          {address === null ? '' : ` · ${address}`}
        </p>
      </div>
    </li>
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
