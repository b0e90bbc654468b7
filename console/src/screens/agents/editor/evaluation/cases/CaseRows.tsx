import { Plus, X } from 'lucide-react';
import { useText } from '../../../../../text/text.ts';
import { Button, IconButton } from '../../../../../ui/form/button.tsx';
import type { FieldError } from '../../../../../ui/form/field.tsx';
import { type Option, SelectField, TextAreaField, TextField } from '../../../../../ui/form/fields.tsx';
import styles from '../scorers/scorers.module.css';
import type { CaseListRow } from './lists.ts';

/** A member of a row. */
export interface Column {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** Default: a line of text. */
  readonly kind?: 'text' | { readonly options: readonly Option<string>[] };
}

/** What a list says. */
export interface CaseRowsWords {
  readonly legend: string;
  readonly note?: string;
  /** The word on the button that adds a row. */
  readonly add: string;
  /** The name of a row, for its group and the button that removes it. */
  readonly label: (index: number) => string;
}

interface Props extends CaseRowsWords {
  readonly rows: readonly CaseListRow[];
  readonly columns: readonly Column[];
  readonly blank: () => CaseListRow;
  readonly most: number;
  readonly fault: (index: number, column: string) => FieldError;
  readonly onChange: (rows: readonly CaseListRow[]) => void;
}

/** A list of a case whose items have several members. */
export function CaseRows({ legend, note, rows, columns, blank, most, add, label, fault, onChange }: Props) {
  const { t } = useText();
  const change = (key: string, name: string, value: string) =>
    onChange(rows.map((row) => (row.key === key ? { ...row, values: { ...row.values, [name]: value } } : row)));
  return (
    <fieldset className={styles.list}>
      <legend>{legend}</legend>
      {note === undefined ? null : <p className={styles.quiet}>{note}</p>}
      {rows.map((row, index) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset in a fieldset is read twice
        <div key={row.key} role="group" aria-label={label(index)} className={styles.scorer}>
          <div className={styles.head}>
            <span>{label(index)}</span>
            <IconButton
              label={t('Remove {name}', { name: label(index) })}
              onClick={() => onChange(rows.filter(({ key }) => key !== row.key))}
            >
              <X size={16} aria-hidden />
            </IconButton>
          </div>
          {columns.map((column) => (
            <Cell
              key={column.name}
              column={column}
              value={row.values[column.name] ?? ''}
              error={fault(index, column.name)}
              onChange={(value) => change(row.key, column.name, value)}
            />
          ))}
        </div>
      ))}
      {rows.length >= most ? null : (
        <Button size="small" icon={<Plus size={15} aria-hidden />} onClick={() => onChange([...rows, blank()])}>
          {add}
        </Button>
      )}
    </fieldset>
  );
}

function Cell({
  column: { label, hint, kind },
  value,
  error,
  onChange,
}: {
  readonly column: Column;
  readonly value: string;
  readonly error: FieldError;
  readonly onChange: (value: string) => void;
}) {
  const shared = { label, hint, error, value, onChange };
  if (kind === undefined) return <TextField {...shared} />;
  if (kind === 'text') return <TextAreaField {...shared} rows={2} />;
  return <SelectField {...shared} options={kind.options} />;
}
