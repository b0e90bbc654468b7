import { Link } from 'wouter';
import { type Text, useText } from '../../../../text/text.ts';
import { Badge } from '../../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../../ui/form/button.tsx';
import { Time } from '../../../../ui/small.tsx';
import { Row } from '../parts/Rows.tsx';
import type { EditorAgent } from '../section.ts';
import type { AgentVersionRowFragment } from './documents.ts';
import styles from './versions.module.css';
import { partLabel, versionTitle } from './words.ts';

interface Props {
  readonly agent: EditorAgent;
  readonly version: AgentVersionRowFragment;
  readonly isReadOnly: boolean;
  readonly onRollback: () => void;
  readonly onCanary: () => void;
}

/** A version in the list: what it is about, what changed, and what can be done with it. */
export function VersionRow({ agent, version, isReadOnly, onRollback, onCanary }: Props) {
  const { t } = useText();
  const { number } = version;
  const isPublished = number === agent.publishedVersion;
  const isCanary = number === agent.canary?.version;
  const address = `/agents/${agent.id}/versions`;
  return (
    <Row
      title={<Link href={`${address}/${number}`}>{versionTitle(t, String(number))}</Link>}
      badges={<VersionBadges agent={agent} version={version} />}
      note={<VersionNote version={version} />}
      actions={
        <>
          {number > 1 ? (
            <ButtonLink size="small" href={`${address}/${number - 1}...${number}`}>
              {t('What changed')}
            </ButtonLink>
          ) : null}
          {isReadOnly || isPublished ? null : (
            <>
              {agent.canary === null ? (
                <Button size="small" aria-label={t('Canary with version {version}', { version: number })} onClick={onCanary}>
                  {t('Canary')}
                </Button>
              ) : null}
              {isCanary ? null : (
                <Button size="small" aria-label={t('Roll back to version {version}', { version: number })} onClick={onRollback}>
                  {t('Roll back')}
                </Button>
              )}
            </>
          )}
        </>
      }
    />
  );
}

/** Which people get it. */
export function VersionBadges({ agent, version }: Pick<Props, 'agent' | 'version'>) {
  const { t } = useText();
  const { number, isPublished, rolledBackTo } = version;
  const isCanary = number === agent.canary?.version;
  return (
    <>
      {number === agent.publishedVersion ? <Badge tone="good">{t('People get this')}</Badge> : null}
      {isCanary ? <Badge tone="accent">{t('{percent} % of the chats', { percent: agent.canary?.percent ?? 0 })}</Badge> : null}
      {isPublished || isCanary ? null : <Badge>{t('Never published')}</Badge>}
      {rolledBackTo === null ? null : <Badge>{t('Equal to version {version}', { version: rolledBackTo })}</Badge>}
    </>
  );
}

/** What it is about, who made it, and what it changed. */
export function VersionNote({ version }: Pick<Props, 'version'>) {
  const { t } = useText();
  const { note, userName, createdAt, members, overrideReason } = version;
  return (
    <>
      {note === '' ? null : <p className={styles.words}>{note}</p>}
      {overrideReason === null ? null : (
        <p className={styles.words}>{t('Published in spite of its gate: {reason}', { reason: overrideReason })}</p>
      )}
      <p>
        {userName ?? t('A former member')} · <Time at={createdAt} />
        {members.length === 0 ? null : ` · ${t('Changed: {members}', { members: listParts(t, members) })}`}
      </p>
    </>
  );
}

const shownMax = 6;

function listParts(t: Text['t'], members: readonly string[]): string {
  const labels = members.slice(0, shownMax).map((member) => partLabel(t, member));
  const more = members.length - labels.length;
  return more === 0 ? labels.join(', ') : t('{members} and {count} more', { members: labels.join(', '), count: more });
}
