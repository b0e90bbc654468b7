import { useState } from 'react';
import { useLocation } from 'wouter';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { SelectField, TextAreaField, TextField } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { CreateAgentDocument, ModelChoiceDocument } from './documents.ts';

const paths = ['input.name', 'input.description', 'input.instructions', 'input.modelId'];

/** The three things that an agent begins with; everything else is in the editor that opens then. */
export function NewAgent({ onClose }: { readonly onClose: () => void }) {
  const { t } = useText();
  const [, go] = useLocation();
  const { data } = usePage(ModelChoiceDocument, {});
  const create = useMutate(CreateAgentDocument);
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [instructions, setInstructions] = useState('');
  const [modelId, setModel] = useState('');
  const submit = async () => {
    const input = { name, description, instructions, ...(modelId === '' ? {} : { modelId }) };
    const agent = await create.run({ input });
    if (agent !== undefined) go(`/agents/${agent.createAgent.id}`, { replace: true });
  };
  return (
    <FormDialog
      title={t('New agent')}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Create')}
      isDirty={[name, description, instructions].some((text) => text !== '')}
      isBusy={create.isBusy}
    >
      <TextField
        label={t('Name')}
        error={findFault(create.error, 'input.name')}
        value={name}
        maxLength={200}
        autoFocus
        onChange={setName}
      />
      <TextField
        label={t('What it is for')}
        error={findFault(create.error, 'input.description')}
        hint={t('One sentence that colleagues read in the list.')}
        value={description}
        onChange={setDescription}
      />
      <TextAreaField
        label={t('Instructions')}
        error={findFault(create.error, 'input.instructions')}
        hint={t('Say who it is, whom it helps, how it answers, and what it must not do.')}
        rows={6}
        value={instructions}
        onChange={setInstructions}
      />
      <SelectField
        label={t('Model')}
        error={findFault(create.error, 'input.modelId')}
        value={modelId}
        onChange={setModel}
        options={[
          { value: '', label: t('The default model') },
          ...(data?.models ?? []).map(({ id }) => ({ value: id, label: id })),
        ]}
      />
      <ErrorNote error={errorBeside(create.error, paths)} />
    </FormDialog>
  );
}
