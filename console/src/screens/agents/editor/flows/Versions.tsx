import { useState } from 'react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { Badge, ErrorNote } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { type FlowVersionInput, UpdateFlowDocument } from './documents.ts';
import styles from './flows.module.css';
import type { KnownNames } from './steps.ts';
import { type Flow, getKind, kindName, stepSentence, toStepInput, toVersionInput, type Version } from './steps.ts';
import { VersionDialog } from './VersionDialog.tsx';

interface Props {
  readonly flow: Flow;
  readonly versions: readonly Version[];
  readonly isReadOnly: boolean;
  readonly names: KnownNames;
  readonly onSaved: () => void;
}

/** The versions of a flow, newest first, with their steps; each can be made the active one or the start of a new one. */
export function Versions({ flow, versions, isReadOnly, names, onSaved }: Props) {
  const { t } = useText();
  const update = useMutate(UpdateFlowDocument);
  const [edited, setEdited] = useState<FlowVersionInput>();
  const next = Math.max(0, ...versions.map(({ version }) => version)) + 1;
  const save = async (versionInputs: readonly FlowVersionInput[]) => {
    const result = await update.run({ id: flow.id, input: { versions: [...versionInputs] } });
    if (result !== undefined) {
      setEdited(undefined);
      onSaved();
    }
  };
  const inputs = versions.map(toVersionInput);
  const activate = (version: number) => save(inputs.map((input) => ({ ...input, active: input.version === version })));
  const put = (input: FlowVersionInput) => save([...inputs.filter(({ version }) => version !== input.version), input]);
  return (
    <>
      {edited === undefined ? <ErrorNote error={update.error} /> : null}
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
                <Button size="small" isBusy={update.isBusy} onClick={() => void activate(version.version)}>
                  {t('Make version {version} active', { version: version.version })}
                </Button>
              )}
              <Button size="small" onClick={() => setEdited(toVersionInput(version))}>
                {t('Edit version {version}', { version: version.version })}
              </Button>
              <Button
                size="small"
                onClick={() => setEdited({ ...toVersionInput(version), version: next, active: false, description: '' })}
              >
                {t('New version from it')}
              </Button>
            </div>
          )}
        </details>
      ))}
      {edited === undefined ? null : (
        <VersionDialog
          key={edited.version}
          version={edited}
          place={`input.versions.${inputs.filter(({ version }) => version !== edited.version).length}`}
          names={names}
          isBusy={update.isBusy}
          error={update.error}
          onClose={() => {
            update.reset();
            setEdited(undefined);
          }}
          onSave={(version) => void put(version)}
        />
      )}
    </>
  );
}
