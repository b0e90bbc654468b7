import { run } from '../../../../graphql/client.ts';
import { useText } from '../../../../text/text.ts';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { Checkbox, Field, Select, TextArea, TextInput } from '../../../../ui/form/field.tsx';
import { DraftDialog } from '../parts/DraftDialog.tsx';
import { KindField } from '../parts/KindField.tsx';
import { usePartForm } from '../parts/use-part-form.ts';
import type { Parts } from '../parts/use-parts.ts';
import { type AgentInputsQuery, CreateInputDocument, UpdateInputDocument } from './documents.ts';
import {
  type AgentInput,
  type InputValues,
  inputTypeName,
  inputTypes,
  readValues,
  settingsMember,
  toSettingsInput,
} from './values.ts';

interface Props {
  readonly agentId: string;
  readonly parts: Parts<AgentInputsQuery, AgentInput>;
  /** Undefined: a new one. */
  readonly input: AgentInput | undefined;
  /** Of a new one: behind all others. */
  readonly orderIndex: number;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function InputDialog({ agentId, parts, input, orderIndex, onClose, onSaved }: Props) {
  const { t } = useText();
  const form = usePartForm({
    agentId,
    seen: parts.see(input),
    toValues: readValues,
    read: () => parts.read(input?.id),
    send: (values, { item, revision }) => {
      const { label, variableName, showOnChatCreate } = values;
      const request = { label, variableName, showOnChatCreate, settings: toSettingsInput(values) };
      return item === undefined
        ? run(CreateInputDocument, { agentId, input: { ...request, orderIndex }, expectedDraft: revision })
        : run(UpdateInputDocument, { id: item.id, input: request, expectedDraft: revision });
    },
    member: parts.member,
  });
  const { values, change, error } = form;
  const at = settingsMember(values.type);
  const save = async () => {
    if (await form.save()) onSaved();
  };
  return (
    <DraftDialog
      form={form}
      labels={{
        type: t('Kind'),
        label: t('Question'),
        variableName: t('Name in the instructions'),
        showOnChatCreate: t('Ask when a chat begins'),
        isRequired: t('Required'),
        placeholder: t('Example in the field'),
        defaultValue: t('Answer when none is given'),
        options: t('Options'),
        min: t('Least'),
        max: t('Most'),
      }}
      title={input === undefined ? t('New input') : t('Edit {name}', { name: input.label })}
      fieldPaths={['input.label', 'input.variableName', `${at}.options`]}
      onClose={onClose}
      onSubmit={() => void save()}
    >
      <Field label={t('Question')} error={findFault(error, 'input.label')} hint={t('What a person reads beside the field.')}>
        {(control) => <TextInput {...control} value={values.label} onChange={(event) => change({ label: event.target.value })} />}
      </Field>
      <Field
        label={t('Name in the instructions')}
        error={findFault(error, 'input.variableName')}
        hint={t('Write {placeholder} where the answer is to stand.', {
          placeholder: `{{${values.variableName === '' ? 'name' : values.variableName}}}`,
        })}
      >
        {(control) => (
          <TextInput
            {...control}
            value={values.variableName}
            onChange={(event) => change({ variableName: event.target.value })}
          />
        )}
      </Field>
      <KindField
        value={values.type}
        kinds={inputTypes}
        name={(type) => inputTypeName(t, type)}
        onChange={(type) => change({ type, defaultValue: '', min: '', max: '' })}
      />
      {values.type === 'SELECT' ? (
        <Field label={t('Options')} error={findFault(error, `${at}.options`)} hint={t('One a line')}>
          {(control) => (
            <TextArea {...control} value={values.options} onChange={(event) => change({ options: event.target.value })} />
          )}
        </Field>
      ) : null}
      <DefaultField values={values} onChange={change} />
      <Checkbox
        label={t('Required')}
        hint={t('A chat cannot begin without an answer.')}
        checked={values.isRequired}
        onChange={(event) => change({ isRequired: event.target.checked })}
      />
      <Checkbox
        label={t('Ask when a chat begins')}
        checked={values.showOnChatCreate}
        onChange={(event) => change({ showOnChatCreate: event.target.checked })}
      />
    </DraftDialog>
  );
}

function DefaultField({
  values,
  onChange,
}: {
  readonly values: InputValues;
  readonly onChange: (members: Partial<InputValues>) => void;
}) {
  const { t } = useText();
  const control = { value: values.defaultValue };
  const set = (defaultValue: string) => onChange({ defaultValue });
  return (
    <Field label={t('Answer when none is given')}>
      {(handle) =>
        values.type === 'BOOLEAN' ? (
          <Select {...handle} {...control} onChange={(event) => set(event.target.value)}>
            <option value="">{t('None')}</option>
            <option value="true">{t('Yes')}</option>
            <option value="false">{t('No')}</option>
          </Select>
        ) : (
          <TextInput
            {...handle}
            {...control}
            type={values.type === 'DATE' ? 'date' : values.type === 'NUMBER' ? 'number' : 'text'}
            step="any"
            onChange={(event) => set(event.target.value)}
          />
        )
      }
    </Field>
  );
}
