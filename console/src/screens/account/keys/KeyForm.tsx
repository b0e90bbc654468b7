import { useId, useState } from 'react';
import type { AccessLevel, Scope } from '../../../graphql/documents.ts';
import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import type { FieldError } from '../../../ui/form/field.tsx';
import { SelectField, TextField } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { CreateKeyDocument, type CreateKeyMutation } from './documents.ts';
import { listPresets, type Preset, scopeGroups } from './scopes.ts';

const dayMs = 86_400_000;
const levels: readonly AccessLevel[] = ['ORGANIZATION', 'TENANT', 'INSTANCE'];

/** Makes a key: its name, what it may do, and how long. */
export function KeyForm({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (key: CreateKeyMutation['createApiKey']) => void;
}) {
  const { t } = useText();
  const { viewer, isOperator } = useSession();
  const presets = listPresets(t, viewer.scopes, viewer.role);
  const [name, setName] = useState('');
  const [presetId, setPresetId] = useState<Preset['id']>(presets[0]?.id ?? 'own');
  const [own, setOwn] = useState<readonly Scope[]>(presets[0]?.scopes ?? []);
  const [days, setDays] = useState('90');
  const [level, setLevel] = useState<AccessLevel>('ORGANIZATION');
  const { run, isBusy, error } = useMutate(CreateKeyDocument);
  const scopes = presets.find(({ id }) => id === presetId)?.scopes ?? own;
  const submit = async () => {
    const expiresAt = days === '' ? null : new Date(Date.now() + Number(days) * dayMs).toISOString();
    const result = await run({ input: { name: name.trim(), scopes: [...scopes], expiresAt, level } });
    if (result !== undefined) onMade(result.createApiKey);
  };
  return (
    <FormDialog
      title={t('New key')}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Make the key')}
      isBusy={isBusy}
      isBlocked={name.trim() === '' || scopes.length === 0}
    >
      <TextField
        label={t('Name')}
        hint={t('What it is for, such as the program that uses it.')}
        error={findFault(error, 'name')}
        maxLength={200}
        value={name}
        onChange={setName}
      />
      <PresetChoice presets={presets} value={presetId} onChange={setPresetId} />
      {presetId === 'own' ? <ScopeBoxes allowed={viewer.scopes} chosen={own} onChange={setOwn} /> : null}
      <SelectField
        label={t('Ends')}
        error={findFault(error, 'expiresAt')}
        value={days}
        onChange={setDays}
        options={[
          { value: '7', label: t('In 7 days') },
          { value: '30', label: t('In 30 days') },
          { value: '90', label: t('In 90 days') },
          { value: '365', label: t('In a year') },
          { value: '', label: t('Never') },
        ]}
      />
      {isOperator && presetId !== 'scim' ? (
        <ReachField value={level} fault={findFault(error, 'level')} onChange={setLevel} />
      ) : null}
      <ErrorNote error={errorBeside(error, ['name', 'expiresAt', 'level'])} />
    </FormDialog>
  );
}

function ReachField({
  value,
  fault,
  onChange,
}: {
  readonly value: AccessLevel;
  readonly fault: FieldError;
  readonly onChange: (level: AccessLevel) => void;
}) {
  const { t } = useText();
  const levelWords = {
    ORGANIZATION: t('This organization'),
    TENANT: t('All organizations of the tenant'),
    INSTANCE: t('The whole installation'),
  };
  return (
    <SelectField
      label={t('Reach')}
      hint={t('Programs that work in one organization need no more than it.')}
      error={fault}
      value={value}
      onChange={onChange}
      options={levels.map((each) => ({ value: each, label: levelWords[each] }))}
    />
  );
}

function PresetChoice({
  presets,
  value,
  onChange,
}: {
  readonly presets: readonly Preset[];
  readonly value: Preset['id'];
  readonly onChange: (id: Preset['id']) => void;
}) {
  const { t } = useText();
  const name = useId();
  return (
    <fieldset className={styles.options}>
      <legend>{t('What may it do?')}</legend>
      <div className={styles.cards}>
        {presets.map(({ id, title, hint }) => (
          <label key={id} className={styles.option}>
            <input type="radio" name={name} checked={id === value} onChange={() => onChange(id)} />
            <span>
              {title}
              <span className={styles.quiet}>{hint}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function ScopeBoxes({
  allowed,
  chosen,
  onChange,
}: {
  readonly allowed: readonly Scope[];
  readonly chosen: readonly Scope[];
  readonly onChange: (scopes: readonly Scope[]) => void;
}) {
  const { t } = useText();
  const groups = scopeGroups(t).filter(({ read, write }) => allowed.includes(read) || allowed.includes(write));
  const box = (scope: Scope, label: string) =>
    allowed.includes(scope) ? (
      <input
        type="checkbox"
        aria-label={label}
        checked={chosen.includes(scope)}
        onChange={(event) => onChange(event.target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))}
      />
    ) : null;
  return (
    <table className={styles.scopes}>
      <thead>
        <tr>
          <th scope="col">{t('What')}</th>
          <th scope="col">{t('Read')}</th>
          <th scope="col">{t('Change')}</th>
        </tr>
      </thead>
      <tbody>
        {groups.map(({ title, read, write, hint }) => (
          <tr key={read}>
            <th scope="row">
              {title}
              <div className={styles.quiet}>{hint}</div>
            </th>
            <td>{box(read, t('Read: {title}', { title }))}</td>
            <td>{box(write, t('Change: {title}', { title }))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
