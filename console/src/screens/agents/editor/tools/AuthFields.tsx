import { useText } from '../../../../text/text.ts';
import { Checkbox, type FieldError } from '../../../../ui/form/field.tsx';
import { SelectField, TextField } from '../../../../ui/form/fields.tsx';
import styles from '../editor.module.css';
import { Fault } from '../parts/Fault.tsx';
import { secretTypeName } from '../secrets/words.ts';
import { authTypes, type ToolValues } from './values.ts';

interface Props {
  readonly values: ToolValues;
  readonly change: (members: Partial<ToolValues>) => void;
  readonly secrets: readonly { readonly key: string }[];
  readonly fault: FieldError;
}

const writeReference = (key: string) => `{{secret:${key}}}`;

/** The credential that a tool sends: a secret of the agent, or a new value that becomes one. */
export function AuthFields({ values, change, secrets, fault }: Props) {
  const { t } = useText();
  const { authType } = values;
  return (
    <fieldset className={styles.group}>
      <legend>{t('Credential')}</legend>
      <SelectField
        label={t('How it signs in')}
        value={authType}
        onChange={(authType) => change({ authType })}
        options={[
          { value: '', label: t('Without a credential') },
          ...authTypes.map((type) => ({ value: type, label: secretTypeName(t, type) })),
        ]}
      />
      {authType === '' ? null : <CredentialFields values={values} change={change} keys={secrets.map(({ key }) => key)} />}
      <Fault error={fault} />
    </fieldset>
  );
}

/** What the kind of credential needs. */
function CredentialFields({ values, change, keys }: Pick<Props, 'values' | 'change'> & { readonly keys: readonly string[] }) {
  const { t } = useText();
  const { authType, credentialReference } = values;
  const isUnknown = credentialReference !== '' && !keys.some((key) => writeReference(key) === credentialReference);
  return (
    <>
      {authType === 'HEADER' || authType === 'API_KEY' ? (
        <TextField
          label={t('Name of the header or parameter')}
          placeholder={authType === 'API_KEY' ? 'X-Api-Key' : undefined}
          value={values.authName}
          onChange={(authName) => change({ authName })}
        />
      ) : null}
      {authType === 'API_KEY' ? (
        <Checkbox
          label={t('Send it in the query')}
          checked={values.authInQuery}
          onChange={(event) => change({ authInQuery: event.target.checked })}
        />
      ) : null}
      {authType === 'BASIC_AUTH' ? (
        <TextField
          label={t('Name of the user')}
          autoComplete="off"
          value={values.username}
          onChange={(username) => change({ username })}
        />
      ) : null}
      <SelectField
        label={t('Secret')}
        hint={t('A new value is stored as a secret of this agent.')}
        value={credentialReference}
        onChange={(reference) => change({ credentialReference: reference })}
        options={[
          { value: '', label: t('A new value') },
          ...(isUnknown ? [{ value: credentialReference, label: credentialReference }] : []),
          ...keys.map((key) => ({ value: writeReference(key), label: key })),
        ]}
      />
      {credentialReference === '' ? (
        <TextField
          label={t('Value')}
          hint={t('It is never shown again.')}
          type="password"
          autoComplete="off"
          value={values.credential}
          onChange={(credential) => change({ credential })}
        />
      ) : null}
    </>
  );
}
