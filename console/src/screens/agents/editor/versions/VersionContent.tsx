import { useState } from 'react';
import { Link } from 'wouter';
import { usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { EmptyState, ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../../ui/form/button.tsx';
import { Section } from '../../../../ui/page.tsx';
import type { EditorAgent } from '../section.ts';
import { AgentVersionContentDocument } from './documents.ts';
import { RollbackDialog } from './RollbackDialog.tsx';
import { VersionBadges, VersionNote } from './VersionRow.tsx';
import styles from './versions.module.css';
import { memberLabel, versionTitle } from './words.ts';

interface Props {
  readonly agent: EditorAgent;
  readonly number: number;
  readonly isReadOnly: boolean;
  readonly onChange: () => void;
}

/** What says nothing to people. */
const emptyTexts: ReadonlySet<string> = new Set(['{}', '[]', 'null']);

/** All that a version holds. */
export function VersionContent({ agent, number, isReadOnly, onChange }: Props) {
  const { t } = useText();
  const [isOpen, setOpen] = useState(false);
  const { data, error, isLoading, reload } = usePage(AgentVersionContentDocument, {
    id: agent.id,
    version: String(number),
    number,
  });
  const address = `/agents/${agent.id}/versions`;
  const version = data?.agentVersion;
  const words: Readonly<Record<string, string>> = { true: t('Yes'), false: t('No') };
  const isPublished = number === agent.publishedVersion;
  if (version === null || error?.code === 'NOT_FOUND') {
    return (
      <EmptyState title={t('There is no such version')} action={<ButtonLink href={address}>{t('To the versions')}</ButtonLink>}>
        {t('Versions that nothing names any more may be deleted after a time.')}
      </EmptyState>
    );
  }
  return (
    <Section
      title={versionTitle(t, String(number))}
      lead={
        version === undefined ? undefined : (
          <>
            <span className={styles.badges}>
              <VersionBadges agent={agent} version={version} />
            </span>
            <VersionNote version={version} />
          </>
        )
      }
      actions={
        <>
          <ButtonLink href={address}>{t('All versions')}</ButtonLink>
          {isPublished ? null : (
            <ButtonLink href={`${address}/${number}...${agent.publishedVersion}`}>{t('Compare with what people get')}</ButtonLink>
          )}
          {isReadOnly || isPublished || version === undefined ? null : (
            <Button onClick={() => setOpen(true)}>{t('Roll back')}</Button>
          )}
        </>
      }
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={8} /> : null}
      <dl className={styles.content}>
        {data?.agentVersionContent
          .filter(({ text }) => !emptyTexts.has(text))
          .map(({ member, text }) => (
            <div key={member}>
              <dt>{memberLabel(t, member)}</dt>
              <dd className={styles.text}>{words[text] ?? text}</dd>
            </div>
          ))}
      </dl>
      {number > 1 && version !== undefined ? (
        <p>
          <Link href={`${address}/${number - 1}...${number}`}>
            {t('What changed against version {version}', { version: number - 1 })}
          </Link>
        </p>
      ) : null}
      {isOpen ? (
        <RollbackDialog
          agent={agent}
          version={number}
          onClose={() => setOpen(false)}
          onDone={() => {
            setOpen(false);
            reload();
            onChange();
          }}
        />
      ) : null}
    </Section>
  );
}
