import type { ParleyError } from '@parley/client';
import { useText } from '../../../../text/text.ts';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { TextField } from '../../../../ui/form/fields.tsx';
import type { AgentFields } from '../draft/draft.ts';
import styles from '../editor.module.css';

type Options = AgentFields['options'];

/** How the model samples. An empty field leaves the choice to the model. */
export function ModelOptions({
  options,
  onChange,
  error,
}: {
  readonly options: Options;
  readonly onChange: (options: Options) => void;
  readonly error: ParleyError | undefined;
}) {
  const { t } = useText();
  const rows: readonly { readonly name: keyof Options; readonly label: string; readonly hint: string }[] = [
    { name: 'temperature', label: t('Temperature'), hint: t('0 to 2: how freely it chooses words') },
    { name: 'topP', label: t('Top P'), hint: t('0 to 1: only the likeliest words') },
    { name: 'topK', label: t('Top K'), hint: t('1 to 1,000: words to choose from') },
    { name: 'frequencyPenalty', label: t('Frequency penalty'), hint: t('-2 to 2: against repeated words') },
    { name: 'presencePenalty', label: t('Presence penalty'), hint: t('-2 to 2: for new subjects') },
    { name: 'maxOutputTokens', label: t('Longest answer'), hint: t('Tokens of an answer at most') },
    { name: 'maxInputTokens', label: t('Longest conversation'), hint: t('Tokens given to the model at most') },
  ];
  const count = rows.filter(({ name }) => options[name] !== null).length;
  const hasFault = rows.some(({ name }) => findFault(error, `input.options.${name}`) !== undefined);
  return (
    <details className={styles.details} open={hasFault || undefined}>
      <summary>{count === 0 ? t('Options: all left to the model') : t('Options: {count} set', { count })}</summary>
      <div className={styles.grid}>
        {rows.map(({ name, label, hint }) => (
          <TextField
            key={name}
            label={label}
            hint={hint}
            error={findFault(error, `input.options.${name}`)}
            type="number"
            step="any"
            value={options[name] ?? ''}
            onChange={(value) => onChange({ ...options, [name]: value === '' ? null : Number(value) })}
          />
        ))}
      </div>
    </details>
  );
}
