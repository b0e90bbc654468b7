import type { ParleyError } from '@parley/client';
import { X } from 'lucide-react';
import { useText } from '../../../../../text/text.ts';
import { IconButton } from '../../../../../ui/form/button.tsx';
import { findFault } from '../../../../../ui/form/faults/find.ts';
import { Select } from '../../../../../ui/form/field.tsx';
import { SelectField, TextAreaField, TextField } from '../../../../../ui/form/fields.tsx';
import { Fault } from '../../parts/Fault.tsx';
import styles from './scorers.module.css';
import { newScorer, type ScorerMember, type ScorerValues, scorerKinds, scorerMembers, scorerName } from './values.ts';

interface Props {
  readonly scorers: readonly ScorerValues[];
  /** The models that may judge. */
  readonly models: readonly { readonly id: string }[];
  readonly currency: string;
  readonly error: ParleyError | undefined;
  readonly onChange: (scorers: readonly ScorerValues[]) => void;
}

const most = 20;
/** The built-in model quotes: it cannot weigh anything. */
const quotingModel = 'parley/offline';

/** How answers are scored: each scorer with what it takes. */
export function ScorerList({ scorers, models, currency, error, onChange }: Props) {
  const { t } = useText();
  const judges = models.filter(({ id }) => id !== quotingModel);
  const add = (kind: ScorerValues['kind'] | undefined) => {
    if (kind !== undefined) onChange([...scorers, { ...newScorer(kind), modelId: judges[0]?.id ?? '' }]);
  };
  return (
    <fieldset className={styles.list}>
      <legend>{t('How answers are scored')}</legend>
      <p className={styles.quiet}>
        {t('An answer passes when all of them pass. Where a case does not say what one asks for, that one says nothing.')}
      </p>
      {scorers.length === 0 ? <p>{t('None is chosen: facts, citations, refusals and calls of tools are scored.')}</p> : null}
      <ol className={styles.scorers}>
        {scorers.map((scorer, index) => {
          const name = t('{number}. {kind}', { number: index + 1, kind: scorerName(t, scorer.kind) });
          const members = scorerMembers[scorer.kind];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: scorers have no ids of their own
            <li key={`${index} ${scorer.kind}`} className={styles.scorer}>
              <div className={styles.head}>
                <span>{name}</span>
                <IconButton
                  label={t('Remove {name}', { name })}
                  onClick={() => onChange(scorers.filter((_, place) => place !== index))}
                >
                  <X size={16} aria-hidden />
                </IconButton>
              </div>
              {members.map((member) => (
                <MemberField
                  key={member}
                  member={member}
                  scorer={scorer}
                  judges={judges}
                  currency={currency}
                  fault={findFault(error, `input.scorers.${index}.${member}`)}
                  onChange={(value) =>
                    onChange(scorers.map((other, place) => (place === index ? { ...other, [member]: value } : other)))
                  }
                />
              ))}
              {members.length > 0 ? null : <Fault error={findFault(error, `input.scorers.${index}`)} />}
            </li>
          );
        })}
      </ol>
      {scorers.length >= most ? null : (
        // The menus of the console open under a dialog.
        <Select
          aria-label={t('Add a scorer')}
          value=""
          onChange={(event) => add(scorerKinds.find((kind) => kind === event.target.value))}
        >
          <option value="">{t('Add a scorer')}</option>
          {scorerKinds.map((kind) => (
            <option key={kind} value={kind}>
              {scorerName(t, kind)}
            </option>
          ))}
        </Select>
      )}
    </fieldset>
  );
}

function MemberField({
  member,
  scorer,
  judges,
  currency,
  fault,
  onChange,
}: {
  readonly member: ScorerMember;
  readonly scorer: ScorerValues;
  readonly judges: readonly { readonly id: string }[];
  readonly currency: string;
  readonly fault: ReturnType<typeof findFault>;
  readonly onChange: (value: string) => void;
}) {
  const { t } = useText();
  const value = scorer[member];
  const maxLabels: Readonly<Record<string, string>> = {
    LATENCY: t('Milliseconds at most'),
    TOKENS: t('Tokens at most'),
    COST: t('Cost at most, in {currency}', { currency }),
  };
  const labels: Readonly<Record<ScorerMember, string>> = {
    pattern: t('Regular expression'),
    schema: t('JSON Schema'),
    tolerance: t('By how much a number may differ'),
    max: maxLabels[scorer.kind] ?? '',
    modelId: t('The model that judges'),
    rubric: t('What is weighed in every case'),
  };
  const hints: Readonly<Partial<Record<ScorerMember, string>>> = {
    pattern: t('As RE2 reads it, for example {example}.', { example: '^CHF \\d+' }),
    tolerance: t('A share: 0.05 is five of a hundred. Empty: not at all.'),
    rubric: t('Besides what the case says. Empty: the case alone, or that it says what the expected answer says.'),
  };
  const shared = { label: labels[member], hint: hints[member], error: fault, value, onChange };
  if (member === 'modelId') {
    const nothing = judges.length === 0 ? t('No model here can judge') : t('Choose a model');
    return (
      <SelectField {...shared} options={[{ value: '', label: nothing }, ...judges.map(({ id }) => ({ value: id, label: id }))]} />
    );
  }
  if (member === 'schema') return <TextAreaField {...shared} rows={4} spellCheck={false} />;
  if (member === 'rubric') return <TextAreaField {...shared} rows={2} spellCheck />;
  const number = member === 'pattern' ? {} : { type: 'number', min: 0, step: 'any' };
  return <TextField {...shared} {...number} spellCheck={false} />;
}
