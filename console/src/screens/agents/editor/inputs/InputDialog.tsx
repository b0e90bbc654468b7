import { useState } from 'react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { Checkbox, Field, Select, TextArea, TextInput } from '../../../../ui/form/field.tsx';
import { KindField } from '../parts/KindField.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import { CreateInputDocument, UpdateInputDocument } from './documents.ts';
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
  /** Undefined: a new one. */
  readonly input: AgentInput | undefined;
  /** Of a new one: behind all others. */
  readonly orderIndex: number;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function InputDialog({ agentId, input, orderIndex, onClose, onSaved }: Props) {
  const { t } = useText();
  const create = useMutate(CreateInputDocument);
  const update = useMutate(UpdateInputDocument);
  const [values, setValues] = useState(() => readValues(input));
  const error = create.error ?? update.error;
  const change = (members: Partial<InputValues>) => setValues({ ...values, ...members });
  const at = settingsMember(values.type);
  const save = async () => {
    const { label, variableName, showOnChatCreate } = values;
    const request = { label, variableName, showOnChatCreate, settings: toSettingsInput(values) };
    const result =
      input === undefined
        ? await create.run({ agentId, input: { ...request, orderIndex } })
        : await update.run({ id: input.id, input: request });
    if (result !== undefined) onSaved();
  };
  return (
    <PartDialog
      title={input === undefined ? t('New input') : t('Edit {name}', { name: input.label })}
      isDirty={JSON.stringify(values) !== JSON.stringify(readValues(input))}
      isBusy={create.isBusy || update.isBusy}
      error={errorBeside(error, ['input.label', 'input.variableName', `${at}.options`])}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Save')}
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
    </PartDialog>
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
