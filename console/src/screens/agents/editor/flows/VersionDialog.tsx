import { ParleyError } from '@parley/client';
import { useState } from 'react';
import { run } from '../../../../graphql/client.ts';
import { useText } from '../../../../text/text.ts';
import { Button } from '../../../../ui/form/button.tsx';
import { findFault } from '../../../../ui/form/faults/find.ts';
import type { FieldError } from '../../../../ui/form/field.tsx';
import { TextAreaField, TextField } from '../../../../ui/form/fields.tsx';
import { DraftDialog } from '../parts/DraftDialog.tsx';
import { usePartForm } from '../parts/use-part-form.ts';
import type { Parts } from '../parts/use-parts.ts';
import { parseJson } from '../parts/words.ts';
import { type AgentFlowsQuery, type FlowStepInput, type FlowVersionInput, UpdateFlowDocument } from './documents.ts';
import styles from './flows.module.css';
import { StepForm } from './StepForm.tsx';
import type { Flow, KnownNames, Version } from './steps.ts';
import { kindName, newStep, stepKinds, toVersionInput } from './steps.ts';

interface Props {
  readonly agentId: string;
  readonly parts: Parts<AgentFlowsQuery, Flow>;
  readonly flow: Flow;
  readonly version: Version;
  /** Whether a new version is made that begins as this one. */
  readonly isNew: boolean;
  readonly names: KnownNames;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** Where the version stands among the variables of the mutation: places of faults begin with it. */
const place = 'input.versions.0';

/** The steps of a version, as forms or as JSON. */
export function VersionDialog({ agentId, parts, flow, version, isNew, names, onClose, onSaved }: Props) {
  const { t } = useText();
  const form = useVersionForm({ agentId, parts, flow, version, isNew });
  const { values, change, error } = form;
  const { description, steps } = values;
  const [json, setJson] = useState<string>();
  const [fault, setFault] = useState<string>();
  const read = () => {
    const value = json === undefined ? steps : parseJson(json);
    const list = Array.isArray(value) ? (value as readonly FlowStepInput[]) : undefined;
    setFault(list === undefined ? t('This is no JSON array of steps.') : undefined);
    return list;
  };
  const setSteps = (list: readonly FlowStepInput[]) => change({ steps: list });
  const toForm = () => {
    const list = read();
    if (list === undefined) return;
    setSteps(list);
    setJson(undefined);
  };
  const save = async () => {
    const list = read();
    if (list !== undefined && (await form.save({ steps: list }))) onSaved();
  };
  const fieldPaths = [`${place}.description`, ...(json === undefined ? steps.map((_, index) => `${place}.steps.${index}`) : [])];
  return (
    <DraftDialog
      form={form}
      labels={{ description: t('What changed'), steps: t('Steps') }}
      title={isNew ? t('New version of {name}', { name: flow.name }) : t('Version {version}', { version: version.version })}
      size="wide"
      isDirty={json !== undefined}
      fieldPaths={fieldPaths}
      onClose={onClose}
      onSubmit={() => void save()}
    >
      <TextField
        label={t('What changed')}
        error={findFault(error, `${place}.description`)}
        value={description}
        onChange={(description) => change({ description })}
      />
      <div className={styles.acts}>
        <p className={styles.quiet}>
          {t('A step is named by its id: {reference} is what it came to.', { reference: '{{steps.find.output}}' })}
        </p>
        {json === undefined ? (
          <Button size="small" onClick={() => setJson(JSON.stringify(steps, undefined, 2))}>
            {t('Edit as JSON')}
          </Button>
        ) : (
          <Button size="small" onClick={toForm}>
            {t('Edit as a form')}
          </Button>
        )}
      </div>
      {json === undefined ? (
        <StepForms
          steps={steps}
          names={names}
          findStepFault={(index) => findFault(error, `${place}.steps.${index}`)}
          onChange={setSteps}
        />
      ) : (
        <TextAreaField label={t('Steps as JSON')} error={fault} rows={18} spellCheck={false} value={json} onChange={setJson} />
      )}
    </DraftDialog>
  );
}

/** The form of one version. The mutation sends all versions of the flow: the others as they are now. */
function useVersionForm({
  agentId,
  parts,
  flow,
  version: seen,
  isNew,
}: Pick<Props, 'agentId' | 'parts' | 'flow' | 'version' | 'isNew'>) {
  const { revision } = parts.see(flow);
  const start = toVersionInput(seen);
  return usePartForm({
    agentId,
    seen: { revision, item: isNew ? undefined : seen },
    toValues: (item: Version | undefined): { description: string; steps: readonly FlowStepInput[] } =>
      item === undefined
        ? { description: '', steps: start.steps }
        : { description: item.description ?? '', steps: toVersionInput(item).steps },
    read: async () => {
      const now = await parts.read(flow.id);
      const others = now.item?.versions ?? [];
      const item = isNew ? undefined : others.find(({ version }) => version === seen.version);
      return { revision: now.revision, item, flow: now.item, others: others.filter((other) => other !== item) };
    },
    send: ({ description, steps }, { flow: now, item, others, revision: expectedDraft }) => {
      if (now === undefined) throw new ParleyError('This flow is gone.', { code: 'NOT_FOUND' });
      const next = Math.max(0, ...others.map(({ version }) => version)) + 1;
      const own: FlowVersionInput = {
        version: item?.version ?? next,
        active: item?.active ?? false,
        description,
        steps: [...steps],
      };
      return run(UpdateFlowDocument, { id: flow.id, input: { versions: [own, ...others.map(toVersionInput)] }, expectedDraft });
    },
    member: () => parts.member(flow),
  });
}

function StepForms({
  steps,
  names,
  findStepFault,
  onChange,
}: {
  readonly steps: readonly FlowStepInput[];
  readonly names: KnownNames;
  readonly findStepFault: (index: number) => FieldError;
  readonly onChange: (steps: readonly FlowStepInput[]) => void;
}) {
  const { t } = useText();
  return (
    <>
      {steps.map((step, index) => (
        <StepForm
          // biome-ignore lint/suspicious/noArrayIndexKey: steps have no ids of their own
          key={index}
          number={index + 1}
          step={step}
          steps={steps}
          names={names}
          fault={findStepFault(index)}
          onChange={(edit) => onChange(steps.map((other, at) => (at === index ? edit : other)))}
          onMove={(by) => onChange(moveItem(steps, index, by))}
          onRemove={() => onChange(steps.filter((_, at) => at !== index))}
        />
      ))}
      <div className={styles.acts}>
        {stepKinds.map((kind) => (
          <Button key={kind} size="small" onClick={() => onChange([...steps, newStep(kind)])}>
            + {kindName(t, kind)}
          </Button>
        ))}
      </div>
    </>
  );
}

function moveItem<Item>(items: readonly Item[], index: number, by: number): readonly Item[] {
  const rest = items.filter((_, at) => at !== index);
  const item = items[index];
  return item === undefined ? items : [...rest.slice(0, index + by), item, ...rest.slice(index + by)];
}
