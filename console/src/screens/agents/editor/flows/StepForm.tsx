import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../../../../text/text.ts';
import { IconButton } from '../../../../ui/form/button.tsx';
import type { FieldError } from '../../../../ui/form/field.tsx';
import { SelectField, TextAreaField, TextField } from '../../../../ui/form/fields.tsx';
import { Fault } from '../parts/Fault.tsx';
import { parseJson } from '../parts/words.ts';
import type { FlowStepInput } from './documents.ts';
import styles from './flows.module.css';
import type { KnownNames } from './steps.ts';
import { getKind, kindName, operatorName, operators } from './steps.ts';

interface Props {
  readonly number: number;
  readonly step: FlowStepInput;
  readonly steps: readonly FlowStepInput[];
  readonly names: KnownNames;
  readonly fault: FieldError;
  readonly onChange: (step: FlowStepInput) => void;
  readonly onMove: (by: -1 | 1) => void;
  readonly onRemove: () => void;
}

/** One step with what its kind takes. */
export function StepForm({ number, step, steps, names, fault, onChange, onMove, onRemove }: Props) {
  const { t } = useText();
  const kind = getKind(step);
  const stepId = step[kind]?.stepId ?? '';
  const setId = (id: string) => {
    const { stepId: _before, ...rest } = step[kind] ?? {};
    onChange({ [kind]: id === '' ? rest : { ...rest, stepId: id } } as FlowStepInput);
  };
  return (
    <fieldset className={styles.step}>
      <legend>{t('{number}. {kind}', { number, kind: kindName(t, kind) })}</legend>
      <div className={styles.stepHead}>
        <TextField label={t('Id of step {number}', { number })} value={stepId} onChange={setId} />
        <IconButton label={t('Move step {number} up', { number })} disabled={number === 1} onClick={() => onMove(-1)}>
          <ArrowUp size={16} aria-hidden />
        </IconButton>
        <IconButton label={t('Move step {number} down', { number })} disabled={number === steps.length} onClick={() => onMove(1)}>
          <ArrowDown size={16} aria-hidden />
        </IconButton>
        <IconButton label={t('Remove step {number}', { number })} onClick={onRemove}>
          <X size={16} aria-hidden />
        </IconButton>
      </div>
      <StepFields step={step} names={names} onChange={onChange} />
      <Fault error={fault} />
    </fieldset>
  );
}

function StepFields({
  step,
  names,
  onChange,
}: {
  readonly step: FlowStepInput;
  readonly names: KnownNames;
  readonly onChange: (step: FlowStepInput) => void;
}) {
  const { t } = useText();
  if (step.prompt !== undefined) {
    const { prompt } = step;
    return <Words label={t('Text')} value={prompt.text} onChange={(text) => onChange({ prompt: { ...prompt, text } })} />;
  }
  if (step.retrieve !== undefined) {
    const { retrieve } = step;
    return (
      <>
        <Words
          label={t('Search for')}
          hint={t('Empty: what the user said.')}
          value={retrieve.query ?? ''}
          onChange={(query) => onChange({ retrieve: { ...retrieve, query: query === '' ? null : query } })}
        />
        <TextField
          label={t('Passages at most')}
          type="number"
          min={1}
          max={50}
          value={retrieve.limit ?? ''}
          onChange={(value) => onChange({ retrieve: { ...retrieve, limit: value === '' ? null : Number(value) } })}
        />
      </>
    );
  }
  if (step.model !== undefined) {
    const { model } = step;
    return (
      <>
        <Words
          label={t('What it is asked')}
          hint={t('Empty: what the user said.')}
          value={model.prompt ?? ''}
          onChange={(prompt) => onChange({ model: { ...model, prompt: prompt === '' ? null : prompt } })}
        />
        <SelectField
          label={t('Model')}
          value={model.modelId ?? ''}
          onChange={(value) => onChange({ model: { ...model, modelId: value === '' ? null : value } })}
          options={[{ value: '', label: t('That of the agent') }, ...names.models.map((id) => ({ value: id, label: id }))]}
        />
      </>
    );
  }
  if (step.tool !== undefined) return <ToolFields tool={step.tool} names={names} onChange={(tool) => onChange({ tool })} />;
  return <BranchFields branch={step.branch} onChange={(branch) => onChange({ branch })} />;
}

type Branch = NonNullable<FlowStepInput['branch']>;

function BranchFields({ branch, onChange }: { readonly branch: Branch; readonly onChange: (branch: Branch) => void }) {
  const { t } = useText();
  const { condition } = branch;
  const isAlone = condition.operator === 'IS_EMPTY' || condition.operator === 'IS_NOT_EMPTY';
  const put = (members: Partial<Branch['condition']>) => onChange({ ...branch, condition: { ...condition, ...members } });
  return (
    <div className={styles.stepGrid}>
      <Line label={t('If')} value={condition.left} onChange={(left) => put({ left })} />
      <SelectField
        label={t('Comparison')}
        value={condition.operator}
        onChange={(operator) => put({ operator })}
        options={operators.map((name) => ({ value: name, label: operatorName(t, name) }))}
      />
      {isAlone ? null : <Line label={t('With')} value={condition.right ?? ''} onChange={(right) => put({ right })} />}
      <Line label={t('Then go to step')} value={branch.onTrue} onChange={(onTrue) => onChange({ ...branch, onTrue })} />
      <Line
        label={t('Else go to step')}
        value={branch.onFalse ?? ''}
        onChange={(onFalse) => onChange({ ...branch, onFalse: onFalse === '' ? null : onFalse })}
      />
    </div>
  );
}

type Tool = NonNullable<FlowStepInput['tool']>;

function ToolFields({
  tool,
  names,
  onChange,
}: {
  readonly tool: Tool;
  readonly names: KnownNames;
  readonly onChange: (tool: Tool) => void;
}) {
  const { t } = useText();
  const [text, setText] = useState(() => JSON.stringify(tool.arguments ?? {}, undefined, 2));
  const value = parseJson(text);
  return (
    <>
      <TextField
        label={t('Tool')}
        hint={names.tools.length === 0 ? undefined : t('For example {names}', { names: names.tools.join(', ') })}
        value={tool.tool}
        onChange={(typed) => onChange({ ...tool, tool: typed })}
      />
      <TextAreaField
        label={t('Arguments as JSON')}
        error={value === undefined ? t('This is no JSON.') : undefined}
        rows={3}
        spellCheck={false}
        value={text}
        onChange={(typed) => {
          setText(typed);
          const value = parseJson(typed);
          if (value !== undefined) onChange({ ...tool, arguments: value });
        }}
      />
    </>
  );
}

interface TextProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Words({ label, hint, value, onChange }: TextProps) {
  return <TextAreaField label={label} hint={hint} rows={2} value={value} onChange={onChange} />;
}

function Line({ label, value, onChange }: TextProps) {
  return <TextField label={label} value={value} onChange={onChange} />;
}
