import { useState } from 'react';
import { useLocation } from 'wouter';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Field, Select, TextArea, TextInput } from '../../../ui/form/field.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
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
    <Dialog
      title={t('New agent')}
      isOpen
      onClose={onClose}
      onSubmit={() => void submit()}
      actions={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button type="submit" variant="primary" isBusy={create.isBusy}>
            {t('Create')}
          </Button>
        </>
      }
    >
      <Field label={t('Name')} error={findFault(create.error, 'input.name')}>
        {(control) => (
          <TextInput {...control} value={name} maxLength={200} autoFocus onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
      <Field
        label={t('What it is for')}
        error={findFault(create.error, 'input.description')}
        hint={t('One sentence that colleagues read in the list.')}
      >
        {(control) => <TextInput {...control} value={description} onChange={(event) => setDescription(event.target.value)} />}
      </Field>
      <Field
        label={t('Instructions')}
        error={findFault(create.error, 'input.instructions')}
        hint={t('Say who it is, whom it helps, how it answers, and what it must not do.')}
      >
        {(control) => (
          <TextArea {...control} rows={6} value={instructions} onChange={(event) => setInstructions(event.target.value)} />
        )}
      </Field>
      <Field label={t('Model')} error={findFault(create.error, 'input.modelId')}>
        {(control) => (
          <Select {...control} value={modelId} onChange={(event) => setModel(event.target.value)}>
            <option value="">{t('The default model')}</option>
            {data?.models.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <ErrorNote error={errorBeside(create.error, paths)} />
    </Dialog>
  );
}
