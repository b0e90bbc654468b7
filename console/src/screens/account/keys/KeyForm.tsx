import { useId, useState } from 'react';
import type { AccessLevel, Scope } from '../../../graphql/documents.ts';
import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Field, type FieldError, Select, TextInput } from '../../../ui/form/field.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
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
    <Dialog
      title={t('New key')}
      isOpen
      onClose={onClose}
      onSubmit={() => void submit()}
      actions={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button type="submit" variant="primary" isBusy={isBusy} disabled={name.trim() === '' || scopes.length === 0}>
            {t('Make the key')}
          </Button>
        </>
      }
    >
      <Field label={t('Name')} hint={t('What it is for, such as the program that uses it.')} error={findFault(error, 'name')}>
        {(control) => <TextInput {...control} maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <PresetChoice presets={presets} value={presetId} onChange={setPresetId} />
      {presetId === 'own' ? <ScopeBoxes allowed={viewer.scopes} chosen={own} onChange={setOwn} /> : null}
      <Field label={t('Ends')} error={findFault(error, 'expiresAt')}>
        {(control) => (
          <Select {...control} value={days} onChange={(event) => setDays(event.target.value)}>
            <option value="7">{t('In 7 days')}</option>
            <option value="30">{t('In 30 days')}</option>
            <option value="90">{t('In 90 days')}</option>
            <option value="365">{t('In a year')}</option>
            <option value="">{t('Never')}</option>
          </Select>
        )}
      </Field>
      {isOperator && presetId !== 'scim' ? (
        <ReachField value={level} fault={findFault(error, 'level')} onChange={setLevel} />
      ) : null}
      <ErrorNote error={errorBeside(error, ['name', 'expiresAt', 'level'])} />
    </Dialog>
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
    <Field label={t('Reach')} hint={t('Programs that work in one organization need no more than it.')} error={fault}>
      {(control) => (
        <Select
          {...control}
          value={value}
          onChange={(event) => onChange(levels.find((each) => each === event.target.value) ?? 'ORGANIZATION')}
        >
          {levels.map((each) => (
            <option key={each} value={each}>
              {levelWords[each]}
            </option>
          ))}
        </Select>
      )}
    </Field>
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
