import { useState } from 'react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { Field, TextArea, TextInput } from '../../../../ui/form/field.tsx';
import { KindField } from '../parts/KindField.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import { splitLines } from '../parts/words.ts';
import { CreateSecretDocument, type SecretType, UpdateSecretDocument } from './documents.ts';
import type { Secret } from './words.ts';
import { secretTypeName } from './words.ts';

const types: readonly SecretType[] = ['API_KEY', 'BEARER_TOKEN', 'BASIC_AUTH', 'HEADER'];

interface Props {
  readonly agentId: string;
  /** Undefined: a new one. */
  readonly secret: Secret | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** A new secret, or another value for one. An empty value keeps the one that is stored. */
export function SecretDialog({ agentId, secret, onClose, onSaved }: Props) {
  const { t } = useText();
  const create = useMutate(CreateSecretDocument);
  const update = useMutate(UpdateSecretDocument);
  const [key, setKey] = useState('');
  const [secretType, setType] = useState<SecretType>(secret?.secretType ?? 'API_KEY');
  const [description, setDescription] = useState(secret?.description ?? '');
  const [value, setValue] = useState('');
  const [origins, setOrigins] = useState(secret?.origins.join('\n') ?? '');
  const error = create.error ?? update.error;
  const save = async () => {
    const valueInput = value === '' ? {} : { value, ...(origins.trim() === '' ? {} : { origins: splitLines(origins) }) };
    const result =
      secret === undefined
        ? await create.run({ agentId, input: { key, secretType, description, ...valueInput } })
        : await update.run({ id: secret.id, input: { secretType, description, ...valueInput } });
    if (result !== undefined) onSaved();
  };
  return (
    <PartDialog
      title={secret === undefined ? t('New secret') : t('Change {name}', { name: secret.key })}
      isDirty={key !== '' || value !== '' || description !== (secret?.description ?? '')}
      isBusy={create.isBusy || update.isBusy}
      error={errorBeside(error, ['input.key', 'input.value', 'input.origins', 'input.description'])}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Save')}
    >
      {secret === undefined ? (
        <Field
          label={t('Key')}
          error={findFault(error, 'input.key')}
          hint={t('Tools write it as {reference}.', { reference: `{{secret:${key === '' ? 'KEY' : key}}}` })}
        >
          {(control) => (
            <TextInput {...control} value={key} autoComplete="off" onChange={(event) => setKey(event.target.value)} />
          )}
        </Field>
      ) : null}
      <KindField value={secretType} kinds={types} name={(type) => secretTypeName(t, type)} onChange={setType} />
      <Field
        label={t('Value')}
        error={findFault(error, 'input.value')}
        hint={secret?.hasValue === true ? t('Empty keeps the value that is stored.') : t('It is never shown again.')}
      >
        {(control) => (
          <TextInput
            {...control}
            type="password"
            autoComplete="off"
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        )}
      </Field>
      <Field
        label={t('Where it may be sent')}
        error={findFault(error, 'input.origins')}
        hint={t('Origins such as https://api.example.com, one a line. Empty: those of the tools that name it.')}
      >
        {(control) => <TextArea {...control} rows={2} value={origins} onChange={(event) => setOrigins(event.target.value)} />}
      </Field>
      <Field label={t('What it is for')} error={findFault(error, 'input.description')}>
        {(control) => <TextInput {...control} value={description} onChange={(event) => setDescription(event.target.value)} />}
      </Field>
    </PartDialog>
  );
}
