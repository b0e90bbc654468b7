import type { ComponentProps } from 'react';
import { Field, type FieldProps, Select, TextArea, TextInput } from './field.tsx';

/** What names a control, and the control's own attributes. Its changes come as values instead of as events. */
type Labelled<Control> = Omit<FieldProps, 'children'> & Omit<Control, keyof FieldProps | 'value' | 'onChange'>;

interface TextValue {
  readonly value: string | number;
  /** Gets what is typed. */
  readonly onChange: (value: string) => void;
}

/** A line of text with its label, hint and error. */
export function TextField({ id, label, hint, error, onChange, ...rest }: Labelled<ComponentProps<typeof TextInput>> & TextValue) {
  return (
    <Field id={id} label={label} hint={hint} error={error}>
      {(control) => <TextInput {...control} {...rest} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

/** Several lines of text with their label, hint and error. */
export function TextAreaField({
  id,
  label,
  hint,
  error,
  onChange,
  ...rest
}: Labelled<ComponentProps<typeof TextArea>> & TextValue) {
  return (
    <Field id={id} label={label} hint={hint} error={error}>
      {(control) => <TextArea {...control} {...rest} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

export interface Option<Value extends string | number> {
  readonly value: Value;
  readonly label: string;
}

/** A choice of one option with its label, hint and error. */
export function SelectField<Value extends string | number>({
  id,
  label,
  hint,
  error,
  options,
  onChange,
  ...rest
}: Omit<Labelled<ComponentProps<typeof Select>>, 'children'> & {
  readonly options: readonly Option<Value>[];
  readonly value: Value;
  readonly onChange: (value: NoInfer<Value>) => void;
}) {
  return (
    <Field id={id} label={label} hint={hint} error={error}>
      {(control) => (
        <Select
          {...control}
          {...rest}
          onChange={({ target }) => {
            const chosen = options[target.selectedIndex];
            if (chosen !== undefined) onChange(chosen.value);
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
