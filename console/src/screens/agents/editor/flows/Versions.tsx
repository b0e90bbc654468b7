import { useState } from 'react';
import { run } from '../../../../graphql/client.ts';
import { useText } from '../../../../text/text.ts';
import { Badge } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import type { Parts } from '../parts/use-parts.ts';
import { type AgentFlowsQuery, UpdateFlowDocument } from './documents.ts';
import styles from './flows.module.css';
import type { KnownNames } from './steps.ts';
import { type Flow, getKind, kindName, stepSentence, toStepInput, toVersionInput, type Version } from './steps.ts';
import { VersionDialog } from './VersionDialog.tsx';

interface Props {
  readonly agentId: string;
  readonly parts: Parts<AgentFlowsQuery, Flow>;
  readonly flow: Flow;
  readonly versions: readonly Version[];
  readonly isReadOnly: boolean;
  readonly names: KnownNames;
}

/** The versions of a flow, newest first, with their steps; each can be made the active one or the start of a new one. */
export function Versions({ agentId, parts, flow, versions, isReadOnly, names }: Props) {
  const { t } = useText();
  const [edited, setEdited] = useState<{ readonly version: Version; readonly isNew: boolean }>();
  const activate = (version: number) =>
    parts.act(flow, ({ item, revision }) => {
      const inputs = (item.versions ?? []).map((input) => ({ ...toVersionInput(input), active: input.version === version }));
      return run(UpdateFlowDocument, { id: flow.id, input: { versions: inputs }, expectedDraft: revision });
    });
  return (
    <>
      {[...versions].reverse().map((version) => (
        <details key={version.version} className={styles.version} open={version.active}>
          <summary>
            {t('Version {version}', { version: version.version })}
            {version.active ? <Badge tone="good">{t('Active')}</Badge> : null}
            <span className={styles.quiet}>{version.description}</span>
          </summary>
          <ol className={styles.steps}>
            {version.steps.map((step, index) => {
              const input = toStepInput(step);
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: steps may have no ids
                <li key={index}>
                  <strong>{kindName(t, getKind(input))}</strong>
                  {step.stepId === null ? null : <code>{step.stepId}</code>}
                  <span className={styles.quiet}>{stepSentence(t, input)}</span>
                </li>
              );
            })}
          </ol>
          {isReadOnly ? null : (
            <div className={styles.acts}>
              {version.active ? null : (
                <Button size="small" onClick={() => void activate(version.version)}>
                  {t('Make version {version} active', { version: version.version })}
                </Button>
              )}
              <Button size="small" onClick={() => setEdited({ version, isNew: false })}>
                {t('Edit version {version}', { version: version.version })}
              </Button>
              <Button size="small" onClick={() => setEdited({ version, isNew: true })}>
                {t('New version from it')}
              </Button>
            </div>
          )}
        </details>
      ))}
      {edited === undefined ? null : (
        <VersionDialog
          agentId={agentId}
          parts={parts}
          flow={flow}
          version={edited.version}
          isNew={edited.isNew}
          names={names}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            parts.reload();
          }}
        />
      )}
    </>
  );
}
