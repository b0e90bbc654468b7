import { useText } from '../../../../text/text.ts';
import { SelectField } from '../../../../ui/form/fields.tsx';

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
    <SelectField
      label={t('Kind')}
      value={value}
      onChange={onChange}
      options={kinds.map((kind) => ({ value: kind, label: name(kind) }))}
    />
  );
}
