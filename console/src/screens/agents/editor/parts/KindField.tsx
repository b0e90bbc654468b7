import { useText } from '../../../../text/text.ts';
import { Field, Select } from '../../../../ui/form/field.tsx';

interface Props<Kind extends string> {
  readonly value: Kind;
  readonly kinds: readonly Kind[];
  readonly name: (kind: Kind) => string;
  readonly onChange: (kind: Kind) => void;
}

/** The choice of what a part of an agent is. */
export function KindField<Kind extends string>({ value, kinds, name, onChange }: Props<Kind>) {
  const { t } = useText();
  return (
    <Field label={t('Kind')}>
      {(control) => (
        <Select
          {...control}
          value={value}
          onChange={(event) => onChange(kinds.find((kind) => kind === event.target.value) ?? value)}
        >
          {kinds.map((kind) => (
            <option key={kind} value={kind}>
              {name(kind)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
