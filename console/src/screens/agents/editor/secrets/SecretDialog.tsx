import { run } from '../../../../graphql/client.ts';
import { useText } from '../../../../text/text.ts';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { TextAreaField, TextField } from '../../../../ui/form/fields.tsx';
import { DraftDialog } from '../parts/DraftDialog.tsx';
import { KindField } from '../parts/KindField.tsx';
import { usePartForm } from '../parts/use-part-form.ts';
import type { Parts } from '../parts/use-parts.ts';
import { splitLines } from '../parts/words.ts';
import { type AgentSecretsQuery, CreateSecretDocument, type SecretType, UpdateSecretDocument } from './documents.ts';
import type { Secret } from './words.ts';
import { secretTypeName } from './words.ts';

const types: readonly SecretType[] = ['API_KEY', 'BEARER_TOKEN', 'BASIC_AUTH', 'HEADER'];

interface Props {
  readonly agentId: string;
  readonly parts: Parts<AgentSecretsQuery, Secret>;
  /** Undefined: a new one. */
  readonly secret: Secret | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

const toValues = (secret: Secret | undefined) => ({
  key: secret?.key ?? '',
  secretType: secret?.secretType ?? 'API_KEY',
  description: secret?.description ?? '',
  // A value is never shown: when it was stored tells whether somebody else wrote one too.
  value: { typed: '', storedAt: secret?.updatedAt ?? '' },
  origins: secret?.origins.join('\n') ?? '',
});

function toInput({ secretType, description, value: { typed: value }, origins }: ReturnType<typeof toValues>) {
  const valueInput = value === '' ? {} : { value, ...(origins.trim() === '' ? {} : { origins: splitLines(origins) }) };
  return { secretType, description, ...valueInput };
}

/** A new secret, or another value for one. An empty value keeps the one that is stored. */
export function SecretDialog({ agentId, parts, secret, onClose, onSaved }: Props) {
  const { t } = useText();
  const form = usePartForm({
    agentId,
    seen: parts.see(secret),
    toValues,
    read: () => parts.read(secret?.id),
    send: (values, { item, revision }) =>
      item === undefined
        ? run(CreateSecretDocument, { agentId, input: { key: values.key, ...toInput(values) }, expectedDraft: revision })
        : run(UpdateSecretDocument, { id: item.id, input: toInput(values), expectedDraft: revision }),
    member: parts.member,
  });
  const { values, change, error } = form;
  const { key, secretType, description, value, origins } = values;
  const save = async () => {
    if (await form.save()) onSaved();
  };
  return (
    <DraftDialog
      form={form}
      labels={{
        key: t('Key'),
        secretType: t('Kind'),
        description: t('What it is for'),
        value: t('Value'),
        origins: t('Where it may be sent'),
      }}
      hidden={['value']}
      title={secret === undefined ? t('New secret') : t('Change {name}', { name: secret.key })}
      fieldPaths={['input.key', 'input.value', 'input.origins', 'input.description']}
      onClose={onClose}
      onSubmit={() => void save()}
    >
      {secret === undefined ? (
        <TextField
          label={t('Key')}
          error={findFault(error, 'input.key')}
          hint={t('Tools write it as {reference}.', { reference: `{{secret:${key === '' ? 'KEY' : key}}}` })}
          value={key}
          autoComplete="off"
          onChange={(key) => change({ key })}
        />
      ) : null}
      <KindField
        value={secretType}
        kinds={types}
        name={(type) => secretTypeName(t, type)}
        onChange={(type) => change({ secretType: type })}
      />
      <TextField
        label={t('Value')}
        error={findFault(error, 'input.value')}
        hint={secret?.hasValue === true ? t('Empty keeps the value that is stored.') : t('It is never shown again.')}
        type="password"
        autoComplete="off"
        value={value.typed}
        onChange={(typed) => change({ value: { ...value, typed } })}
      />
      <TextAreaField
        label={t('Where it may be sent')}
        error={findFault(error, 'input.origins')}
        hint={t('Origins such as https://api.example.com, one a line. Empty: those of the tools that name it.')}
        rows={2}
        value={origins}
        onChange={(origins) => change({ origins })}
      />
      <TextField
        label={t('What it is for')}
        error={findFault(error, 'input.description')}
        value={description}
        onChange={(description) => change({ description })}
      />
    </DraftDialog>
  );
}
