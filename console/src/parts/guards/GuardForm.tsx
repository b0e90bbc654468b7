import type { ParleyError } from '@parley/client';
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../../text/text.ts';
import { ErrorNote } from '../../ui/feedback.tsx';
import { Button, IconButton } from '../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../ui/form/faults/find.ts';
import { Checkbox } from '../../ui/form/field.tsx';
import { SelectField, TextField } from '../../ui/form/fields.tsx';
import { useLeaveGuard } from '../../ui/form/leave-guard.ts';
import { useConfirm } from '../../ui/overlay/confirm.tsx';
import type { GuardFieldsFragment, GuardInput } from './documents.ts';
import styles from './guards.module.css';
import { guardKinds, maskedWords } from './words.ts';

interface Pattern {
  readonly id: number;
  readonly name: string;
  readonly pattern: string;
  /** As it was typed. */
  readonly lengthMax: string;
}

interface Props {
  readonly guard: GuardFieldsFragment;
  readonly modelIds: readonly string[];
  readonly isReadOnly: boolean;
  readonly isBusy: boolean;
  readonly error: ParleyError | undefined;
  readonly onSave: (input: GuardInput) => void;
}

const patternsMax = 20;
const lengthMaxDefault = '100';
const placesBeside = ['input.patterns', 'input.modelId'];

/** What a guard masks: of the organization, or of an agent. Give it another `key` for another state of the guard. */
export function GuardForm({ guard, modelIds, isReadOnly, isBusy, error, onSave }: Props) {
  const { t } = useText();
  const confirm = useConfirm();
  const [kinds, setKinds] = useState(guard.kinds);
  const [patterns, setPatterns] = useState(() => toPatterns(guard));
  const [putsBack, setPutsBack] = useState(guard.putsBack);
  const [modelId, setModelId] = useState(guard.modelId);
  const input: GuardInput = {
    kinds: [...kinds],
    patterns: patterns.map(({ name, pattern, lengthMax }) => ({ name, pattern, lengthMax: Number(lengthMax) })),
    putsBack,
    modelId,
  };
  const isDirty = JSON.stringify(input) !== JSON.stringify(toInput(guard));
  useLeaveGuard(
    isDirty,
    () => false,
    () =>
      confirm({
        title: t('Leave without saving?'),
        body: t('What you changed of the guard is not saved.'),
        action: t('Leave without saving'),
        isDanger: true,
      }),
  );
  const words = maskedWords(t);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        onSave(input);
      }}
    >
      <fieldset className={styles.kinds} disabled={isReadOnly}>
        <legend>{t('What is masked')}</legend>
        {guardKinds.map((kind) => (
          <Checkbox
            key={kind}
            label={words[kind]}
            checked={kinds.includes(kind)}
            onChange={({ target }) =>
              setKinds(guardKinds.filter((each) => (each === kind ? target.checked : kinds.includes(each))))
            }
          />
        ))}
      </fieldset>
      <PatternFields patterns={patterns} isReadOnly={isReadOnly} error={error} onChange={setPatterns} />
      <SelectField
        label={t('Model that finds names and addresses')}
        hint={t('It is asked when a run begins, and gets what people say as it is. The run is charged for it.')}
        error={findFault(error, 'input.modelId')}
        value={modelId ?? ''}
        disabled={isReadOnly}
        onChange={(value) => setModelId(value === '' ? null : value)}
        options={[
          { value: '', label: t('None') },
          ...[...new Set([...modelIds, ...(modelId === null ? [] : [modelId])])].map((id) => ({ value: id, label: id })),
        ]}
      />
      <Checkbox
        label={t('Put values back in answers and calls of tools')}
        hint={t('Models never get them. If this is off, nothing that leaves a run has them.')}
        checked={putsBack}
        disabled={isReadOnly}
        onChange={({ target }) => setPutsBack(target.checked)}
      />
      <ErrorNote error={errorBeside(error, placesBeside)} />
      {isReadOnly ? null : (
        <div>
          <Button type="submit" variant="primary" isBusy={isBusy} disabled={!isDirty}>
            {t('Save')}
          </Button>
        </div>
      )}
    </form>
  );
}

function PatternFields({
  patterns,
  isReadOnly,
  error,
  onChange,
}: {
  readonly patterns: readonly Pattern[];
  readonly isReadOnly: boolean;
  readonly error: ParleyError | undefined;
  readonly onChange: (patterns: readonly Pattern[]) => void;
}) {
  const { t } = useText();
  const add = () => {
    const id = Math.max(0, ...patterns.map((each) => each.id)) + 1;
    onChange([...patterns, { id, name: '', pattern: '', lengthMax: lengthMaxDefault }]);
  };
  return (
    <fieldset className={styles.patterns} disabled={isReadOnly}>
      <legend>{t('Own patterns')}</legend>
      {patterns.map((pattern, index) => {
        const place = `input.patterns.${index}`;
        const change = (members: Partial<Pattern>) =>
          onChange(patterns.map((each) => (each === pattern ? { ...each, ...members } : each)));
        const number = { number: index + 1 };
        return (
          <fieldset key={pattern.id} className={styles.pattern}>
            <legend className="visually-hidden">{t('Pattern {number}', number)}</legend>
            <TextField
              label={t('Name')}
              error={findFault(error, `${place}.name`)}
              value={pattern.name}
              placeholder="ORDER"
              onChange={(name) => change({ name })}
            />
            <TextField
              label={t('Regular expression (RE2)')}
              error={findFault(error, `${place}.pattern`)}
              value={pattern.pattern}
              spellCheck={false}
              placeholder="A-[0-9]{5}"
              onChange={(pattern) => change({ pattern })}
            />
            <TextField
              label={t('Longest value')}
              error={findFault(error, `${place}.lengthMax`)}
              type="number"
              min={1}
              max={1000}
              required
              value={pattern.lengthMax}
              onChange={(lengthMax) => change({ lengthMax })}
            />
            {isReadOnly ? null : (
              <IconButton
                label={t('Remove pattern {number}', number)}
                onClick={() => onChange(patterns.filter((each) => each !== pattern))}
              >
                <Trash2 size={16} aria-hidden />
              </IconButton>
            )}
          </fieldset>
        );
      })}
      {isReadOnly || patterns.length >= patternsMax ? null : (
        <div>
          <Button icon={<Plus size={16} aria-hidden />} onClick={add}>
            {t('Add a pattern')}
          </Button>
        </div>
      )}
      {isReadOnly && patterns.length === 0 ? <p className={styles.quiet}>{t('None')}</p> : null}
    </fieldset>
  );
}

function toPatterns({ patterns }: GuardFieldsFragment): readonly Pattern[] {
  return patterns.map(({ name, pattern, lengthMax }, id) => ({ id, name, pattern, lengthMax: String(lengthMax) }));
}

function toInput({ kinds, patterns, putsBack, modelId }: GuardFieldsFragment): GuardInput {
  return {
    kinds: [...kinds],
    patterns: patterns.map(({ name, pattern, lengthMax }) => ({ name, pattern, lengthMax })),
    putsBack,
    modelId,
  };
}
