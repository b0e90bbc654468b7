import { useText } from '../../../text/text.ts';
import { Checkbox, Field, Select, TextArea, TextInput } from '../../../ui/form/field.tsx';
import { askedInputs, type UserInput, type Values } from './inputs.ts';
import styles from './start.module.css';

/** The fields that an agent asks for before a chat begins. */
export function Inputs({
  inputs,
  values,
  onChange,
  faults,
}: {
  readonly inputs: readonly UserInput[];
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly faults: ReadonlyMap<string, true>;
}) {
  const { t } = useText();
  const questions = askedInputs(inputs);
  if (questions.length === 0) return null;
  return (
    <div className={styles.inputs}>
      {questions.map((input) => {
        const set = (value: string | boolean) => onChange({ ...values, [input.variableName]: value });
        const error = faults.has(input.variableName) ? t('The agent needs this.') : undefined;
        return <OneInput key={input.id} input={input} value={values[input.variableName] ?? ''} error={error} onChange={set} />;
      })}
    </div>
  );
}

function OneInput({
  input: { label, type, settings },
  value,
  error,
  onChange,
}: {
  readonly input: UserInput;
  readonly value: string | boolean;
  readonly error: string | undefined;
  readonly onChange: (value: string | boolean) => void;
}) {
  const { t } = useText();
  if (typeof value === 'boolean') {
    return <Checkbox label={label} checked={value} onChange={({ target }) => onChange(target.checked)} />;
  }
  const placeholder = settings.placeholder ?? undefined;
  return (
    <Field label={settings.isRequired ? label : t('{label} (optional)', { label })} error={error}>
      {(control) => {
        const shared = { ...control, value, placeholder, required: settings.isRequired };
        if ('options' in settings) {
          return (
            <Select {...control} value={value} required={settings.isRequired} onChange={({ target }) => onChange(target.value)}>
              <option value="">{t('Choose')}</option>
              {settings.options.map((option) => (
                <option key={option}>{option}</option>
              ))}
            </Select>
          );
        }
        if (type === 'LONG_TEXT') return <TextArea {...shared} onChange={({ target }) => onChange(target.value)} />;
        const kind = type === 'NUMBER' ? 'number' : type === 'DATE' ? 'date' : 'text';
        return <TextInput {...shared} type={kind} onChange={({ target }) => onChange(target.value)} />;
      }}
    </Field>
  );
}
