import { Select } from '../../../ui/form/field.tsx';
import type { Choice } from './choices.ts';

/** One of several, or any. A value that is not among the choices is shown as it is. */
export function Picker<Id extends string>({
  label,
  any,
  value,
  choices,
  onChange,
}: {
  readonly label: string;
  /** The words for no choice. */
  readonly any: string;
  readonly value: Id | undefined;
  readonly choices: readonly Choice<Id>[];
  readonly onChange: (value: Id | '') => void;
}) {
  return (
    <Select
      aria-label={label}
      value={value ?? ''}
      onChange={({ target }) => onChange(choices.find(({ id }) => id === target.value)?.id ?? '')}
    >
      <option value="">{any}</option>
      {value !== undefined && !choices.some(({ id }) => id === value) ? <option value={value}>{value}</option> : null}
      {choices.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  );
}
