import { useState } from 'react';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import { type BudgetRowFragment, BudgetSubjectsDocument, SetBudgetDocument } from '../../../parts/budgets/documents.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Checkbox, Field, Select } from '../../../ui/form/field.tsx';
import { SelectField, TextField } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { PersonChoice } from '../person/PersonChoice.tsx';
import { subjectKinds, subjectWords } from './words.ts';

type Subject = BudgetRowFragment['subject'];
type Period = BudgetRowFragment['period'];
type Unit = BudgetRowFragment['unit'];

/** What a budget bounds, and how it counts. It stays the same when the limit is changed. */
interface Place {
  readonly subject: Subject;
  /** Undefined for the organization, and until one is chosen. */
  readonly subjectId: string | undefined;
  readonly period: Period;
  readonly unit: Unit;
}

/** Sets a budget: a new one, or another limit of one that is there. */
export function BudgetForm({
  budget,
  currency,
  onClose,
  onSaved,
}: {
  readonly budget: BudgetRowFragment | undefined;
  readonly currency: string;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const { t } = useText();
  const [place, setPlace] = useState<Place>({
    subject: budget?.subject ?? 'ORGANIZATION',
    subjectId: budget?.subjectId,
    period: budget?.period ?? 'MONTH',
    unit: budget?.unit ?? 'MONEY',
  });
  const [limit, setLimit] = useState(budget === undefined ? '' : String(budget.limit));
  const [allowsUnpricedModels, setAllows] = useState(budget?.allowsUnpricedModels ?? false);
  const { run, isBusy, error } = useMutate(SetBudgetDocument);
  const { subjectId, ...placed } = place;
  const isMoney = place.unit === 'MONEY';
  const isWhole = place.subject === 'ORGANIZATION' || subjectId !== undefined;
  const save = async () => {
    const named = place.subject === 'ORGANIZATION' ? {} : { subjectId: subjectId ?? null };
    if ((await run({ input: { ...placed, ...named, limit: Number(limit), allowsUnpricedModels } })) !== undefined) onSaved();
  };
  return (
    <FormDialog
      title={budget === undefined ? t('New budget') : t('Change the budget')}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Save')}
      isBusy={isBusy}
      isBlocked={limit.trim() === '' || !isWhole}
    >
      {budget === undefined ? <PlaceFields place={place} currency={currency} onChange={setPlace} /> : null}
      <TextField
        label={isMoney ? t('Most in {currency}', { currency }) : t('Most tokens')}
        error={findFault(error, 'limit')}
        type="number"
        min={0}
        step={isMoney ? 'any' : 1}
        value={limit}
        onChange={setLimit}
      />
      {isMoney ? (
        <Checkbox
          label={t('Models without a price may be used. They cost nothing of it.')}
          checked={allowsUnpricedModels}
          onChange={({ target }) => setAllows(target.checked)}
        />
      ) : null}
      <ErrorNote error={errorBeside(error, ['limit'])} />
    </FormDialog>
  );
}

function PlaceFields({
  place,
  currency,
  onChange,
}: {
  readonly place: Place;
  readonly currency: string;
  readonly onChange: (place: Place) => void;
}) {
  const { t } = useText();
  const { subject, subjectId, period, unit } = place;
  const chooseSubject = (id: string | undefined) => onChange({ ...place, subjectId: id });
  return (
    <>
      <SelectField
        label={t('Whose use it bounds')}
        value={subject}
        onChange={(kind) => onChange({ ...place, subject: kind, subjectId: undefined })}
        options={subjectKinds.map((kind) => ({ value: kind, label: subjectWords(t)[kind] }))}
      />
      {subject === 'USER' ? <PersonChoice label={t('Person')} value={subjectId} onChange={chooseSubject} /> : null}
      {subject === 'GROUP' || subject === 'KEY' || subject === 'AGENT' ? (
        <SubjectChoice kind={subject} value={subjectId} onChange={chooseSubject} />
      ) : null}
      <SelectField
        label={t('Begins again')}
        value={period}
        onChange={(chosen) => onChange({ ...place, period: chosen })}
        options={[
          { value: 'MONTH', label: t('Each month') },
          { value: 'DAY', label: t('Each day') },
        ]}
      />
      <SelectField
        label={t('What it counts')}
        value={unit}
        onChange={(chosen) => onChange({ ...place, unit: chosen })}
        options={[
          { value: 'MONEY', label: t('Money in {currency}', { currency }) },
          { value: 'TOKENS', label: t('Tokens') },
        ]}
      />
    </>
  );
}

/** A group, a key or an agent of the organization. */
function SubjectChoice({
  kind,
  value,
  onChange,
}: {
  readonly kind: 'GROUP' | 'KEY' | 'AGENT';
  readonly value: string | undefined;
  readonly onChange: (id: string | undefined) => void;
}) {
  const { t } = useText();
  const { may } = useSession();
  const { data, error } = usePage(BudgetSubjectsDocument, {
    groups: kind === 'GROUP' && may('GROUPS_READ'),
    keys: kind === 'KEY' && may('API_KEYS_READ'),
    agents: kind === 'AGENT' && may('AGENTS_READ'),
  });
  const things = (data?.groups ?? data?.apiKeys ?? data?.agents)?.nodes ?? [];
  return (
    <Field label={subjectWords(t)[kind]}>
      {(control) => (
        <>
          <Select
            {...control}
            value={value ?? ''}
            onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
          >
            <option value="">{t('Choose one')}</option>
            {things.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
          <ErrorNote error={error} />
        </>
      )}
    </Field>
  );
}
