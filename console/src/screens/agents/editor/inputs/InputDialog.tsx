import { run } from '../../../../graphql/client.ts';
import { useText } from '../../../../text/text.ts';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { Checkbox } from '../../../../ui/form/field.tsx';
import { SelectField, TextAreaField, TextField } from '../../../../ui/form/fields.tsx';
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
  const labels = useLabels();
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
      labels={labels}
      title={input === undefined ? t('New input') : t('Edit {name}', { name: input.label })}
      fieldPaths={['input.label', 'input.variableName', `${at}.options`]}
      onClose={onClose}
      onSubmit={() => void save()}
    >
      <TextField
        label={labels.label}
        error={findFault(error, 'input.label')}
        hint={t('What a person reads beside the field.')}
        value={values.label}
        onChange={(label) => change({ label })}
      />
      <TextField
        label={labels.variableName}
        error={findFault(error, 'input.variableName')}
        hint={t('Write {placeholder} where the answer is to stand.', {
          placeholder: `{{${values.variableName === '' ? 'name' : values.variableName}}}`,
        })}
        value={values.variableName}
        onChange={(variableName) => change({ variableName })}
      />
      <KindField
        value={values.type}
        kinds={inputTypes}
        name={(type) => inputTypeName(t, type)}
        onChange={(type) => change({ type, defaultValue: '', min: '', max: '' })}
      />
      {values.type === 'SELECT' ? (
        <TextAreaField
          label={labels.options}
          error={findFault(error, `${at}.options`)}
          hint={t('One a line')}
          value={values.options}
          onChange={(options) => change({ options })}
        />
      ) : null}
      <DefaultField values={values} onChange={change} />
      <Checkbox
        label={labels.isRequired}
        hint={t('A chat cannot begin without an answer.')}
        checked={values.isRequired}
        onChange={(event) => change({ isRequired: event.target.checked })}
      />
      <Checkbox
        label={labels.showOnChatCreate}
        checked={values.showOnChatCreate}
        onChange={(event) => change({ showOnChatCreate: event.target.checked })}
      />
    </DraftDialog>
  );
}

/** What the fields are called beside their controls. */
function useLabels(): Readonly<Record<keyof InputValues, string>> {
  const { t } = useText();
  return {
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
  };
}

function DefaultField({
  values,
  onChange,
}: {
  readonly values: InputValues;
  readonly onChange: (members: Partial<InputValues>) => void;
}) {
  const { t } = useText();
  const shared = {
    label: t('Answer when none is given'),
    value: values.defaultValue,
    onChange: (defaultValue: string) => onChange({ defaultValue }),
  };
  if (values.type === 'BOOLEAN') {
    return (
      <SelectField
        {...shared}
        options={[
          { value: '', label: t('None') },
          { value: 'true', label: t('Yes') },
          { value: 'false', label: t('No') },
        ]}
      />
    );
  }
  return (
    <TextField {...shared} type={values.type === 'DATE' ? 'date' : values.type === 'NUMBER' ? 'number' : 'text'} step="any" />
  );
}
