import { useLocation } from 'wouter';
import { usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import { ButtonLink } from '../../../../ui/form/button.tsx';
import { SelectField } from '../../../../ui/form/fields.tsx';
import { Section } from '../../../../ui/page.tsx';
import type { EditorAgent } from '../section.ts';
import { Diff } from './Diff.tsx';
import { AgentVersionsDocument } from './documents.ts';
import { useChanges } from './use-changes.ts';
import styles from './versions.module.css';
import { draftName, versionTitle } from './words.ts';

/** Two versions against each other; which ones, the address says. */
export function Comparison({ agent, from, to }: { readonly agent: EditorAgent; readonly from: string; readonly to: string }) {
  const { t } = useText();
  const [, go] = useLocation();
  const { data } = usePage(AgentVersionsDocument, { id: agent.id });
  const { changes, error, isCurrent, retry } = useChanges(agent.id, from, to, agent.draft?.revision ?? null);
  const address = `/agents/${agent.id}/versions`;
  const numbers = data?.agentVersions.nodes.map(({ number }) => String(number)) ?? [];
  const names = [...new Set([draftName, ...numbers, from, to])];
  const choose = (nextFrom: string, nextTo: string) => go(`${address}/${nextFrom}...${nextTo}`, { replace: true });
  const pick = (label: string, value: string, onPick: (name: string) => void) => (
    <SelectField
      label={label}
      value={value}
      onChange={onPick}
      options={names.map((name) => ({ value: name, label: versionTitle(t, name) }))}
    />
  );
  return (
    <Section title={t('What differs')} actions={<ButtonLink href={address}>{t('All versions')}</ButtonLink>}>
      <div className={styles.pickers}>
        {pick(t('Earlier version'), from, (name) => choose(name, to))}
        {pick(t('Later version'), to, (name) => choose(from, name))}
      </div>
      <ErrorNote error={error} onRetry={retry} />
      {!isCurrent && error === undefined ? <Skeleton lines={6} /> : null}
      {isCurrent && changes !== undefined ? <Diff changes={changes.changes} /> : null}
    </Section>
  );
}
