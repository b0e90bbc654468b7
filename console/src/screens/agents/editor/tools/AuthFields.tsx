import { useText } from '../../../../text/text.ts';
import { Checkbox, Field, type FieldError, Select, TextInput } from '../../../../ui/form/field.tsx';
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
      <Field label={t('How it signs in')}>
        {(control) => (
          <Select
            {...control}
            value={authType}
            onChange={(event) => change({ authType: authTypes.find((type) => type === event.target.value) ?? '' })}
          >
            <option value="">{t('Without a credential')}</option>
            {authTypes.map((type) => (
              <option key={type} value={type}>
                {secretTypeName(t, type)}
              </option>
            ))}
          </Select>
        )}
      </Field>
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
        <Field label={t('Name of the header or parameter')}>
          {(control) => (
            <TextInput
              {...control}
              placeholder={authType === 'API_KEY' ? 'X-Api-Key' : undefined}
              value={values.authName}
              onChange={(event) => change({ authName: event.target.value })}
            />
          )}
        </Field>
      ) : null}
      {authType === 'API_KEY' ? (
        <Checkbox
          label={t('Send it in the query')}
          checked={values.authInQuery}
          onChange={(event) => change({ authInQuery: event.target.checked })}
        />
      ) : null}
      {authType === 'BASIC_AUTH' ? (
        <Field label={t('Name of the user')}>
          {(control) => (
            <TextInput
              {...control}
              autoComplete="off"
              value={values.username}
              onChange={(event) => change({ username: event.target.value })}
            />
          )}
        </Field>
      ) : null}
      <Field label={t('Secret')} hint={t('A new value is stored as a secret of this agent.')}>
        {(control) => (
          <Select
            {...control}
            value={credentialReference}
            onChange={(event) => change({ credentialReference: event.target.value })}
          >
            <option value="">{t('A new value')}</option>
            {isUnknown ? <option value={credentialReference}>{credentialReference}</option> : null}
            {keys.map((key) => (
              <option key={key} value={writeReference(key)}>
                {key}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {credentialReference === '' ? (
        <Field label={t('Value')} hint={t('It is never shown again.')}>
          {(control) => (
            <TextInput
              {...control}
              type="password"
              autoComplete="off"
              value={values.credential}
              onChange={(event) => change({ credential: event.target.value })}
            />
          )}
        </Field>
      ) : null}
    </>
  );
}
