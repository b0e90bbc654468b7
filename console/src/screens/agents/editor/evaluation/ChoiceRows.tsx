import { Plus, X } from 'lucide-react';
import { useText } from '../../../../text/text.ts';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import type { FieldError } from '../../../../ui/form/field.tsx';
import { SelectField } from '../../../../ui/form/fields.tsx';
import styles from './scorers/scorers.module.css';

interface Props {
  readonly legend: string;
  readonly note?: string;
  readonly values: readonly string[];
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly least: number;
  readonly most: number;
  /** The word on the button that adds a row. */
  readonly add: string;
  readonly label: (index: number) => string;
  readonly fault: (index: number) => FieldError;
  readonly onChange: (values: readonly string[]) => void;
}

/** Several of a list, each once, in an order that counts. */
export function ChoiceRows({ legend, note, values, options, least, most, add, label, fault, onChange }: Props) {
  const { t } = useText();
  const rest = options.filter(({ value }) => !values.includes(value));
  const [next] = rest;
  return (
    <fieldset className={styles.list}>
      <legend>{legend}</legend>
      {note === undefined ? null : <p className={styles.quiet}>{note}</p>}
      {values.map((value, index) => (
        <div key={value} className={styles.choice}>
          <SelectField
            label={label(index)}
            error={fault(index)}
            value={value}
            onChange={(value) => onChange(values.map((other, place) => (place === index ? value : other)))}
            options={options
              .filter((option) => option.value === value || rest.includes(option))
              .map((option) => ({ value: option.value, label: option.label }))}
          />
          {values.length <= least ? null : (
            <IconButton
              label={t('Remove {name}', { name: label(index) })}
              onClick={() => onChange(values.filter((_, place) => place !== index))}
            >
              <X size={16} aria-hidden />
            </IconButton>
          )}
        </div>
      ))}
      {values.length >= most || next === undefined ? null : (
        <Button size="small" icon={<Plus size={15} aria-hidden />} onClick={() => onChange([...values, next.value])}>
          {add}
        </Button>
      )}
    </fieldset>
  );
}
