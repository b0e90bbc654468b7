import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { useText } from '../../../../text/text.ts';
import { Button } from '../../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { Field, type FieldError, TextArea, TextInput } from '../../../../ui/form/field.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import { parseJson } from '../parts/words.ts';
import type { FlowStepInput, FlowVersionInput } from './documents.ts';
import styles from './flows.module.css';
import { StepForm } from './StepForm.tsx';
import type { KnownNames } from './steps.ts';
import { kindName, newStep, stepKinds } from './steps.ts';

interface Props {
  readonly version: FlowVersionInput;
  /** Where the version stands among the variables of the mutation: places of faults begin with it. */
  readonly place: string;
  readonly names: KnownNames;
  readonly isBusy: boolean;
  readonly error: ParleyError | undefined;
  readonly onClose: () => void;
  readonly onSave: (version: FlowVersionInput) => void;
}

/** The steps of a version, as forms or as JSON. */
export function VersionDialog({ version, place, names, isBusy, error, onClose, onSave }: Props) {
  const { t } = useText();
  const [description, setDescription] = useState(version.description ?? '');
  const [steps, setSteps] = useState<readonly FlowStepInput[]>(version.steps);
  const [json, setJson] = useState<string>();
  const [fault, setFault] = useState<string>();
  const read = () => {
    const value = json === undefined ? steps : parseJson(json);
    const list = Array.isArray(value) ? (value as readonly FlowStepInput[]) : undefined;
    setFault(list === undefined ? t('This is no JSON array of steps.') : undefined);
    return list;
  };
  const toForm = () => {
    const list = read();
    if (list === undefined) return;
    setSteps(list);
    setJson(undefined);
  };
  const save = () => {
    const list = read();
    if (list !== undefined) onSave({ ...version, description, steps: [...list] });
  };
  const isDirty = description !== (version.description ?? '') || json !== undefined || steps !== version.steps;
  const fieldPaths = [`${place}.description`, ...(json === undefined ? steps.map((_, index) => `${place}.steps.${index}`) : [])];
  return (
    <PartDialog
      title={t('Version {version}', { version: version.version })}
      size="wide"
      isDirty={isDirty}
      isBusy={isBusy}
      error={errorBeside(error, fieldPaths)}
      onClose={onClose}
      onSubmit={save}
      action={t('Save')}
    >
      <Field label={t('What changed')} error={findFault(error, `${place}.description`)}>
        {(control) => <TextInput {...control} value={description} onChange={(event) => setDescription(event.target.value)} />}
      </Field>
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
        <Field label={t('Steps as JSON')} error={fault}>
          {(control) => (
            <TextArea {...control} rows={18} spellCheck={false} value={json} onChange={(event) => setJson(event.target.value)} />
          )}
        </Field>
      )}
    </PartDialog>
  );
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
